"""The second part's cluster: control plane, kubelet, GPUs, Prometheus and the adapter, registered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from demo.monitoring import monitored
from demo.screen import Say
from tests.cluster.adapter import BASE, AdapterProcess, adapter_kubeconfig, grant, register
from tests.cluster.binaries import ControlPlaneBinaries
from tests.cluster.exporter import Load
from tests.cluster.fleet import uniform_fleet
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.prometheus import PrometheusServer

NODES = {"gpu-node-1": 2, "gpu-node-2": 2}
FLAGS = ("--freshness=1s", "--metrics-relist-interval=5s", "--shutdown-delay=0s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The programs that are not ours."""

    control_plane: ControlPlaneBinaries
    prometheus: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What runs now."""

    plane: ControlPlane
    prometheus: PrometheusServer
    adapter: AdapterProcess


@asynccontextmanager
async def cluster(
    *, programs: Programs, folder: Path, load: Load, say: Say
) -> AsyncIterator[Cluster]:
    """Everything up and the metrics API Available; stopped in reverse whatever happens."""
    say("starting etcd, kube-apiserver and kube-controller-manager")
    fleet = uniform_fleet(NODES)
    async with (
        ControlPlane(binaries=programs.control_plane, folder=folder) as plane,
        Kubelet(http=plane.http, nodes=NODES) as kubelet,
        monitored(
            fleet=fleet,
            load=load,
            program=programs.prometheus,
            folder=folder / "prometheus",
            live=kubelet.bindings,
        ) as prometheus,
    ):
        say("starting the adapter with the rules of manifests/base")
        await grant(plane)
        async with _adapter(plane, prometheus, folder / "adapter") as adapter:
            say("registering both APIServices, waiting until they are Available")
            await register(plane, adapter)
            yield Cluster(plane=plane, prometheus=prometheus, adapter=adapter)


def _adapter(plane: ControlPlane, prometheus: PrometheusServer, folder: Path) -> AdapterProcess:
    return AdapterProcess(
        folder=folder,
        kubeconfig=adapter_kubeconfig(plane),
        prometheus_url=prometheus.url,
        config=BASE / "config.yaml",
        flags=FLAGS,
    )
