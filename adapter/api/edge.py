"""The outermost layer: paths tidied, every failure a Status, every answer counted."""

import time
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapter.api.status import to_response
from adapter.telemetry import Telemetry


class Edge:
    """Wraps everything that answers, the gate included, so that nothing leaves in another form.

    A path with a trailing slash is the path without it: kube-apiserver takes a redirect for a
    failure, so none is ever sent.
    """

    def __init__(
        self, app: ASGIApp, telemetry: Telemetry, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """Wrap `app`; `clock` is monotonic, in seconds."""
        self._app = app
        self._telemetry = telemetry
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; other kinds of connection pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = self._clock()
        answer = _Answer(send)
        try:
            await self._attempt(_tidied(scope), receive, answer)
        finally:
            self._telemetry.requests.labels(str(answer.code or 499)).inc()
            self._telemetry.request_seconds.observe(self._clock() - started)

    async def _attempt(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        try:
            await self._app(scope, receive, answer)
        except Exception as error:
            if answer.code:
                raise
            await to_response(error)(scope, receive, answer)


class _Answer:
    """A `send` that remembers the code; 0 until the answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.code = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.code = int(message["status"])
            headers = MutableHeaders(scope=message)
            headers.setdefault("cache-control", "no-cache, private")
            headers.setdefault("x-content-type-options", "nosniff")
        await self._send(message)


def _tidied(scope: Scope) -> Scope:
    path = str(scope["path"])
    return {**scope, "path": path.rstrip("/") or "/"} if path.endswith("/") else scope
