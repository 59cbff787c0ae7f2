"""Children are waited for, told about when they fail, and never left behind."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.cluster.errors import HarnessError, NotReadyError, ProcessDiedError
from tests.cluster.ports import free_ports
from tests.cluster.processes import Process, run, until

pytestmark = pytest.mark.anyio

SLEEP = ("sleep", "60")


def is_alive(pid: int) -> bool:
    """Whether a process exists (a zombie does)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def never() -> bool:
    return False


async def test_leaving_ends_the_child(tmp_path: Path) -> None:
    async with Process(name="sleep", command=SLEEP, log=tmp_path / "log") as child:
        assert is_alive(child.pid)
    assert not is_alive(child.pid)


async def test_a_child_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    code = f"trap '' TERM; touch {ready}; while :; do sleep 1; done"

    async def trapped() -> bool:
        return ready.exists()

    child = Process(name="deaf", command=("sh", "-c", code), log=tmp_path / "log", ready=trapped)
    child.grace_seconds = 0.1
    async with child:
        pass
    assert await child.wait() == -signal.SIGKILL


async def test_a_child_that_dies_early_shows_the_end_of_its_log(tmp_path: Path) -> None:
    command = ("sh", "-c", "echo the disk is full >&2; exit 3")
    child = Process(name="store", command=command, log=tmp_path / "log", ready=never)
    with pytest.raises(ProcessDiedError, match=r"store ended with code 3(.|\n)*the disk is full"):
        await child.start()


async def test_a_child_that_does_not_get_ready_is_ended(tmp_path: Path) -> None:
    child = Process(
        name="slow", command=SLEEP, log=tmp_path / "log", ready=never, ready_seconds=0.1
    )
    with pytest.raises(NotReadyError, match=r"slow ready: not so within 0\.1 s"):
        await child.start()
    assert not child.running


async def test_a_child_can_be_started_again(tmp_path: Path) -> None:
    async with Process(name="sleep", command=SLEEP, log=tmp_path / "log") as child:
        first = child.pid
        await child.kill()
        assert await child.wait() == -signal.SIGKILL
        await child.start()
        assert child.running
        assert child.pid != first


async def test_children_die_with_us_even_when_we_are_killed(tmp_path: Path) -> None:
    """A process of its own starts a child and is killed: the child goes too."""
    log = str(tmp_path / "log")
    code = (
        "import asyncio, os, pathlib, signal\n"
        "from tests.cluster.processes import Process\n"
        "async def main():\n"
        f"    child = Process(name='sleep', command=('sleep', '60'), log=pathlib.Path({log!r}))\n"
        "    await child.start()\n"
        "    print(child.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    repository = str(Path(__file__).parents[2])
    done = await run([sys.executable, "-c", code], environment={"PYTHONPATH": repository})
    pid = int(done.stdout)

    async def gone() -> bool:
        return not is_alive(pid)

    await until(gone, what="the orphan is gone", seconds=5)


async def test_a_command_gives_its_words_and_code() -> None:
    done = await run(["sh", "-c", "cat; echo no >&2; exit 4"], stdin="yes")
    assert (done.code, done.stdout, done.stderr) == (4, "yes", "no\n")


async def test_a_command_that_takes_too_long_is_ended() -> None:
    with pytest.raises(HarnessError, match=r"sleep did not end within 0\.1 s"):
        await run(SLEEP, seconds=0.1)


def test_ports_drawn_together_differ() -> None:
    assert len(set(free_ports(50))) == 50
