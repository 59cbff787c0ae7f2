"""A little kube-apiserver on loopback: lists, watches, reviews, discovery, and faults on demand."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.fakes.cluster_state import ClusterState, Document, Expired, line, serves

TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"  # noqa: S105  (a path)
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_CUT = b""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(slots=True)
class Fault:
    """An answer that takes the place of the right one, `times` times; status 0 drops the line."""

    status: int
    path: str = ""
    times: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(slots=True)
class _Watcher:
    path: str
    params: Mapping[str, str]
    since: int
    lines: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)


class FakeKubernetes:
    """The server's state and what it is told to do; `url` is set while it runs."""

    def __init__(self) -> None:
        """Serve nothing, know nobody, allow nothing."""
        self.state = ClusterState()
        self.documents: dict[str, object] = {}
        self.faults: list[Fault] = []
        self.asked: list[Asked] = []
        self.bearer = ""
        self.tokens: dict[str, Document] = {}
        self.allows: Callable[[Document], bool] = lambda _: False
        self.gate = asyncio.Event()
        self.gate.set()
        self.url = ""
        self._watchers: list[_Watcher] = []

    def put(self, collection: str, document: Document) -> None:
        """Write an object and tell the open watches."""
        self.state.put(collection, document)
        self._tell()

    def delete(self, collection: str, namespace: str, name: str) -> None:
        """Delete an object and tell the open watches."""
        self.state.delete(collection, namespace, name)
        self._tell()

    def say(self, *lines: bytes) -> None:
        """Send these lines on every open watch."""
        for watcher in self._watchers:
            for text in lines:
                watcher.lines.put_nowait(text)

    def cut(self, rest: bytes = b"{") -> None:
        """Break every open watch after `rest`, part of a line; no event is sent any more."""
        for watcher in self._watchers:
            watcher.lines.put_nowait(_CUT)
            watcher.lines.put_nowait(rest)
        self._watchers.clear()

    def count(self, path: str, *, watch: bool = False) -> int:
        """Give how often `path` was asked, as a list or as a watch."""
        return sum(
            asked.path == path and ("watch" in asked.params) == watch for asked in self.asked
        )

    def kubeconfig(self, directory: Path) -> Path:
        """Write a kubeconfig that leads here, with `bearer` as its token."""
        user = {"token": self.bearer} if self.bearer else {}
        config = {
            "current-context": "fake",
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
            "clusters": [{"name": "fake", "cluster": {"server": self.url}}],
            "users": [{"name": "fake", "user": user}],
        }
        file = directory / "kubeconfig"
        file.write_text(json.dumps(config))
        return file

    @asynccontextmanager
    async def running(self) -> AsyncIterator["FakeKubernetes"]:
        """Listen on a free port of loopback until the end of the block."""
        listening = socket.create_server(("127.0.0.1", 0))
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.SockSite(runner, listening).start()
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            yield self
        finally:
            self.gate.set()
            self.cut()
            await runner.cleanup()

    def _tell(self) -> None:
        for watcher in self._watchers:
            for text in self.state.lines(watcher.path, watcher.params, watcher.since):
                watcher.lines.put_nowait(text)
            watcher.since = self.state.version

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else None
        asked = Asked(request.method, request.path, dict(request.query), request.headers, body)
        self.asked.append(asked)
        await self.gate.wait()
        if fault := self._fault(asked):
            return _broken(request, fault)
        if self.bearer and request.headers.get("Authorization") != f"Bearer {self.bearer}":
            return _status(401, "Unauthorized")
        return await self._right(request, asked)

    async def _right(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        if asked.path in self.documents:
            return _json(self.documents[asked.path])
        if asked.method == "POST":
            return self._review(asked)
        if not serves(asked.path):
            return _status(404, "the server could not find the requested resource")
        if "watch" in asked.params:
            return await self._watch(request, asked)
        return _json(self.state.page(asked.path, asked.params))

    def _fault(self, asked: Asked) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and asked.path.startswith(fault.path):
                fault.times -= 1
                return fault
        return None

    def _review(self, asked: Asked) -> web.Response:
        spec = asked.body["spec"]
        if asked.path == TOKEN_REVIEWS:
            user = self.tokens.get(spec["token"])
            return _json({"status": {"authenticated": user is not None, "user": user or {}}}, 201)
        allowed = self.allows(spec)
        return _json({"status": {"allowed": allowed, "reason": "" if allowed else "no rule"}}, 201)

    async def _watch(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        since = int(asked.params["resourceVersion"])
        watcher = _Watcher(asked.path, asked.params, since)
        try:
            earlier = self.state.lines(asked.path, asked.params, since)
        except Expired:
            return _status(410, "too old resource version")
        watcher.since = self.state.version
        for text in earlier:
            watcher.lines.put_nowait(text)
        self._watchers.append(watcher)
        return await _stream(request, watcher)


async def _stream(request: web.Request, watcher: _Watcher) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    with suppress(ConnectionResetError):  # the client went first
        while text := await watcher.lines.get():
            await response.write(text + b"\n")
        await response.write(await watcher.lines.get())
    if request.transport is not None:
        request.transport.abort()
    return response


def _broken(request: web.Request, fault: Fault) -> web.Response:
    if fault.status == 0 and request.transport is not None:
        request.transport.abort()
    return web.Response(
        status=fault.status or 500,
        headers=fault.headers,
        body=fault.body or json.dumps({"message": "as told", "code": fault.status}).encode(),
    )


def _status(code: int, message: str) -> web.Response:
    return _json({"kind": "Status", "code": code, "message": message}, code)


def _json(document: object, status: int = 200) -> web.Response:
    if isinstance(document, bytes):
        return web.Response(body=document, status=status, content_type="application/json")
    return web.json_response(document, status=status)


def gone(code: int = 410) -> bytes:
    """Give the event by which a running watch learns that it cannot go on: its history is gone."""
    return line("ERROR", {"kind": "Status", "code": code, "message": "as told"})
