"""What is measured: one adapter with 36 busy pods, a real control plane and a real Prometheus."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.load import Replayed
from demo.monitoring import monitored
from tests.cluster.adapter import BASE, AdapterProcess, adapter_kubeconfig, grant
from tests.cluster.binaries import ControlPlaneBinaries
from tests.cluster.fleet import uniform_fleet
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.prometheus import PrometheusServer

PODS = 36
NODES = {f"gpu-node-{number}": 8 for number in range(1, 6)}
NAMESPACE = "bench"
USE = f'DCGM_FI_DEV_GPU_UTIL{{exported_namespace="{NAMESPACE}"}}'
MEASURED_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """What runs now; the control plane keeps the front proxy's credentials."""

    plane: ControlPlane
    adapter: AdapterProcess


@asynccontextmanager
async def stack(
    *, binaries: ControlPlaneBinaries, prometheus: Path, folder: Path
) -> AsyncIterator[Stack]:
    """Everything up, each pod measured; stopped in reverse whatever happens."""
    load = Replayed(phase_of=lambda _: "matmul", clock=lambda: 0.0)
    async with (
        ControlPlane(binaries=binaries, folder=folder) as plane,
        Kubelet(http=plane.http, nodes=NODES) as kubelet,
        monitored(
            fleet=uniform_fleet(NODES),
            load=load,
            program=prometheus,
            folder=folder / "prometheus",
            live=kubelet.bindings,
        ) as scraping,
    ):
        await grant(plane)
        await plane.apply(_namespace(), _deployment())
        await scraping.wait_for(f"count({USE}) == {PODS}", seconds=MEASURED_SECONDS)
        async with _adapter(plane, scraping, folder / "adapter") as adapter:
            yield Stack(plane=plane, adapter=adapter)


def _adapter(plane: ControlPlane, prometheus: PrometheusServer, folder: Path) -> AdapterProcess:
    return AdapterProcess(
        folder=folder,
        kubeconfig=adapter_kubeconfig(plane),
        prometheus_url=prometheus.url,
        config=BASE / "config.yaml",
        flags=("--shutdown-delay=0s",),
    )


def _namespace() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}


def _deployment() -> dict[str, Any]:
    labels = {"app": "bench"}
    container = {
        "name": "main",
        "image": "main:1",
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "bench", "namespace": NAMESPACE},
        "spec": {"replicas": PODS, "selector": {"matchLabels": labels}, "template": template},
    }
