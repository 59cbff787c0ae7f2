"""Two Prometheus servers (labels honoured, and not), shared by all cases; a cluster of little."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.cases.asking import Stage, populate
from tests.cases.scenes import Scene
from tests.cases.tenancy import Tenancy
from tests.cluster.binaries import ready_prometheus_program
from tests.cluster.errors import MissingToolError
from tests.cluster.place import Place
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.textserver import TextServer
from tests.fakes.kubernetes import FakeKubernetes

HERE = Path(__file__).parent
TIMEOUT_SECONDS = 120
FIRST_SCRAPE_SECONDS = 30


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs a real Prometheus."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.cluster)
            item.add_marker(pytest.mark.timeout(TIMEOUT_SECONDS))


@pytest.fixture(scope="session")
def scenes(request: pytest.FixtureRequest) -> tuple[Scene, ...]:
    """The scenes that the modules of this run stand on, as Prometheus takes seconds to see one."""
    modules = {item.getparent(pytest.Module) for item in request.session.items}
    found = [getattr(module.obj, "SCENES", ()) for module in modules if module]
    every = {scene.name: scene for listed in found for scene in listed}
    return tuple(every.values())


@pytest.fixture(scope="session")
async def stage(
    anyio_backend: str, scenes: tuple[Scene, ...], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """All that cases share, with every series there."""
    folder = tmp_path_factory.mktemp("cases")
    async with AsyncExitStack() as stack:
        pages = await stack.enter_async_context(TextServer())
        homes: dict[str, str] = {}
        for honor in (False, True):
            alike = [scene for scene in scenes if scene.honor_labels is honor]
            server = _server(folder / f"honor-{honor}", pages, alike, honor_labels=honor)
            await stack.enter_async_context(server)
            homes |= {scene.name: server.url for scene in alike}
            if alike:
                await _scraped(server, alike)
        kubernetes = await stack.enter_async_context(FakeKubernetes().running())
        populate(kubernetes)
        tenancy = await stack.enter_async_context(Tenancy(homes))
        yield Stage(folder=folder, kubernetes=kubernetes, tenancy=tenancy, pages=pages)


def _server(
    folder: Path, pages: TextServer, scenes: Iterable[Scene], *, honor_labels: bool
) -> PrometheusServer:
    try:
        program = ready_prometheus_program(Place.here())
    except MissingToolError as error:
        pytest.fail(str(error), pytrace=False)
    return PrometheusServer(
        program=program,
        folder=folder,
        targets=[target for scene in scenes for target in _targets(pages, scene)],
        honor_labels=honor_labels,
    )


def _targets(pages: TextServer, scene: Scene) -> list[Target]:
    for number, page in enumerate(scene.pages):
        pages.publish(scene.path(number), page.text)
    return [
        Target(
            address=pages.address,
            path=scene.path(number),
            labels={**page.labels, "scene": scene.name},
        )
        for number, page in enumerate(scene.pages)
    ]


async def _scraped(server: PrometheusServer, scenes: Iterable[Scene]) -> None:
    wanted = sum(len(scene.pages) for scene in scenes)
    await server.wait_for(f"count(up == 1) == {wanted}", seconds=FIRST_SCRAPE_SECONDS)
