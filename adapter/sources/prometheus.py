"""Prometheus and whatever speaks its HTTP API, over one pooled client.

Source of the endpoints and their answers: Prometheus's HTTP API, version 1. Codes 400 and 422
mean that the query is at fault, 503 that it ran out of time; both carry Prometheus's own words.
"""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

import httpx

from adapter.errors import EndpointMissing, InputError, PrometheusDown, SourceError
from adapter.model.objects import Sample
from adapter.settings import PrometheusSettings
from adapter.sources import prometheus_answers as answers
from adapter.sources.prometheus_access import Access, address
from adapter.telemetry import Telemetry

_LONGEST_GET = 4096
_AT_ONCE = 16
_NOT_SERVED = frozenset({404, 405, 501})
_QUERY = "/api/v1/query"
_NAMES = "/api/v1/label/__name__/values"
_LABELS = "/api/v1/labels"
_SERIES = "/api/v1/series"
Fields = tuple[tuple[str, str], ...]
Read = TypeVar("Read")


class Prometheus:
    """Asks Prometheus; every error is a SourceError whose text carries no credential.

    At most sixteen requests run at once; a request takes at most `settings.timeout` seconds, the
    wait for its turn included.
    """

    def __init__(
        self,
        settings: PrometheusSettings,
        telemetry: Telemetry,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Read the files that `settings` names; raises InputError for what cannot be used."""
        self._settings = settings
        self._telemetry = telemetry
        self._address = address(settings.url)
        self._access = Access(settings)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._client = httpx.AsyncClient(
            verify=self._access.context,
            timeout=settings.timeout,
            limits=httpx.Limits(max_connections=_AT_ONCE, max_keepalive_connections=_AT_ONCE),
            transport=transport,
        )

    async def query(self, promql: str) -> list[Sample]:
        """Give the instant vector of `promql` at Prometheus's own now.

        Raises QueryRefused with Prometheus's words, or when the answer is no instant vector, and
        PrometheusDown when there is no usable answer.
        """
        timeout = f"{self._settings.timeout * 1000:.0f}ms"
        fields = (("query", promql), ("timeout", timeout))
        return await self._ask(_QUERY, fields, answers.vector)

    async def metric_names(self, match: str, *, start: float, end: float) -> list[str]:
        """Give the names of the series that `match` selects between two Unix times.

        Raises EndpointMissing where the backend cannot say, QueryRefused and PrometheusDown.
        """
        return await self._ask(_NAMES, _span(match, start, end), answers.names)

    async def label_names(self, match: str, *, start: float, end: float) -> list[str]:
        """Give the label names of the series that `match` selects; raises as `metric_names`."""
        return await self._ask(_LABELS, _span(match, start, end), answers.names)

    async def series(self, match: str, *, start: float, end: float) -> list[dict[str, str]]:
        """Give the label sets of the series that `match` selects; raises as `metric_names`."""
        return await self._ask(_SERIES, _span(match, start, end), answers.series)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _ask(self, path: str, fields: Fields, read: Callable[[bytes], Read]) -> Read:
        began, outcome = time.perf_counter(), "down"
        try:
            answer = read(await self._body(path, fields))
            outcome = "ok"
        except SourceError as error:
            outcome = answers.outcome(error)
            raise
        finally:
            self._telemetry.queries.labels(path, outcome).inc()
            self._telemetry.query_seconds.labels(path).observe(time.perf_counter() - began)
        return answer

    async def _body(self, path: str, fields: Fields) -> bytes:
        response = await self._response(path, fields)
        if response.status_code in _NOT_SERVED and path != _QUERY:
            message = f"Prometheus does not serve {path}: it answered {response.status_code}"
            raise EndpointMissing(message)
        answers.check(response.status_code, response.content)
        return response.content

    async def _response(self, path: str, fields: Fields) -> httpx.Response:
        try:
            async with asyncio.timeout(self._settings.timeout), self._turns:
                response = await self._send(path, fields)
                if response.status_code == 401 and self._access.renew():
                    response = await self._send(path, fields)
                return response
        except (TimeoutError, httpx.TimeoutException) as error:
            message = f"Prometheus did not answer within {self._settings.timeout:g} s"
            raise PrometheusDown(message) from error
        except (httpx.HTTPError, httpx.InvalidURL, InputError, OSError, ValueError) as error:
            message = f"Prometheus cannot be reached: {_cause(error)}"
            raise PrometheusDown(message) from error

    async def _send(self, path: str, fields: Fields) -> httpx.Response:
        url, headers = self._address.at(path), await self._access.headers()
        if self._verb(path, fields) == "GET":
            return await self._client.get(url.copy_merge_params(fields), headers=headers)
        return await self._client.post(url, headers=headers, data=dict(fields))

    def _verb(self, path: str, fields: Fields) -> str:
        # Prometheus serves a label's values by GET alone.
        if path == _NAMES:
            return "GET"
        length = sum(len(key) + len(value) for key, value in fields)
        return "POST" if length > _LONGEST_GET else self._settings.verb


def _span(match: str, start: float, end: float) -> Fields:
    return (("match[]", match), ("start", f"{start:.3f}"), ("end", f"{end:.3f}"))


def _cause(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text or type(error).__name__
