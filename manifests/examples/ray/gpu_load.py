"""Keep the GPUs of a Ray cluster busy for a while, one call to a GPU.

Run it inside the cluster: python gpu_load.py [--calls 10] [--seconds 300]
"""

import argparse
import time

import ray
import torch

SIDE = 1100
BATCH = 100


@ray.remote(num_gpus=1, num_cpus=0)
def occupy_gpu(seconds: float) -> str:
    """Multiply a matrix by itself on the GPU for so many seconds, and tell where and how often."""
    matrix = torch.rand(SIDE, SIDE, device="cuda")
    products = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(BATCH):
            torch.mm(matrix, matrix)
        # Products are only queued above: without waiting, the queue would outlive the clock.
        torch.cuda.synchronize()
        products += BATCH
    return f"{products} products on {ray.util.get_node_ip_address()}"


def main() -> None:
    """Submit all calls, then print each answer as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10, help="calls in all (%(default)s)")
    parser.add_argument("--seconds", type=float, default=300, help="length of one (%(default)s)")
    options = parser.parse_args()

    ray.init(address="auto")
    waiting = [occupy_gpu.remote(options.seconds) for _ in range(options.calls)]
    print(f"{len(waiting)} calls submitted", flush=True)
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1)
        print(f"{ray.get(done[0])}, {len(waiting)} calls left", flush=True)


if __name__ == "__main__":
    main()
