"""Child processes: started with a log, waited for until ready, stopped whatever happens.

Each child leads a process group of its own, so that a Ctrl-C reaches only us and we stop the
children in order. Should we die without a chance to, the kernel ends them (`setpriv --pdeathsig`).
"""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cluster.errors import HarnessError, NotReadyError, ProcessDiedError

POLL_SECONDS = 0.05
TAIL_LINES = 20

Condition = Callable[[], Awaitable[bool]]


async def until(condition: Condition, *, what: str, seconds: float) -> None:
    """Wait until the condition holds; raises NotReadyError naming `what` after so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            while not await condition():  # noqa: ASYNC110 - other processes tell us nothing
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError as error:
        raise NotReadyError(f"{what}: not so within {seconds:g} s") from error


def bound_to_us(command: Sequence[str | Path]) -> list[str]:
    """The command, made to end when we do where the system offers that."""
    setpriv = shutil.which("setpriv")
    guard = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
    return [*guard, *map(str, command)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """What a command said and how it ended."""

    code: int
    stdout: str
    stderr: str


async def run(
    command: Sequence[str | Path],
    *,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    seconds: float = 60,
) -> Completed:
    """Run a command to its end; raises HarnessError when it takes longer than so many seconds."""
    child = await asyncio.create_subprocess_exec(
        *bound_to_us(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            stdout, stderr = await child.communicate(stdin.encode())
    except TimeoutError as error:
        raise HarnessError(f"{command[0]} did not end within {seconds:g} s") from error
    finally:
        await end_group(child, grace=0)
    return Completed(code=child.returncode or 0, stdout=stdout.decode(), stderr=stderr.decode())


async def end_group(child: asyncio.subprocess.Process, *, grace: float) -> None:
    """End a child and its group: SIGTERM, and after so many seconds of grace SIGKILL."""
    if child.returncode is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM if grace else signal.SIGKILL)
    try:
        async with asyncio.timeout(grace or None):
            await child.wait()
    except TimeoutError:
        await _kill_group(child)
    except asyncio.CancelledError:
        await _kill_group(child)
        raise


async def _kill_group(child: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    await child.wait()


@dataclass(slots=True, kw_only=True)
class Process:
    """A server run as a child. It can be stopped and started again with the same command."""

    name: str
    command: Sequence[str | Path]
    log: Path
    environment: Mapping[str, str] | None = None
    ready: Condition | None = None
    ready_seconds: float = 30
    grace_seconds: float = 5
    _child: asyncio.subprocess.Process | None = field(default=None, init=False)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start it and wait until it is ready.

        Raises ProcessDiedError when it ends before, NotReadyError when it takes too long; then it
        does not run any more.
        """
        with self.log.open("ab") as log:
            self._child = await asyncio.create_subprocess_exec(
                *bound_to_us(self.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
            )
        try:
            await self._wait_until_ready()
        except BaseException:
            await self.kill()
            raise

    async def stop(self) -> int | None:
        """End it with SIGTERM, with SIGKILL after the grace; gives its exit code."""
        return await self._end(self.grace_seconds)

    async def kill(self) -> None:
        """End it with SIGKILL, as a machine's failure would."""
        await self._end(0)

    def signal(self, number: int) -> None:
        """Send a signal; nothing happens when it does not run."""
        if self._child is not None and self._child.returncode is None:
            self._child.send_signal(number)

    async def wait(self) -> int:
        """Wait for its end; gives the exit code (negative: the signal)."""
        if self._child is None:
            raise HarnessError(f"{self.name} was not started")
        return await self._child.wait()

    @property
    def pid(self) -> int:
        """Its process number; raises HarnessError when it was never started."""
        if self._child is None:
            raise HarnessError(f"{self.name} was not started")
        return self._child.pid

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._child is not None and self._child.returncode is None

    def tail(self) -> str:
        """The last lines of its log."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:])

    async def _end(self, grace: float) -> int | None:
        child = self._child
        if child is None:
            return None
        await end_group(child, grace=grace)
        return child.returncode

    async def _wait_until_ready(self) -> None:
        if self.ready is not None:
            await until(self._is_ready, what=f"{self.name} ready", seconds=self.ready_seconds)

    async def _is_ready(self) -> bool:
        if not self.running:
            code = self._child.returncode if self._child else None
            raise ProcessDiedError(name=self.name, code=code, log=self.log, tail=self.tail())
        return self.ready is None or await self.ready()
