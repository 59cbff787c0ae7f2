"""The whole API as one ASGI application, put together from parts that are ready made."""

import platform
import sys
from collections.abc import Awaitable, Callable, Sequence

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from prometheus_client.exposition import choose_encoder
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from adapter.api.answers import encode, json_answer
from adapter.api.apis import Api
from adapter.api.discovery import DiscoveryDocuments
from adapter.api.edge import Edge
from adapter.api.health import Health
from adapter.api.openapi import OpenApi
from adapter.api.status import to_response
from adapter.telemetry import Telemetry

Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(
    *,
    apis: Sequence[Api],
    health: Health,
    telemetry: Telemetry,
    version: str,
    middleware: Sequence[Middleware] = (),
) -> FastAPI:
    """Give the application that serves `apis` and what belongs to every server of Kubernetes.

    `version` is the program's, `middleware` stands before its routes.

    Every failure, one of `middleware` included, leaves as a Status. There are no redirects, no
    HTML and no pages of the framework's own.
    """
    routes: list[BaseRoute] = [
        *(route for api in apis for route in api.routes),
        *DiscoveryDocuments([api.group for api in apis]).routes(),
        *OpenApi(version, apis).routes(),
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
