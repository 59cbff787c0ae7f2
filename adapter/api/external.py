"""Answers about external metrics: numbers that are of no object of the cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapter.api import reasons
from adapter.api.answers import encode, first_value, json_answer, refuse_watch
from adapter.api.external_wire import ExternalMetricValueList, value_list
from adapter.api.groups import EXTERNAL, V1BETA1
from adapter.api.media import require_json
from adapter.api.question import deadline_of, series_selector
from adapter.api.refusing import in_time, refusing
from adapter.api.status import shortened
from adapter.engine.external import ExternalAsk, ExternalOffer, ExternalValue
from adapter.errors import ApiError, InternalError, NotFound, ServiceUnavailable
from adapter.model.kinds import Kinds
from adapter.model.selector import Selector
from adapter.rules.external import ExternalRule


class Readings(Protocol):
    """Where values come from."""

    async def read(self, ask: ExternalAsk) -> tuple[ExternalValue, ...]:
        """Give values young enough; raises PrometheusDown or QueryRefused."""
        ...


class Offers(Protocol):
    """What is offered."""

    def find(self, metric: str) -> ExternalOffer | None:
        """Give the offer of `metric`, None when there is none."""
        ...

    @property
    def failed(self) -> tuple[ExternalRule, ...]:
        """Give the rules whose series could not be discovered."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalQuestion:
    """One question about an external metric; `deadline` is in seconds."""

    namespace: str
    metric: str
    series: Selector
    deadline: float

    @property
    def place(self) -> str:
        """Give ` in namespace NS`."""
        return f" in namespace {self.namespace}"

    def refuse(self, kind: type[ApiError], reason: str) -> ApiError:
        """Give the error that begins with the words clients know and goes on with the reason."""
        told = f"the server could not find the metric {self.metric} for namespaces: {reason}"
        return kind(shortened(told))


class ExternalValues:
    """Answers questions about external metrics from what is in memory, and Prometheus behind it."""

    def __init__(
        self,
        *,
        catalogue: Callable[[], Offers],
        board: Readings,
        kinds: Callable[[], Kinds],
        discovered: Callable[[], bool] = lambda: True,
    ) -> None:
        """Take the parts; `discovered` tells whether Prometheus has ever answered discovery."""
        self._catalogue = catalogue
        self._board = board
        self._kinds = kinds
        self._discovered = discovered

    def routes(self) -> list[Route]:
        """Give the route of the values."""
        return [
            Route(f"/apis/{EXTERNAL}/{V1BETA1}/namespaces/{{namespace}}/{{metric}}", self._endpoint)
        ]

    async def answer(self, question: ExternalQuestion) -> ExternalMetricValueList:
        """Give the list of values; it may be empty.

        Raises an ApiError: NotFound, InternalError, ServiceUnavailable or DeadlineExceeded.
        """
        offer = self._offer(question)
        ask = ExternalAsk(offer, question.namespace, question.series, self._kinds())
        async with in_time(question):
            with refusing(question, offer.rule):
                values = await self._board.read(ask)
        return value_list(question.metric, values)

    async def _endpoint(self, request: Request) -> Response:
        require_json(request.headers.get("accept", ""))
        refuse_watch(request)
        question = ExternalQuestion(
            namespace=request.path_params["namespace"],
            metric=request.path_params["metric"],
            series=series_selector("labelSelector", lambda key: first_value(request, key)),
            deadline=deadline_of(first_value(request, "timeout")),
        )
        return json_answer(request, encode(await self.answer(question)))

    def _offer(self, question: ExternalQuestion) -> ExternalOffer:
        catalogue = self._catalogue()
        if offer := catalogue.find(question.metric):
            if offer.withheld:
                raise question.refuse(InternalError, reasons.withheld(offer.rule, offer.withheld))
            return offer
        if not self._discovered():
            raise question.refuse(ServiceUnavailable, reasons.undiscovered())
        raise question.refuse(NotFound, reasons.no_external_rule(catalogue.failed))
