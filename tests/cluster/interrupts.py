"""Running a program that starts children, so that Ctrl-C and SIGTERM still clean up."""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

INTERRUPTED = 130
"""The exit code that shells give to a program ended by Ctrl-C."""


def run_cleanly(main: Coroutine[Any, Any, int]) -> int:
    """Run to the end and give main's exit code, or INTERRUPTED after SIGINT or SIGTERM.

    The first signal cancels main, which then closes what it has open; a second one while it does
    so is ignored, as every step of the closing is bounded.
    """
    return asyncio.run(_until_done_or_told(main))


async def _until_done_or_told(main: Coroutine[Any, Any, int]) -> int:
    task = asyncio.create_task(main)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, _cancel_once, task)
    with suppress(asyncio.CancelledError):
        return await task
    return INTERRUPTED


def _cancel_once(task: asyncio.Task[int]) -> None:
    if not task.cancelling():
        task.cancel()
