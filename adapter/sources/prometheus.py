"""Prometheus and whatever speaks its HTTP API, over one pooled client.

Source of the endpoints and their answers: Prometheus's HTTP API, version 1. Codes 400 and 422
mean that the query is at fault, 503 that it ran out of time; both carry Prometheus's own words.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import httpx

from adapter.errors import EndpointMissing, InputError, PrometheusDown, SourceError
from adapter.model.objects import Sample
from adapter.settings import PrometheusSettings
from adapter.sources import prometheus_answers as answers
from adapter.sources.prometheus_access import Access, Headers
from adapter.sources.prometheus_address import address, onward
from adapter.sources.prometheus_answers import Answer
from adapter.sources.prometheus_clients import Clients
from adapter.sources.prometheus_request import (
    DISCOVERY,
    LABELS,
    METADATA,
    NAMES,
    QUERY,
    SERIES,
    Request,
)
from adapter.telemetry import Telemetry

log = logging.getLogger(__name__)
_QUERIES_AT_ONCE, _DISCOVERIES_AT_ONCE = 16, 8
_MOST_REDIRECTS = 3
_BAD_REQUEST = 400
_NOT_SERVED = frozenset({404, 405, 501})
# What a Prometheus with remote_read says of names and labels, be the remote store well or not.
_NOT_BY_NAME = "not implemented"
_NOTHING = "no_such_series_as_gpu_metrics_adapter_asks_for"
# Longer than the pause between two refreshes, shorter than servers keep an idle connection.
_KEEP_IDLE = 20.0
_UNREACHABLE = (
    httpx.HTTPError,
    httpx.InvalidURL,
    # A kubeconfig that cannot be read, and a proxy of a kind that httpx lacks a package for.
    InputError,
    ImportError,
    OSError,
    ValueError,
)
Values = TypeVar("Values")
Read = Callable[[bytes], Answer[Values]]


class Prometheus:
    """Asks Prometheus; every error is a SourceError whose text carries no credential.

    At most sixteen queries and eight discovery calls run at once, so that discovery never keeps
    readings waiting. A call takes at most `settings.timeout` seconds: a query with the wait for
    its turn, a discovery call from its turn on. An answer that says that it is partial is counted;
    with `settings.strict` it is PrometheusDown, or EndpointMissing for names and labels.
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
        self._transport = transport
        self._address = address(settings.url)
        self._access = Access(settings)
        self._clients = Clients(self._client)
        self._queries = asyncio.Semaphore(_QUERIES_AT_ONCE)
        self._discoveries = asyncio.Semaphore(_DISCOVERIES_AT_ONCE)
        self._partial: set[str] = set()
        self._narrowing: bool | None = None

    async def query(self, promql: str) -> list[Sample]:
        """Give the instant vector of `promql` at Prometheus's own now.

        Raises QueryRefused with Prometheus's words, or when the answer is no instant vector, and
        PrometheusDown when there is no usable answer.
        """
        return await self._ask(QUERY, (("query", promql),), answers.vector)

    async def metric_names(self, match: str, *, start: float, end: float) -> list[str]:
        """Give the names of the series that `match` selects between two Unix times.

        Raises EndpointMissing where the backend cannot say, QueryRefused and PrometheusDown.
        """
        names = await self._ask(NAMES, _span(match, start, end), answers.names)
        if names and not await self._narrows(start, end):
            message = "Prometheus lists the names of all series, whatever is selected"
            raise EndpointMissing(message)
        return names

    async def label_names(self, match: str, *, start: float, end: float) -> list[str]:
        """Give the label names of the series that `match` selects; raises as `metric_names`."""
        return await self._ask(LABELS, _span(match, start, end), answers.names)

    async def series(self, match: str, *, start: float, end: float) -> list[dict[str, str]]:
        """Give the label sets of the series that `match` selects; raises as `metric_names`."""
        return await self._ask(SERIES, _span(match, start, end), answers.series)

    async def kind_of(self, metric: str) -> str:
        """Give the type that exporters tell for `metric`: `gauge`, `counter` and so on.

        Empty when none is known, or when exporters differ; raises as `metric_names`.
        """
        kinds = await self._ask(METADATA, (("metric", metric),), answers.kinds)
        return kinds[0] if len(kinds) == 1 else ""

    async def moments(self, selector: str) -> list[list[float]]:
        """Give when each series of a range selector was scraped, Unix seconds; raises as `query`."""
        return await self._ask(QUERY, (("query", selector),), answers.moments)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._clients.aclose()

    async def _narrows(self, start: float, end: float) -> bool:
        """Tell whether a selector narrows the names; versions before 2.24 pass over it in silence.

        Asked once, when there are names, with a selector that must give none.
        """
        if self._narrowing is None:
            names = await self._ask(NAMES, _span(_NOTHING, start, end), answers.names)
            self._narrowing = not names
        return self._narrowing

    async def _ask(
        self, path: str, fields: tuple[tuple[str, str], ...], read: Read[Values]
    ) -> Values:
        request, began = Request.of(path, fields, self._settings), time.perf_counter()
        answer = await self._answer(request, read)
        self._note(request, answer, time.perf_counter() - began)
        if isinstance(answer, SourceError):
            raise self._access.secrets.without(answer)
        return answer.values

    async def _answer(self, request: Request, read: Read[Values]) -> Answer[Values] | SourceError:
        try:
            answer = read(await self._body(request))
        except SourceError as error:
            return error
        self._note_partial(request.path, answer.partial)
        return self._refusal(request.path, answer.partial) or answer

    def _refusal(self, path: str, partial: str) -> SourceError | None:
        """Give what a partial answer stands for, None when it is used.

        Where names and labels are told in part the series themselves may be told whole.
        """
        strict = self._settings.strict and partial
        message = f"Prometheus answered in part only: {partial}"
        if path in {NAMES, LABELS} and (strict or partial == _NOT_BY_NAME):
            return EndpointMissing(message)
        return PrometheusDown(message) if strict else None

    def _note(self, request: Request, answer: object, seconds: float) -> None:
        outcome = answers.outcome(answer) if isinstance(answer, SourceError) else "ok"
        self._telemetry.queries.labels(request.path, outcome).inc()
        self._telemetry.query_seconds.labels(request.path).observe(seconds)
        extra = {"verb": request.verb, "path": request.path, "asks": request.fields[0][1]}
        log.debug("asked Prometheus", extra={**extra, "outcome": outcome, "seconds": seconds})

    def _note_partial(self, path: str, words: str) -> None:
        if not words:
            self._partial.discard(path)
            return
        self._telemetry.partial_answers.labels(path).inc()
        if path not in self._partial:
            self._partial.add(path)
            cause = self._access.secrets.hidden(words)
            log.warning("Prometheus answers in part", extra={"path": path, "cause": cause})

    async def _body(self, request: Request) -> bytes:
        response = await self._response(request)
        status = response.status_code
        if status in _NOT_SERVED and request.path in DISCOVERY:
            message = f"Prometheus does not serve {request.path}: it answered {status}"
            raise EndpointMissing(message)
        if status == _BAD_REQUEST and request.path in {NAMES, LABELS}:
            # A backend may refuse `match[]` here; a selector that is wrong is refused everywhere.
            message = f"Prometheus refuses {request.path}: {answers.words(response.content)}"
            raise EndpointMissing(message)
        if status in _NOT_SERVED and request.overlong:
            message = f"Prometheus answered {status} to a long query, sent by POST"
            raise PrometheusDown(f"{message}; --prometheus-force-get sends it by GET")
        answers.check(status, response.content)
        return response.content

    async def _response(self, request: Request) -> httpx.Response:
        try:
            async with self._turn(request):
                headers = await self._access.headers()
                response = await self._send(request, headers)
                if response.status_code == 401 and (renewed := await self._access.renewed(headers)):
                    response = await self._send(request, renewed)
                return response
        except (TimeoutError, httpx.TimeoutException) as error:
            message = f"Prometheus did not answer within {self._settings.timeout:g} s"
            raise PrometheusDown(message) from error
        except _UNREACHABLE as error:
            message = f"Prometheus cannot be reached: {_cause(error)}"
            raise PrometheusDown(message) from error

    @asynccontextmanager
    async def _turn(self, request: Request) -> AsyncIterator[None]:
        patience = self._settings.timeout
        if request.path in DISCOVERY:
            async with self._discoveries, asyncio.timeout(patience):
                yield
        else:
            async with asyncio.timeout(patience), self._queries:
                yield

    async def _send(self, request: Request, headers: Headers) -> httpx.Response:
        url = request.url(self._address)
        for _ in range(_MOST_REDIRECTS):
            response = await self._exchange(request, url, headers)
            further = onward(url, response)
            if further is None:
                return response
            if further.scheme == "https":
                self._access.expect_tls()
            url = further
        message = f"Prometheus redirects more than {_MOST_REDIRECTS} times"
        raise PrometheusDown(message)

    async def _exchange(self, request: Request, url: httpx.URL, headers: Headers) -> httpx.Response:
        sent = [(name.encode(), value.encode()) for name, value in headers]
        async with self._clients.lent(self._access.context) as client:
            return await client.request(request.verb, url, headers=sent, data=request.form)

    def _client(self, context: ssl.SSLContext) -> httpx.AsyncClient:
        most = _QUERIES_AT_ONCE + _DISCOVERIES_AT_ONCE
        return httpx.AsyncClient(
            verify=context,
            timeout=self._settings.timeout,
            limits=httpx.Limits(
                max_connections=most,
                max_keepalive_connections=most,
                keepalive_expiry=_KEEP_IDLE,
            ),
            transport=self._transport,
        )


def _span(match: str, start: float, end: float) -> tuple[tuple[str, str], ...]:
    return (("match[]", match), ("start", f"{start:.3f}"), ("end", f"{end:.3f}"))


def _cause(error: Exception) -> str:
    # What cannot be sent would be shown as it is, credentials included.
    if isinstance(error, httpx.LocalProtocolError | UnicodeError):
        return "the request holds what HTTP cannot carry"
    text = " ".join(str(error).split())
    return text or type(error).__name__
