"""The programs that the harness runs: found, fetched or built.

    python -m tests.cluster.binaries [--only PART] [--print]

fetches and builds what is missing, with progress; `--print` says where they are. Prometheus 3
takes long to build and is left out unless asked for.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.building import (
    ETCD,
    KUBERNETES,
    PROMETHEUS_3,
    VICTORIA_METRICS,
    GoModule,
    built,
)
from tests.cluster.debian import missing_prometheus, prometheus_program, ready_prometheus
from tests.cluster.errors import HarnessError, MissingToolError
from tests.cluster.interrupts import run_cleanly
from tests.cluster.place import Place, Say

BUILD_LINE = "python -m tests.cluster.binaries"
VARIABLES: Mapping[str, str] = {
    "etcd": "GMA_ETCD",
    "kube-apiserver": "GMA_KUBE_APISERVER",
    "kube-controller-manager": "GMA_KUBE_CONTROLLER_MANAGER",
    "kubectl": "GMA_KUBECTL",
}
PARTS = ("prometheus", "control-plane", "victoriametrics", "prometheus3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A program that takes Debian's Prometheus's place; `part` is what `--only` calls it."""

    part: str
    module: GoModule
    variable: str

    @property
    def program(self) -> str:
        """Its file's name."""
        return self.module.programs[0]


VICTORIA = Backend(part="victoriametrics", module=VICTORIA_METRICS, variable="GMA_VICTORIAMETRICS")
PROMETHEUS3 = Backend(part="prometheus3", module=PROMETHEUS_3, variable="GMA_PROMETHEUS3")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlaneBinaries:
    """Paths of the control plane's programs."""

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    kubectl: Path


async def control_plane(place: Place, say: Say) -> ControlPlaneBinaries:
    """The control plane's programs, built when they are not there yet.

    Raises MissingToolError or HarnessError with what is missing and what helps.
    """
    found = _pointed(place)
    for module in (ETCD, KUBERNETES):
        wanted = set(module.programs) - found.keys()
        home = await built(module, place, say) if wanted else Path()
        found |= {program: home / program for program in wanted}
    return _paths(found)


def ready_control_plane(place: Place) -> ControlPlaneBinaries:
    """The control plane's programs that are here already; builds nothing.

    Raises MissingToolError for the first that is not.
    """
    found = _pointed(place)
    for module in (ETCD, KUBERNETES):
        found |= {name: _kept(name, module, place) for name in module.programs if name not in found}
    return _paths(found)


def ready_prometheus_program(place: Place) -> Path:
    """The Prometheus that is here already; raises MissingToolError when there is none."""
    found = ready_prometheus(place)
    if found is None:
        raise missing_prometheus(f"`{BUILD_LINE} --only prometheus` fetches it")
    return found


async def backend_program(backend: Backend, place: Place, say: Say) -> Path:
    """The backend's program, built when it is not there yet; raises as `control_plane`."""
    if pointed := place.pointed_at(backend.variable, backend.program):
        return pointed
    return await built(backend.module, place, say) / backend.program


def ready_backend_program(backend: Backend, place: Place) -> Path:
    """The backend's program that is here already; raises MissingToolError when there is none."""
    if pointed := place.pointed_at(backend.variable, backend.program):
        return pointed
    return _found(backend.program, backend.module, place, backend.variable, backend.part)


def _pointed(place: Place) -> dict[str, Path]:
    pointed = {name: place.pointed_at(variable, name) for name, variable in VARIABLES.items()}
    return {name: path for name, path in pointed.items() if path}


def _kept(name: str, module: GoModule, place: Place) -> Path:
    return _found(name, module, place, VARIABLES[name], "control-plane")


def _found(name: str, module: GoModule, place: Place, variable: str, part: str) -> Path:
    path = module.home(place) / name
    if not path.is_file():
        cure = f"build it with `{BUILD_LINE} --only {part}`"
        raise MissingToolError(tool=name, variable=variable, cure=cure)
    return path


def _paths(found: Mapping[str, Path]) -> ControlPlaneBinaries:
    return ControlPlaneBinaries(
        etcd=found["etcd"],
        kube_apiserver=found["kube-apiserver"],
        kube_controller_manager=found["kube-controller-manager"],
        kubectl=found["kubectl"],
    )


async def _prepare(wanted: Sequence[str], place: Place, say: Say) -> list[str]:
    lines = []
    if "prometheus" in wanted:
        lines.append(f"GMA_PROMETHEUS={await prometheus_program(place, say)}")
    lines += [
        f"{backend.variable}={await backend_program(backend, place, say)}"
        for backend in (VICTORIA, PROMETHEUS3)
        if backend.part in wanted
    ]
    if "control-plane" in wanted:
        programs = await control_plane(place, say)
        names = {name: name.replace("-", "_") for name in VARIABLES}
        lines += [f"{VARIABLES[n]}={getattr(programs, field)}" for n, field in names.items()]
    return lines


async def _main(*, only: str | None, show: bool) -> int:
    wanted = [only] if only else [part for part in PARTS if part != PROMETHEUS3.part]
    try:
        lines = await _prepare(wanted, Place.here(), _say)
    except HarnessError as error:
        _say(f"error: {error}")
        return 1
    if show:
        sys.stdout.write("\n".join(lines) + "\n")
    return 0


def main(arguments: Sequence[str]) -> int:
    """The command; 0 when everything is there, 1 with one line saying what is missing."""
    parser = argparse.ArgumentParser(prog=BUILD_LINE, description="Fetch and build the programs")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--print", action="store_true", help="print the paths, as variables")
    options = parser.parse_args(arguments)
    return run_cleanly(_main(only=options.only, show=options.print))


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
