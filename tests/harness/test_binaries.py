"""Programs are found where they should be, and a missing one is told with its cure."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.binaries import (
    PROMETHEUS3,
    VARIABLES,
    VICTORIA,
    Backend,
    backend_program,
    control_plane,
    ready_backend_program,
    ready_control_plane,
    ready_prometheus_program,
)
from tests.cluster.building import ETCD, KUBERNETES
from tests.cluster.debian import prometheus_program
from tests.cluster.errors import MissingToolError
from tests.cluster.golang import go_program
from tests.cluster.place import Place, locked
from tests.cluster.processes import until

pytestmark = pytest.mark.anyio


def program(path: Path) -> Path:
    """A file that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def silent(line: str) -> None:
    """Nobody watches."""


@pytest.fixture
def bare(tmp_path: Path) -> Place:
    """A machine with nothing on PATH and an empty cache."""
    empty = tmp_path / "empty"
    empty.mkdir()
    return Place(environment={"PATH": str(empty), "XDG_CACHE_HOME": str(tmp_path / "cache")})


def test_a_missing_program_is_told_with_the_line_that_builds_it_and_its_variable(
    bare: Place,
) -> None:
    with pytest.raises(MissingToolError) as told:
        ready_control_plane(bare)
    assert str(told.value) == (
        "etcd is missing: build it with `python -m tests.cluster.binaries --only control-plane`, "
        "or set GMA_ETCD to the path of a ready one"
    )


async def test_a_machine_that_is_no_debian_is_told_how_to_bring_prometheus(bare: Place) -> None:
    with pytest.raises(MissingToolError) as told:
        await prometheus_program(bare, silent)
    assert str(told.value) == (
        "prometheus is missing (this machine has no apt-get and no dpkg-deb): as root on Debian, "
        "`apt-get update && apt-get install prometheus`, "
        "or set GMA_PROMETHEUS to the path of a ready one"
    )


def test_a_missing_prometheus_names_the_command_that_fetches_it(bare: Place) -> None:
    with pytest.raises(MissingToolError, match=r"--only prometheus` fetches it.*GMA_PROMETHEUS"):
        ready_prometheus_program(bare)


def test_variables_point_at_ready_programs(tmp_path: Path, bare: Place) -> None:
    paths = {name: program(tmp_path / "ready" / name) for name in VARIABLES}
    variables = {VARIABLES[name]: str(path) for name, path in paths.items()}
    found = ready_control_plane(Place(environment={**bare.environment, **variables}))
    assert found.etcd == paths["etcd"]
    assert found.kube_controller_manager == paths["kube-controller-manager"]


async def test_nothing_is_built_when_all_programs_are_pointed_at(
    tmp_path: Path, bare: Place
) -> None:
    paths = {name: program(tmp_path / "ready" / name) for name in VARIABLES}
    variables = {VARIABLES[name]: str(path) for name, path in paths.items()}
    found = await control_plane(Place(environment={**bare.environment, **variables}), silent)
    assert found.kubectl == paths["kubectl"]


def test_a_variable_that_points_at_nothing_is_told(bare: Place) -> None:
    place = Place(environment={**bare.environment, "GMA_KUBECTL": "/nowhere/kubectl"})
    with pytest.raises(MissingToolError, match="GMA_KUBECTL=/nowhere/kubectl is no executable"):
        ready_control_plane(place)


def test_built_programs_are_taken_from_the_cache(bare: Place) -> None:
    for module in (ETCD, KUBERNETES):
        for name in module.programs:
            program(module.home(bare) / name)
    assert ready_control_plane(bare).etcd == ETCD.home(bare) / "etcd"


def test_another_flag_is_another_build(bare: Place) -> None:
    assert ETCD.key != KUBERNETES.key
    assert ETCD.home(bare).parent.name == f"etcd-{ETCD.key}"


@pytest.mark.parametrize("backend", [VICTORIA, PROMETHEUS3], ids=["victoria", "prometheus3"])
async def test_a_backend_is_pointed_at_or_taken_from_the_cache(
    tmp_path: Path, bare: Place, backend: Backend
) -> None:
    with pytest.raises(MissingToolError, match=f"--only {backend.part}.*{backend.variable}"):
        ready_backend_program(backend, bare)
    kept = program(backend.module.home(bare) / backend.program)
    assert ready_backend_program(backend, bare) == kept
    ready = program(tmp_path / "ready")
    pointing = Place(environment={**bare.environment, backend.variable: str(ready)})
    assert ready_backend_program(backend, pointing) == ready
    assert await backend_program(backend, pointing, silent) == ready


def test_build_tags_make_another_build() -> None:
    plain = replace(PROMETHEUS3.module, tags="")
    assert plain.key != PROMETHEUS3.module.key


async def test_a_variable_decides_which_go_builds(tmp_path: Path, bare: Place) -> None:
    go = program(tmp_path / "go")
    place = Place(environment={**bare.environment, "GMA_GO": str(go)})
    assert await go_program(place, silent) == go


async def test_a_lock_is_held_by_one_and_the_next_is_told_that_it_waits(tmp_path: Path) -> None:
    said: list[str] = []

    async def take() -> None:
        async with locked(tmp_path / "lock", what="etcd", say=said.append):
            said.append("taken")

    async def waits() -> bool:
        return bool(said)

    async with locked(tmp_path / "lock", what="etcd", say=said.append):
        second = asyncio.create_task(take())
        await until(waits, what="the second waits", seconds=5)
        assert said == ["etcd: another run is at it, waiting for it"]
    await second
    assert said[1:] == ["taken"]
