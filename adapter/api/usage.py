"""The routes of metrics.k8s.io: what pods and nodes use, as lists, singly and as tables."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapter.api.answers import encode, first_value, json_answer, refuse_watch
from adapter.api.groups import RESOURCE, V1BETA1
from adapter.api.media import prefers_table
from adapter.api.table import table
from adapter.api.usage_question import UsageQuestion, about_usage
from adapter.api.usage_wire import Consumer, Frame, listed, single
from adapter.model.kinds import NODES, PODS
from adapter.model.objects import Resource
from adapter.rules.resource_rules import ResourceRules

Endpoint = Callable[[Request], Awaitable[Response]]


class Finds(Protocol):
    """Who knows the consumers."""

    async def find(self, question: UsageQuestion) -> list[Consumer]:
        """Give those that are asked for, exactly one by name, or raise an ApiError."""
        ...


class UsageValues:
    """Answers questions about use in the form that is asked for."""

    def __init__(
        self,
        consumers: Finds,
        rules: Callable[[], ResourceRules | None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the parts; `rules` gives those of the moment, `clock` Unix time."""
        self._consumers = consumers
        self._rules = rules
        self._clock = clock

    def routes(self) -> list[Route]:
        """Give the routes of lists and single objects."""
        root = f"/apis/{RESOURCE}/{V1BETA1}"
        pods, nodes = self._endpoint(PODS), self._endpoint(NODES)
        return [
            Route(f"{root}/nodes", nodes),
            Route(f"{root}/nodes/{{name}}", nodes),
            Route(f"{root}/pods", pods),
            Route(f"{root}/namespaces/{{namespace}}/pods", pods),
            Route(f"{root}/namespaces/{{namespace}}/pods/{{name}}", pods),
        ]

    def _endpoint(self, resource: Resource) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            tabular = prefers_table(request.headers.get("accept", ""))
            refuse_watch(request)
            question = about_usage(
                resource, request.path_params, lambda key: first_value(request, key)
            )
            consumers = await self._consumers.find(question)
            frame = Frame(kind=question.kind, now=self._clock(), window=self._window())
            if tabular:
                shown = first_value(request, "includeObject")
                return json_answer(request, encode(table(frame, consumers, shown)))
            return json_answer(request, encode(_plain(question, frame, consumers)))

        return endpoint

    def _window(self) -> float:
        rules = self._rules()
        return rules.window if rules else 0.0


def _plain(question: UsageQuestion, frame: Frame, consumers: Sequence[Consumer]) -> object:
    return single(frame, consumers[0]) if question.name else listed(frame, consumers)
