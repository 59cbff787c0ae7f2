"""Answers kept for a short time and fetched once for everybody who waits."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from adapter.errors import SourceError

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
_NEVER = float("-inf")


@dataclass(slots=True, kw_only=True)
class _Entry(Generic[Value]):
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ended: float = _NEVER
    runs: int = 0
    value: Value | None = None
    error: SourceError | None = None


class Shared(Generic[Key, Value]):
    """A cache with one fetch at a time for each key.

    `ttl` is in seconds of `clock`, the same for all values or told by each value.
    Whoever waits while a fetch runs gets its outcome, its error too. A waiter that is cancelled
    takes nothing from the others: the next one fetches. At most `limit` keys are kept.
    """

    def __init__(
        self,
        *,
        ttl: float | Callable[[Value], float],
        clock: Callable[[], float] = time.monotonic,
        limit: int = 1024,
    ) -> None:
        """Start empty."""
        self._ttl = ttl
        self._clock = clock
        self._limit = limit
        self._entries: dict[Key, _Entry[Value]] = {}

    async def get(self, key: Key, fetch: Callable[[], Awaitable[Value]]) -> Value:
        """Give the value kept for `key`, or the outcome of one `fetch`.

        Raises the SourceError that `fetch` raised; an error is shared, but not kept.
        """
        entry = self._entry(key)
        if entry.value is not None and self._clock() - entry.ended < self._seconds(entry.value):
            return entry.value
        seen = entry.runs
        async with entry.lock:
            if entry.runs == seen:
                await self._fetch(entry, fetch)
        if entry.error is not None:
            raise entry.error
        assert entry.value is not None  # noqa: S101  (narrows the type: no error means a value)
        return entry.value

    def _seconds(self, value: Value) -> float:
        return self._ttl(value) if callable(self._ttl) else self._ttl

    async def _fetch(self, entry: _Entry[Value], fetch: Callable[[], Awaitable[Value]]) -> None:
        entry.value, entry.error = None, None
        try:
            entry.value = await fetch()
        except SourceError as error:
            entry.error = error
        entry.ended = self._clock()
        entry.runs += 1

    def _entry(self, key: Key) -> _Entry[Value]:
        entry = self._entries.pop(key, None) or _Entry()
        self._entries[key] = entry
        if len(self._entries) > self._limit:
            self._entries.pop(next(iter(self._entries)))
        return entry
