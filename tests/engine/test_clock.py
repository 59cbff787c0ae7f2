"""The machine's own time."""

import time

import pytest

from adapter.engine.clock import SystemClock

pytestmark = pytest.mark.anyio


async def test_a_wait_takes_time_forward_on_both_clocks() -> None:
    clock = SystemClock()
    monotonic, wall = clock.monotonic(), clock.wall()
    await clock.sleep(0)
    assert clock.monotonic() >= monotonic
    assert abs(wall - time.time()) < 60
