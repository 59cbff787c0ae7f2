"""A little HTTP server on loopback that prints texts, for Prometheus to scrape."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

Page = Callable[[], str]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
HEAD_SECONDS = 10


@dataclass(slots=True, kw_only=True)
class TextServer:
    """Answers GET of each path with what its page gives at that moment, all else with 404."""

    pages: dict[str, Page] = field(default_factory=dict)
    _server: asyncio.Server | None = field(default=None, init=False)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    @property
    def address(self) -> str:
        """Host and port, as Prometheus wants a target."""
        if self._server is None:
            raise RuntimeError("the server is not open")
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{host}:{port}"

    def publish(self, path: str, page: Page | str) -> None:
        """Print a text, or what a function gives when asked, at a path from now on."""
        self.pages[path] = page if callable(page) else lambda: page

    def withdraw(self, path: str) -> None:
        """Answer 404 at a path from now on."""
        self.pages.pop(path, None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            writer.write(self._answer(head))
            await writer.drain()
        writer.close()

    def _answer(self, head: bytes) -> bytes:
        path = head.split(b" ", 2)[1].decode("latin-1").partition("?")[0]
        page = self.pages.get(path)
        status, text = ("200 OK", page()) if page else ("404 Not Found", "no such page\n")
        body = text.encode()
        lines = [
            f"HTTP/1.1 {status}",
            f"Content-Type: {CONTENT_TYPE}",
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
