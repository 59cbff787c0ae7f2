"""One pooled client at a time, replaced when the certificates are."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx


@dataclass(slots=True, eq=False)
class _Pool:
    context: ssl.SSLContext
    client: httpx.AsyncClient
    users: int = 0


class Clients:
    """Lends the client of the newest TLS context.

    Connections made under an older context are given up as soon as no request uses them.
    """

    def __init__(self, make: Callable[[ssl.SSLContext], httpx.AsyncClient]) -> None:
        """Take how a client is made; makes none yet."""
        self._make = make
        self._pool: _Pool | None = None

    @asynccontextmanager
    async def lent(self, context: ssl.SSLContext) -> AsyncIterator[httpx.AsyncClient]:
        """Lend a client that makes its connections under `context`."""
        former, pool = self._pool, self._current(context)
        pool.users += 1
        try:
            if former is not None:
                await self._give_up(former)
            yield pool.client
        finally:
            pool.users -= 1
            await self._give_up(pool)

    async def aclose(self) -> None:
        """Close the connections; requests under way fail."""
        if self._pool is not None:
            await self._pool.client.aclose()

    def _current(self, context: ssl.SSLContext) -> _Pool:
        if self._pool is None or self._pool.context is not context:
            self._pool = _Pool(context, self._make(context))
        return self._pool

    async def _give_up(self, pool: _Pool) -> None:
        if pool is not self._pool and not pool.users:
            await pool.client.aclose()
