"""The time, handed to whoever needs it, so that tests decide what o'clock it is."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Two clocks and a way to wait, all in seconds."""

    def monotonic(self) -> float:
        """Give a time that only grows: for ages and pauses."""
        ...

    def wall(self) -> float:
        """Give Unix time: for what is shown and what is asked of Prometheus."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return `seconds` later."""
        ...


class SystemClock:
    """The machine's own time."""

    def monotonic(self) -> float:
        """Give the machine's monotonic time."""
        return time.monotonic()

    def wall(self) -> float:
        """Give Unix time."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Let others run for `seconds`."""
        await asyncio.sleep(seconds)
