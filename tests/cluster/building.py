"""Building the harness's programs from the Go modules beside this file."""

import asyncio
import hashlib
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.errors import HarnessError
from tests.cluster.golang import go_program
from tests.cluster.place import Place, Say, locked
from tests.cluster.processes import bound_to_us, end_group

HERE = Path(__file__).parent
SAY_EVERY_SECONDS = 10
LAST_LINES = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class GoModule:
    """A folder with go.mod and go.sum, and the programs to build from it."""

    name: str
    folder: Path
    packages: tuple[str, ...]
    programs: tuple[str, ...]
    ldflags: str = "-s -w"
    tags: str = ""
    output: str = ""
    """The program's file name where it differs from the package's last element."""

    @property
    def key(self) -> str:
        """What the programs depend on, as 16 hex digits: the module's locks and the flags."""
        files = [(self.folder / name).read_bytes() for name in ("go.mod", "go.sum")]
        flags = [self.ldflags, " ".join(self.packages), *filter(None, [self.tags])]
        parts = [*files, *(flag.encode() for flag in flags)]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]

    def home(self, place: Place) -> Path:
        """The folder where the built programs are kept; it exists only when they are complete."""
        return place.cache / f"{self.name}-{self.key}" / "bin"


def _version_flags(version: str) -> str:
    major, minor, _ = version.split(".")
    values = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    settings = [f"-X {p}.{name}={value}" for p in packages for name, value in values.items()]
    return " ".join(["-s -w", *settings])


KUBERNETES = GoModule(
    name="kubernetes",
    folder=HERE / "kubernetes",
    packages=tuple(
        f"k8s.io/kubernetes/cmd/{program}"
        for program in ("kube-apiserver", "kube-controller-manager", "kubectl")
    ),
    programs=("kube-apiserver", "kube-controller-manager", "kubectl"),
    ldflags=_version_flags("1.36.3"),
)
ETCD = GoModule(
    name="etcd",
    folder=HERE / "etcd",
    packages=("go.etcd.io/etcd/server/v3",),
    programs=("etcd",),
    output="etcd",
)
VICTORIA_METRICS = GoModule(
    name="victoriametrics",
    folder=HERE / "victoriametrics",
    packages=("github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics",),
    programs=("victoria-metrics",),
)
PROMETHEUS_3 = GoModule(
    name="prometheus3",
    folder=HERE / "prometheus3",
    packages=("github.com/prometheus/prometheus/cmd/prometheus",),
    programs=("prometheus",),
    tags="netgo",
)


async def built(module: GoModule, place: Place, say: Say) -> Path:
    """The folder with the module's programs, building them when they are not there yet.

    Raises HarnessError with the compiler's last words, MissingToolError when Go can't be had.
    """
    home = module.home(place)
    if home.is_dir():
        return home
    async with locked(home.parent.with_suffix(".lock"), what=module.name, say=say):
        if not home.is_dir():
            await _build(module, home, place, say)
    return home


async def _build(module: GoModule, home: Path, place: Place, say: Say) -> None:
    go = await go_program(place, say)
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        target = Path(folder) / "bin"
        target.mkdir()
        await _compile(module, go, target, place.environment, say)
        target.rename(home)


async def _compile(
    module: GoModule, go: Path, target: Path, environment: Mapping[str, str], say: Say
) -> None:
    output = f"{target}/{module.output}"
    tags = ["-tags", module.tags] if module.tags else []
    flags = ["-v", "-trimpath", "-buildvcs=false", *tags, "-ldflags", module.ldflags, "-o", output]
    command: list[str | Path] = [go, "-C", module.folder, "build", *flags, *module.packages]
    progress = BuildProgress(name=" ".join(module.programs))
    say(f"building {progress.name} (minutes the first time)")
    code = await _follow(command, {**environment, "CGO_ENABLED": "0"}, progress, say)
    if code:
        last = "\n".join(progress.last)
        raise HarnessError(f"building {progress.name} failed with code {code}:\n{last}")
    say(progress.line())


@dataclass(slots=True, kw_only=True)
class BuildProgress:
    """Counts what `go build -v` tells: a line for a module fetched, a line for a package built."""

    name: str
    started: float = field(default_factory=time.monotonic)
    modules: int = 0
    packages: int = 0
    last: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))

    def note(self, line: str) -> None:
        """Take one line of the compiler's."""
        self.last.append(line)
        if line.startswith("go: downloading"):
            self.modules += 1
        else:
            self.packages += 1

    def line(self) -> str:
        """How far it is, for a person."""
        seconds = int(time.monotonic() - self.started)
        counts = f"{self.modules} modules fetched, {self.packages} packages compiled"
        return f"building {self.name}: {counts}, {seconds // 60}:{seconds % 60:02d} min"


async def _follow(
    command: Sequence[str | Path], environment: Mapping[str, str], progress: BuildProgress, say: Say
) -> int:
    child = await asyncio.create_subprocess_exec(
        *bound_to_us(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )
    ticker = asyncio.create_task(_tick(progress, say))
    try:
        await _read_lines(child.stdout, progress)
        return await child.wait()
    finally:
        ticker.cancel()
        await end_group(child, grace=0)


async def _read_lines(stream: asyncio.StreamReader | None, progress: BuildProgress) -> None:
    if stream is None:
        return
    async for line in stream:
        progress.note(line.decode(errors="replace").rstrip())


async def _tick(progress: BuildProgress, say: Say) -> None:
    while True:
        await asyncio.sleep(SAY_EVERY_SECONDS)
        say(progress.line())
