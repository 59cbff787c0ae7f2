"""Debian's Prometheus: the installed one, or the package unpacked into the cache.

Unpacking instead of installing needs no root and starts no service of the system's.
"""

import tempfile
from pathlib import Path

from tests.cluster.errors import MissingToolError
from tests.cluster.place import Place, Say, locked
from tests.cluster.processes import Completed, run

APT_SECONDS = 300


async def prometheus_program(place: Place, say: Say) -> Path:
    """GMA_PROMETHEUS, the one on PATH, or Debian's package unpacked into the cache.

    Raises MissingToolError when none of them can be had.
    """
    if ready := ready_prometheus(place):
        return ready
    home = _home(place)
    async with locked(home.with_suffix(".lock"), what="prometheus", say=say):
        if not home.is_dir():
            say("fetching Debian's package prometheus (about 20 MB)")
            await _unpack(home, place)
    return home / "usr/bin/prometheus"


def ready_prometheus(place: Place) -> Path | None:
    """A Prometheus that is here already, None when there is none."""
    if pointed := place.pointed_at("GMA_PROMETHEUS", "prometheus"):
        return pointed
    kept = _home(place) / "usr/bin/prometheus"
    return place.which("prometheus") or (kept if kept.is_file() else None)


def missing_prometheus(cause: str) -> MissingToolError:
    """The error that says how to get one."""
    cure = "as root on Debian, `apt-get update && apt-get install prometheus`"
    return MissingToolError(tool="prometheus", variable="GMA_PROMETHEUS", cure=cure, cause=cause)


def _home(place: Place) -> Path:
    return place.cache / "prometheus-debian"


async def _unpack(home: Path, place: Place) -> None:
    missing = [name for name in ("apt-get", "dpkg-deb") if place.which(name) is None]
    if missing:
        raise missing_prometheus(f"this machine has no {' and no '.join(missing)}")
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        package = await _download(Path(folder), place)
        target = Path(folder) / "unpacked"
        unpacked = await run(["dpkg-deb", "-x", package, target], environment=place.environment)
        _succeeded(unpacked)
        target.rename(home)


async def _download(folder: Path, place: Place) -> Path:
    done = await _fetch(folder, place)
    if done.code:
        # A fresh machine has no package lists yet; only root can fetch them.
        _succeeded(await _apt(["update"], folder, place))
        done = await _fetch(folder, place)
    _succeeded(done)
    return _package_in(folder)


def _package_in(folder: Path) -> Path:
    return next(folder.glob("prometheus_*.deb"))


async def _fetch(folder: Path, place: Place) -> Completed:
    return await _apt(["download", "prometheus"], folder, place)


async def _apt(arguments: list[str], folder: Path, place: Place) -> Completed:
    # `download` writes to the current folder, which must not be this process's own.
    command: list[str | Path] = ["env", "-C", folder, "apt-get", "-q", *arguments]
    return await run(command, environment=place.environment, seconds=APT_SECONDS)


def _succeeded(done: Completed) -> None:
    if done.code:
        lines = done.stderr.strip().splitlines() or [f"code {done.code}"]
        raise missing_prometheus(lines[-1])
