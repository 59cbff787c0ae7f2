"""What every backend scrapes: two GPUs of two pods, a counter, the time, and a metric that ends."""

import time

from tests.cluster.prometheus import Target
from tests.cluster.textserver import TextServer

LABELS = 'UUID="GPU-{n}",exported_namespace="ml",exported_pod="llm-{n}",node="gpu-a"'
GPUS = "\n".join(
    f"{series}{{{LABELS.format(n=n)}}} {value}"
    for n, values in enumerate([(10.5, 1000), (30.5, 3000)])
    for series, value in zip(("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"), values, strict=True)
)
ENDING = 'ending_metric{UUID="GPU-9",exported_namespace="ml",exported_pod="ended"} 5\n'
RATE = 10.0
"""By how much the counter grows in a second."""


def clock() -> str:
    """Print the time, and a counter that follows it."""
    now = time.time()
    return f"the_time {now:.3f}\nsteps_total {now * RATE:.3f}\n"


def publish(pages: TextServer) -> list[Target]:
    """Print all pages, and give what to scrape."""
    pages.publish("/gpus", GPUS + "\n")
    pages.publish("/clock", clock)
    pages.publish("/ending", ENDING)
    paths = ("/gpus", "/clock", "/ending")
    return [Target(address=pages.address, path=path, labels={"page": path}) for path in paths]
