"""The routes of custom.metrics.k8s.io: metrics of objects."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapter.api.answers import encode, first_value, json_answer
from adapter.api.media import require_json
from adapter.api.question import Question, about_namespace, about_objects
from adapter.api.wire import GROUP, VERSIONS, MetricValueList
from adapter.errors import BadRequest

Endpoint = Callable[[Request], Awaitable[Response]]
Reader = Callable[[str, dict[str, str], Callable[[str], str]], Question]


class Answers(Protocol):
    """Who answers questions about values."""

    async def answer(self, question: Question) -> MetricValueList:
        """Give the values, or raise an ApiError."""
        ...


def custom_routes(values: Answers) -> list[Route]:
    """Give the routes of the values of both versions."""
    return [route for version in VERSIONS for route in _routes_of(version, values)]


def _routes_of(version: str, values: Answers) -> list[Route]:
    root = f"/apis/{GROUP}/{version}"
    objects = _values(values, version, about_objects)
    metric = "{resource}/{name}/{metric}"
    return [
        Route(
            f"{root}/namespaces/{{namespace}}/metrics/{{metric}}",
            _values(values, version, about_namespace),
        ),
        Route(f"{root}/namespaces/{{namespace}}/{metric}", objects),
        Route(f"{root}/namespaces/{{namespace}}/{{rest}}", _too_short),
        Route(f"{root}/{metric}", objects),
    ]


def _values(values: Answers, version: str, read: Reader) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        require_json(request.headers.get("accept", ""))
        question = read(version, request.path_params, lambda key: first_value(request, key))
        return json_answer(request, encode(await values.answer(question)))

    return endpoint


async def _too_short(request: Request) -> Response:
    msg = "invalid request path: a namespace's own metric is at namespaces/NAMESPACE/metrics/METRIC"
    raise BadRequest(msg)
