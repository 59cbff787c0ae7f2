"""A little Prometheus behind httpx's seam: answers by query text, and faults on demand."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

import httpx

Series = Mapping[str, str]


def vector(*samples: tuple[Series, float | str], timestamp: float = 1000.0) -> object:
    """Give the data of an instant vector: label sets and values."""
    result = [{"metric": labels, "value": [timestamp, str(value)]} for labels, value in samples]
    return {"resultType": "vector", "result": result}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived; `params` holds URL query and form together."""

    verb: str
    url: httpx.URL
    headers: httpx.Headers
    params: Mapping[str, str]

    @property
    def path(self) -> str:
        """Give the path with its prefix."""
        return self.url.path


@dataclass(slots=True, kw_only=True)
class FakePrometheus(httpx.AsyncBaseTransport):
    """Answers from `vectors` by query, `names`, `labels` and `series` by match, else emptily.

    `types` are those of metrics, as exporters tell them.

    `fault`, when set, takes the place of every answer: a response, or an exception to raise. An
    open `gate` lets answers out; clear it to hold them.
    """

    vectors: dict[str, object] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    series: dict[str, list[Series]] = field(default_factory=dict)
    types: dict[str, list[str]] = field(default_factory=dict)
    fault: httpx.Response | Exception | None = None
    missing: frozenset[str] = frozenset()
    asked: list[Asked] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Open the gate."""
        self.gate.set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as Prometheus would, or as told."""
        body = (await request.aread()).decode()
        params = dict(request.url.params) | dict(parse_qsl(body))
        self.asked.append(Asked(request.method, request.url, request.headers, params))
        await self.gate.wait()
        if isinstance(self.fault, Exception):
            raise self.fault
        if self.fault is not None:
            return httpx.Response(self.fault.status_code, content=self.fault.content)
        if any(request.url.path.endswith(path) for path in self.missing):
            return httpx.Response(404, text="404 page not found")
        return httpx.Response(200, json={"status": "success", "data": self._data(request, params)})

    def queries(self) -> list[str]:
        """Give the queries asked, in order."""
        return [asked.params["query"] for asked in self.asked if "query" in asked.params]

    def _data(self, request: httpx.Request, params: Mapping[str, str]) -> object:
        match = params.get("match[]", "")
        if request.url.path.endswith("/query"):
            return self.vectors.get(params["query"], vector())
        if request.url.path.endswith("/metadata"):
            told = [{"type": kind} for kind in self.types.get(params["metric"], [])]
            return {params["metric"]: told} if told else {}
        if request.url.path.endswith("/values"):
            return self.names.get(match, [])
        if request.url.path.endswith("/labels"):
            return self.labels.get(match, [])
        return self.series.get(match, [])
