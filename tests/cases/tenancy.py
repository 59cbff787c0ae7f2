"""One Prometheus for many scenes: a proxy that adds `scene="..."` to each selector.

So do the proxies that give tenants their part of a shared Prometheus. It also remembers what was
asked, and breaks on demand.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpx
from aiohttp import web

CLUSTER_PREFIX = "/select/0/prometheus"
"""Under this path a scene is served as well, as some backends want it."""
Parameters = list[tuple[str, str]]
_QUOTED_OR_BRACE = re.compile(r'"(?:[^"\\]|\\.)*"|\{')


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it arrived; `parameters` holds URL query and form together."""

    scene: str
    verb: str
    path: str
    url_length: int
    parameters: Mapping[str, str]
    headers: Mapping[str, str]


Fault = Callable[[Asked], Awaitable[tuple[int, str] | None]]
"""Gives status and body in place of the right answer, None to let the request through."""


@dataclass(slots=True)
class Tenancy:
    """`url(scene)` is a Prometheus that has the series of that scene alone."""

    homes: Mapping[str, str]
    """Scene to the address of its Prometheus."""
    asked: list[Asked] = field(default_factory=list)
    faults: dict[str, Fault] = field(default_factory=dict)
    _address: str = ""
    _runner: web.AppRunner | None = None
    _http: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{scene}/{path:.*}", self._answer)
        self._http = httpx.AsyncClient(timeout=30, trust_env=False)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        [(host, port)] = [address[:2] for address in self._runner.addresses]
        self._address = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._runner:
            await self._runner.cleanup()
        if self._http:
            await self._http.aclose()

    def url(self, scene: str) -> str:
        """Where the adapter finds its Prometheus."""
        return f"{self._address}/{scene}"

    async def _answer(self, request: web.Request) -> web.Response:
        scene, told = request.match_info["scene"], f"/{request.match_info['path']}"
        path = told.removeprefix(CLUSTER_PREFIX)
        form = await request.post()
        given = [*request.query.items(), *((key, str(text)) for key, text in form.items())]
        asked = Asked(
            scene=scene,
            verb=request.method,
            path=told,
            url_length=len(str(request.rel_url)),
            parameters=dict(given),
            headers=dict(request.headers),
        )
        self.asked.append(asked)
        if (fault := self.faults.get(scene)) and (broken := await fault(asked)):
            status, text = broken
            return web.Response(status=status, text=text, content_type="application/json")
        narrowed = [(key, limited(key, text, scene)) for key, text in given]
        return await self._forwarded(self.homes[scene] + path, narrowed)

    async def _forwarded(self, url: str, parameters: Parameters) -> web.Response:
        if self._http is None:
            raise RuntimeError("the proxy is not open")
        if url.endswith("/values"):
            answer = await self._http.get(url, params=httpx.QueryParams(tuple(parameters)))
        else:
            answer = await self._http.post(url, data=_form(parameters))
        return web.Response(
            status=answer.status_code, body=answer.content, content_type="application/json"
        )


def limited(key: str, text: str, scene: str) -> str:
    """A query or a series selector that sees the scene alone; other parameters as they are."""
    if key not in {"query", "match[]"}:
        return text
    matcher = f'{{scene="{scene}",'
    if "{" not in text:
        return f"{text}{matcher}}}"
    return _QUOTED_OR_BRACE.sub(lambda found: matcher if found[0] == "{" else found[0], text)


def _form(parameters: Parameters) -> dict[str, list[str]]:
    form: dict[str, list[str]] = {}
    for key, text in parameters:
        form.setdefault(key, []).append(text)
    return form
