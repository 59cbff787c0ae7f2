"""Run a loop for the length of a block, and wait for what it brings about."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

import anyio
from anyio.lowlevel import checkpoint

from adapter.sources.backoff import Backoff
from adapter.sources.pods import Inventory


class Loop(Protocol):
    """Anything that runs until it is cancelled."""

    async def run(self) -> None:
        """Run for ever."""
        ...


@asynccontextmanager
async def running(loop: Loop) -> AsyncIterator[None]:
    """Run `loop` until the block ends; its failure fails the block."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loop.run)
        yield
        tasks.cancel_scope.cancel()


async def reached(inventory: Inventory, holds: Callable[[], bool]) -> None:
    """Wait, five seconds at most, for changes of `inventory` until `holds` does."""
    await until(holds, inventory.changed)


async def until(
    holds: Callable[[], bool], changed: Callable[[], Awaitable[object]] = checkpoint
) -> None:
    """Wait, five seconds at most, from change to change until `holds` does.

    Where nobody tells of changes, it is asked at each turn of the loop.
    """
    with anyio.fail_after(5):
        while not holds():
            await changed()


def at_once() -> Backoff:
    """Make waits that a test does not feel."""
    return Backoff(first=0.001, most=0.002)
