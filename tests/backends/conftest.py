"""Every backend once, running together, for all tests of this folder."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from adapter.sources.prometheus import Prometheus
from tests.backends import backends as all_backends
from tests.backends.adapters import USER, WORD
from tests.backends.backends import Backend, CutOffServer
from tests.backends.pages import publish
from tests.cluster.binaries import ready_prometheus_program
from tests.cluster.errors import MissingToolError
from tests.cluster.place import Place
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.textserver import TextServer
from tests.fakes.cluster_state import pod
from tests.fakes.kubernetes import FakeKubernetes

HERE = Path(__file__).parent
NAMES = all_backends.names(os.environ)
TIMEOUT_SECONDS = 120
SEEN_SECONDS = 60


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs real programs."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.cluster)
            item.add_marker(pytest.mark.timeout(TIMEOUT_SECONDS))


@pytest.fixture(scope="session")
async def pages(anyio_backend: str) -> AsyncIterator[TextServer]:
    """What is scraped."""
    async with TextServer() as running:
        yield running


@pytest.fixture(scope="session")
async def targets(pages: TextServer) -> list[Target]:
    """Where it is scraped."""
    return publish(pages)


@pytest.fixture(scope="session")
async def running(
    pages: TextServer, targets: list[Target], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[dict[str, Backend]]:
    """All backends, with every series seen, and the one that ends ended."""
    folder = tmp_path_factory.mktemp("backends")
    try:
        servers = {name: all_backends.server(name, folder / name, targets) for name in NAMES}
    except MissingToolError as error:
        pytest.fail(str(error), pytrace=False)
    async with AsyncExitStack() as stack:
        for server in servers.values():
            await stack.enter_async_context(server)
        found = {name: all_backends.backend(name, server) for name, server in servers.items()}
        await asyncio.gather(*(_seen(one, len(targets)) for one in found.values()))
        pages.withdraw("/ending")
        await asyncio.gather(*(_ended(one) for one in found.values()))
        yield found


@pytest.fixture(params=NAMES)
def backend(running: dict[str, Backend], request: pytest.FixtureRequest) -> Backend:
    """Each of them in turn."""
    return running[request.param]


@pytest.fixture
async def client(backend: Backend) -> AsyncIterator[Prometheus]:
    """The adapter's client of it."""
    asking = backend.ask()
    yield asking
    await asking.aclose()


@pytest.fixture(scope="session")
async def cut_off(
    targets: list[Target], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[PrometheusServer]:
    """Debian's Prometheus, whose answers are partial."""
    try:
        program = ready_prometheus_program(Place.here())
    except MissingToolError as error:
        pytest.fail(str(error), pytrace=False)
    folder = tmp_path_factory.mktemp("cut-off")
    async with CutOffServer(program=program, folder=folder, targets=targets[:1]) as server:
        yield server


@pytest.fixture(scope="session")
async def kubernetes(anyio_backend: str) -> AsyncIterator[FakeKubernetes]:
    """A cluster with one node and the two pods."""
    async with FakeKubernetes().running() as fake:
        fake.tokens[WORD] = USER
        for kind, name in (("nodes", "gpu-a"), ("namespaces", "ml")):
            fake.put(f"/api/v1/{kind}", {"metadata": {"name": name, "labels": {}}})
        for name in ("llm-0", "llm-1", "idle"):
            fake.put("/api/v1/pods", pod("ml", name, app="llm", node="gpu-a"))
        yield fake


async def _seen(backend: Backend, pages: int) -> None:
    everything = f"count(count_over_time(up[1m]) >= 5) == {pages}"
    await _wait_for(backend, f"{everything} and on() ending_metric")


async def _ended(backend: Backend) -> None:
    await _wait_for(backend, "absent(ending_metric)")


async def _wait_for(backend: Backend, query: str) -> None:
    http = backend.server.http
    async with asyncio.timeout(SEEN_SECONDS):
        while True:
            answer = await http.get("/api/v1/query", params={"query": query, "nocache": "1"})
            if answer.json()["data"]["result"]:
                return
            await asyncio.sleep(0.2)
