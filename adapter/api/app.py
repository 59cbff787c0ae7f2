"""The whole API as one ASGI application, put together from parts that are ready made."""

import platform
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from prometheus_client.exposition import choose_encoder
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from adapter.api.answers import encode, first_value, json_answer
from adapter.api.discovery import Catalogue, DiscoveryDocuments
from adapter.api.edge import Edge
from adapter.api.health import Health
from adapter.api.media import require_json
from adapter.api.openapi import OpenApi
from adapter.api.question import Question, about_namespace, about_objects
from adapter.api.status import to_response
from adapter.api.wire import GROUP, VERSIONS, MetricValueList
from adapter.errors import BadRequest
from adapter.telemetry import Telemetry

Endpoint = Callable[[Request], Awaitable[Response]]
Reader = Callable[[str, dict[str, str], Callable[[str], str]], Question]


class Answers(Protocol):
    """Who answers questions about values."""

    async def answer(self, question: Question) -> MetricValueList:
        """Give the values, or raise an ApiError."""
        ...


def create_app(
    *,
    values: Answers,
    catalogue: Callable[[], Catalogue],
    health: Health,
    telemetry: Telemetry,
    version: str,
    middleware: Sequence[Middleware] = (),
) -> FastAPI:
    """Give the application; `version` is the program's, `middleware` stands before its routes.

    Every failure, one of `middleware` included, leaves as a Status. There are no redirects, no
    HTML and no pages of the framework's own.
    """
    routes: list[BaseRoute] = [
        *_value_routes(values),
        *DiscoveryDocuments(catalogue).routes(),
        *OpenApi(version).routes(),
        *health.routes(),
        Route("/version", _version(version)),
        Route("/metrics", _metrics(telemetry)),
    ]
    return FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        routes=[*routes, Route("/", _paths(routes))],
        middleware=[Middleware(Edge, telemetry), *middleware],
        exception_handlers=dict.fromkeys((HTTPException, RequestValidationError), _told),
    )


async def _told(request: Request, error: Exception) -> Response:
    return to_response(error)


def _value_routes(values: Answers) -> list[Route]:
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


def _version(version: str) -> Endpoint:
    major, minor, *_ = [*version.split("."), "", ""]
    body = {
        "major": major,
        "minor": minor,
        "gitVersion": f"v{version}",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "",
        "goVersion": "",
        "compiler": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{sys.platform}/{platform.machine()}",
    }

    async def endpoint(request: Request) -> Response:
        return json_answer(request, encode(body))

    return endpoint


def _metrics(telemetry: Telemetry) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        encoder, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encoder(telemetry.registry), headers={"content-type": content_type})

    return endpoint


def _paths(routes: Sequence[BaseRoute]) -> Endpoint:
    listed = [route.path for route in routes if isinstance(route, Route) and "{" not in route.path]
    body = encode({"paths": sorted(listed)})

    async def endpoint(request: Request) -> Response:
        return json_answer(request, body)

    return endpoint
