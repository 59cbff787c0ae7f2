"""Where the harness runs: the environment's variables, the user's cache folder, programs on PATH."""

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.cluster.errors import MissingToolError

Say = Callable[[str], None]
"""Takes one line of progress for a person's eyes."""

LOCK_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The variables that decide where programs are looked for and kept."""

    environment: Mapping[str, str]

    @classmethod
    def here(cls) -> "Place":
        """This process's own."""
        return cls(environment=dict(os.environ))

    @property
    def cache(self) -> Path:
        """The folder for what is built or fetched: `$XDG_CACHE_HOME/gpu-metrics-adapter`."""
        home = Path(self.environment.get("HOME") or Path.home())
        base = self.environment.get("XDG_CACHE_HOME") or home / ".cache"
        return Path(base) / "gpu-metrics-adapter"

    def which(self, program: str) -> Path | None:
        """The program on PATH, if there."""
        found = shutil.which(program, path=self.environment.get("PATH", ""))
        return Path(found) if found else None

    def pointed_at(self, variable: str, tool: str) -> Path | None:
        """The ready program that a variable names, None when it is unset.

        Raises MissingToolError when it names something that can't be run.
        """
        value = self.environment.get(variable)
        if not value:
            return None
        found = shutil.which(value, path=self.environment.get("PATH", ""))
        if found is None:
            cause = f"{variable}={value} is no executable file"
            raise MissingToolError(tool=tool, variable=variable, cure="unset it", cause=cause)
        return Path(found).absolute()


@asynccontextmanager
async def locked(path: Path, *, what: str, say: Say) -> AsyncIterator[None]:
    """Hold a lock file, so that two runs on one machine do not do the same work at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        if not _try_lock(file):
            say(f"{what}: another run is at it, waiting for it")
        while not _try_lock(file):  # noqa: ASYNC110 - nobody tells when a file lock is let go
            await asyncio.sleep(LOCK_POLL_SECONDS)
        yield


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
