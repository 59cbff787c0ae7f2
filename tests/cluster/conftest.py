"""The control plane and its companions, one set for all tests of this folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cluster.adapter import (
    AdapterProcess,
    adapter_kubeconfig,
    grant,
    register,
    unregister,
)
from tests.cluster.binaries import (
    ControlPlaneBinaries,
    ready_control_plane,
    ready_prometheus_program,
)
from tests.cluster.errors import MissingToolError
from tests.cluster.exporter import Exporter
from tests.cluster.fleet import uniform_fleet
from tests.cluster.kubelet import Kubelet
from tests.cluster.place import Place
from tests.cluster.plane import ControlPlane
from tests.cluster.prometheus import PrometheusServer
from tests.cluster.textserver import TextServer

HERE = Path(__file__).parent
TIMEOUT_SECONDS = 180
RULES = HERE / "rules.yaml"
ADAPTER_FLAGS = (
    "--metrics-relist-interval=2s",
    "--metrics-max-age=1m",
    "--freshness=1s",
    "--max-staleness=8s",
    "--shutdown-delay=0s",
)
NODES = {"gpu-node-1": 4, "gpu-node-2": 4}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs real programs, and more time than a unit test may take."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.cluster)
            item.add_marker(pytest.mark.timeout(TIMEOUT_SECONDS))


@pytest.fixture(scope="session")
def binaries() -> ControlPlaneBinaries:
    """The control plane's programs; nothing is built here, as nobody would see the progress."""
    try:
        return ready_control_plane(Place.here())
    except MissingToolError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def prometheus_program() -> Path:
    try:
        return ready_prometheus_program(Place.here())
    except MissingToolError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
async def plane(
    anyio_backend: str, binaries: ControlPlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ControlPlane]:
    """A control plane without nodes; `kubelet` brings them."""
    folder = tmp_path_factory.mktemp("plane")
    async with ControlPlane(binaries=binaries, folder=folder) as running:
        yield running


@pytest.fixture(scope="session")
async def kubelet(anyio_backend: str, plane: ControlPlane) -> AsyncIterator[Kubelet]:
    """Two nodes with four GPUs each, on which pods run."""
    async with Kubelet(http=plane.http, nodes=NODES) as running:
        yield running


@pytest.fixture(scope="session")
async def text_server(anyio_backend: str) -> AsyncIterator[TextServer]:
    """Pages for Prometheus to scrape."""
    async with TextServer() as running:
        yield running


@pytest.fixture(scope="session")
async def exporter(kubelet: Kubelet, text_server: TextServer) -> Exporter:
    """The GPUs of the kubelet's nodes, allocated to its pods; all idle until a test sets them."""
    fleet = uniform_fleet(NODES)
    return Exporter(server=text_server, fleet=fleet, live=kubelet.bindings)


@pytest.fixture(scope="session")
async def prometheus(
    prometheus_program: Path, exporter: Exporter, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[PrometheusServer]:
    """A Prometheus that scrapes the exporter every second."""
    folder = tmp_path_factory.mktemp("prometheus")
    targets = exporter.targets()
    async with PrometheusServer(
        program=prometheus_program, folder=folder, targets=targets
    ) as running:
        yield running


@pytest.fixture(scope="session")
async def adapter(
    plane: ControlPlane, prometheus: PrometheusServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[AdapterProcess]:
    """The adapter with the rules of rules.yaml, registered; kube-apiserver forwards to it."""
    await grant(plane)
    running = AdapterProcess(
        folder=tmp_path_factory.mktemp("adapter"),
        kubeconfig=adapter_kubeconfig(plane),
        prometheus_url=prometheus.url,
        config=RULES,
        flags=ADAPTER_FLAGS,
    )
    async with running:
        await register(plane, running)
        yield running
        await unregister(plane)
