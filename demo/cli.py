"""The command: both parts, what happens when one goes wrong, and what is left behind: nothing."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import httpx

from demo.cluster import Programs, cluster
from demo.load import Replayed, Switch
from demo.screen import Screen
from demo.story import Stage
from demo.values import show_values
from tests.cluster.binaries import control_plane
from tests.cluster.debian import prometheus_program
from tests.cluster.errors import HarnessError
from tests.cluster.interrupts import INTERRUPTED, run_cleanly
from tests.cluster.place import Place

T = TypeVar("T")


def main() -> int:
    """Run the demo; 0 when all went as told, 1 when not (logs are kept), 130 after Ctrl-C.

    `CLUSTER=no` stops after the first part; `KEEP=1` leaves the second part up until Ctrl-C.
    """
    # Bytecode is kept, or each start of the adapter would compile it all again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    screen = Screen()
    folder = Path(tempfile.mkdtemp(prefix="gpu-metrics-demo-"))
    code = INTERRUPTED
    try:
        code = run_cleanly(_demo(screen, folder, os.environ))
    finally:
        if code != 1:
            shutil.rmtree(folder, ignore_errors=True)
    return code


async def _demo(screen: Screen, folder: Path, environment: Mapping[str, str]) -> int:
    try:
        await _parts(screen, folder, environment)
    except HarnessError as error:
        screen.lines(f"\nThe demo failed: {error}\nAll logs are in {folder}")
        return 1
    except httpx.HTTPError as error:
        screen.lines(f"\nThe demo failed: {error!r}\nAll logs are in {folder}")
        return 1
    except asyncio.CancelledError:
        screen.say("\nInterrupted: everything has been stopped.")
        raise
    return 0


async def _parts(screen: Screen, folder: Path, environment: Mapping[str, str]) -> None:
    if environment.get("CLUSTER") == "no":
        with screen.status("fetching Prometheus") as say:
            await _first(screen, folder, await prometheus_program(Place.here(), say))
        return
    programs = await _values_while_building(screen, folder)
    await _second(screen, folder, programs, keep=environment.get("KEEP") == "1")


async def _values_while_building(screen: Screen, folder: Path) -> Programs:
    place = Place.here()
    with screen.status("looking for the control plane's programs") as say:
        prometheus = await prometheus_program(place, say)
        async with _beside(control_plane(place, say)) as building:
            await _first(screen, folder, prometheus)
            return Programs(control_plane=await building, prometheus=prometheus)


async def _first(screen: Screen, folder: Path, prometheus: Path) -> None:
    started = time.monotonic()
    screen.heading("1. The adapter and Prometheus, without a cluster")
    screen.say("A stand-in for dcgm-exporter replays what was recorded on one real NVIDIA H200.")
    screen.say("The adapter has no rules file, so its built-in rules for DCGM serve it:")
    part = folder / "values"
    part.mkdir()
    await show_values(prometheus, part, screen)
    screen.say(f"Read over TLS with a front proxy's certificate, after {_since(started)}.")


async def _second(screen: Screen, folder: Path, programs: Programs, *, keep: bool) -> None:
    started = time.monotonic()
    screen.heading("2. A real autoscaler on a real control plane")
    switch = Switch(deployment="ray-worker")
    load = Replayed(phase_of=switch.phase_of, clock=time.monotonic)
    part = folder / "cluster"
    part.mkdir()
    async with AsyncExitStack() as stack:
        with screen.status("") as say:
            opening = cluster(programs=programs, folder=part, load=load, say=say)
            running = await stack.enter_async_context(opening)
        screen.say(f"Control plane, Prometheus and adapter are up after {_since(started)}.")
        stage = Stage(cluster=running, switch=switch, screen=screen)
        await stage.play()
        screen.say(f"\n1 to 4 and back to 1 replicas in {_since(started)} without the build.")
        if keep:
            await stage.keep()
        screen.say("Stopping everything.")


def _since(started: float) -> str:
    return f"{time.monotonic() - started:.0f} s"


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Work that goes on beside a block, and ends with it."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, HarnessError):
            await task
