"""The first part: the adapter and Prometheus alone, read as kube-apiserver would.

There is no cluster, so it needs no Go and no etcd: the adapter answers by what Prometheus has.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from certs.authority import Authority
from demo.load import Replayed
from demo.monitoring import monitored
from demo.rows import Row
from demo.screen import Screen
from tests.cluster.adapter import AdapterProcess
from tests.cluster.errors import HarnessError
from tests.cluster.fleet import Binding, Fleet, Slot, uniform_fleet
from tests.cluster.pki import FRONT_PROXY, Credentials, kubeconfig, write_private
from tests.cluster.ports import free_port

ROOT = "/apis/custom.metrics.k8s.io/v1beta2"
USER = {"X-Remote-User": "demo", "X-Remote-Group": "system:masters"}
WORKLOADS = {
    Slot(node="gpu-node-1", index=0): ("rayexperiment", "ray-worker-a", "matmul"),
    Slot(node="gpu-node-1", index=1): ("rayexperiment", "ray-worker-b", "light"),
    Slot(node="gpu-node-2", index=0): ("training", "resnet-0", "bursts"),
}
PATHS = (
    "namespaces/rayexperiment/pods/ray-worker-a/DEV_GPU_UTIL_current",
    "namespaces/rayexperiment/pods/ray-worker-b/DEV_GPU_UTIL_current",
    "namespaces/rayexperiment/pods/ray-worker-a/DEV_GPU_UTIL_over_time",
    "namespaces/training/pods/resnet-0/DEV_FB_USED_current",
    "nodes/gpu-node-1/DEV_POWER_USAGE_current",
    "nodes/gpu-node-2/DEV_GPU_TEMP_current",
    "namespaces/rayexperiment/metrics/DEV_GPU_UTIL_current",
)
HEAD = ("object", "metric", "value", "at (UTC)")
FIRST_VALUE_SECONDS = 40
POLL_SECONDS = 0.2


async def show_values(program: Path, folder: Path, screen: Screen) -> None:
    """Start everything, print a table of values, stop everything.

    Raises HarnessError with the server's last words when no value comes.
    """
    load = Replayed(phase_of=_phase_of, clock=time.monotonic)
    async with (
        monitored(fleet=_fleet(), load=load, program=program, folder=folder) as prometheus,
        _adapter(folder, prometheus.url) as http,
    ):
        answers = [await _first(http, path) for path in PATHS]
    screen.grid(HEAD, [_row(item) for answer in answers for item in answer["items"]])
    screen.lines(f"The first was GET {ROOT}/{PATHS[0]}")


def _fleet() -> Fleet:
    bindings = {
        slot: Binding(namespace=namespace, pod=pod, container="main")
        for slot, (namespace, pod, _) in WORKLOADS.items()
    }
    bare = uniform_fleet({"gpu-node-1": 2, "gpu-node-2": 2})
    return Fleet(gpus=bare.gpus, bindings=bindings)


def _phase_of(workload: Binding) -> str:
    phases = {pod: phase for _, pod, phase in WORKLOADS.values()}
    return phases[workload.pod]


@asynccontextmanager
async def _adapter(folder: Path, prometheus_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """The adapter, and a client with the certificate of the front proxy that it trusts."""
    front_proxy = Authority.create("front-proxy-ca")
    ca_file, _ = front_proxy.write(folder, "front-proxy-ca")
    shown = front_proxy.issue_client(FRONT_PROXY)
    certificate, key = shown.write(folder, FRONT_PROXY)
    nowhere = f"https://127.0.0.1:{free_port()}"
    no_cluster = kubeconfig(server=nowhere, authority=front_proxy, pair=shown)
    adapter = AdapterProcess(
        folder=folder / "adapter",
        kubeconfig=write_private(folder / "no-cluster.kubeconfig", no_cluster),
        prometheus_url=prometheus_url,
        ready_path="/livez",
        flags=(
            "--authentication-skip-lookup",
            f"--requestheader-client-ca-file={ca_file}",
            "--freshness=1s",
            # The first look finds nothing, as Prometheus has only just begun to scrape.
            "--metrics-relist-interval=1s",
            "--shutdown-delay=0s",
        ),
    )
    async with adapter, adapter.client(Credentials(certificate=certificate, key=key)) as http:
        yield http


async def _first(http: httpx.AsyncClient, path: str) -> Mapping[str, Any]:
    """The first answer with a value: Prometheus has to scrape, and the adapter to discover."""
    end = time.monotonic() + FIRST_VALUE_SECONDS
    while True:
        answer = await http.get(f"{ROOT}/{path}", headers=USER)
        if answer.is_success:
            found: Mapping[str, Any] = answer.json()
            return found
        if time.monotonic() > end:
            raise HarnessError(f"{path}: {answer.status_code} {answer.text.strip()}")
        await asyncio.sleep(POLL_SECONDS)


def _row(item: Mapping[str, Any]) -> Row:
    described, metric = item["describedObject"], item["metric"]["name"]
    within = f"{described['namespace']}/" if described.get("namespace") else ""
    name = f"{described['kind']} {within}{described['name']}"
    return (name, metric, item["value"], item["timestamp"][11:19])
