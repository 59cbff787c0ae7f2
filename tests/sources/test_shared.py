"""One fetch for all who wait, and nobody pays for another's impatience."""

import anyio
import pytest

from adapter.errors import ClusterDown
from adapter.sources.shared import Shared

pytestmark = pytest.mark.anyio


class Fetching:
    """A fetch that waits to be let through and counts how often it began."""

    def __init__(self, error: ClusterDown | None = None) -> None:
        self.gate = anyio.Event()
        self.began = 0
        self._error = error

    async def __call__(self) -> int:
        self.began += 1
        await self.gate.wait()
        if self._error is not None:
            raise self._error
        return 7


async def test_an_impatient_first_asker_takes_nothing_from_the_others() -> None:
    shared: Shared[str, int] = Shared(ttl=1)
    fetch = Fetching()
    answers: list[int] = []

    async def ask(scope: anyio.CancelScope) -> None:
        with scope:
            answers.append(await shared.get("k", fetch))

    async with anyio.create_task_group() as tasks:
        first, second = anyio.CancelScope(), anyio.CancelScope()
        tasks.start_soon(ask, first)
        tasks.start_soon(ask, second)
        await anyio.wait_all_tasks_blocked()
        first.cancel()
        await anyio.wait_all_tasks_blocked()
        fetch.gate.set()
    assert answers == [7]
    assert fetch.began == 2


async def test_an_error_is_shared_by_those_who_waited_and_not_kept() -> None:
    shared: Shared[str, int] = Shared(ttl=1)
    fetch = Fetching(ClusterDown("down"))
    errors: list[ClusterDown] = []

    async def ask() -> None:
        try:
            await shared.get("k", fetch)
        except ClusterDown as error:
            errors.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        fetch.gate.set()
    assert (len(errors), fetch.began) == (5, 1)
    await ask()
    assert (len(errors), fetch.began) == (6, 2)


async def test_no_more_keys_than_the_limit_are_kept() -> None:
    shared: Shared[int, int] = Shared(ttl=1, limit=2)
    fetch = Fetching()
    fetch.gate.set()
    for key in (1, 2, 3, 3, 2, 1):
        await shared.get(key, fetch)
    assert fetch.began == 4
