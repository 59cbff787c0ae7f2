"""What holds for every answer: its form, its headers, that it is counted."""

import logging

import httpx
import pytest
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapter.api.edge import Edge
from adapter.api.status import to_response
from adapter.errors import (
    ApiError,
    ClusterDown,
    Forbidden,
    PrometheusDown,
    QueryRefused,
    TooManyRequests,
    Unauthorized,
)
from adapter.telemetry import Telemetry
from tests.api.world import P1, P2, World, client, message, ref

pytestmark = pytest.mark.anyio

NO_SUCH_ROUTE = "the server could not find the requested resource"
ONE = f"{P2}/namespaces/ml/pods/llm-0/gpu_util"
KNOWN = ["/", "/apis", "/version", "/metrics", "/readyz", "/openapi/v3", P1, ONE]


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/docs",
        "/redoc",
        "/openapi.json",
        "/api",
        "/apis/apps",
        "/apis/custom.metrics.k8s.io/v1",
        f"{P2}/blah",
        f"{P2}/nodes/foo",
        f"{P2}/namespaces/ns/pods/bar",
        f"{P2}/namespaces/ns/pods/foo/m/more",
        f"{P2}//pods/x/m",
    ],
)
async def test_an_unknown_route_is_a_status(path: str) -> None:
    answer = await World().get(path)
    assert (answer.status_code, message(answer)) == (404, NO_SUCH_ROUTE)
    assert answer.json()["reason"] == "NotFound"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", KNOWN)
async def test_only_get_and_head_are_served(method: str, path: str) -> None:
    async with client(World()) as asking:
        answer = await asking.request(method, path)
    assert (answer.status_code, answer.json()["reason"]) == (405, "MethodNotAllowed")
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", KNOWN[1:])
async def test_a_trailing_slash_changes_nothing_and_redirects_nowhere(path: str) -> None:
    async with client(World()) as asking:
        plain, slashed = await asking.get(path), await asking.get(f"{path}/")
    assert plain.status_code == slashed.status_code
    assert (plain.text == slashed.text) or path == "/metrics"


@pytest.mark.parametrize("path", [*KNOWN, "/nope", f"{P2}/pods/x/m"])
async def test_every_answer_says_how_to_keep_and_read_it(path: str) -> None:
    answer = await World().get(path)
    assert answer.headers["cache-control"] == "no-cache, private"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "html" not in answer.headers["content-type"]


@pytest.mark.parametrize(
    ("accept", "code"),
    [
        ("", 200),
        ("*/*", 200),
        ("application/*", 200),
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("application/vnd.kubernetes.protobuf, */*", 200),
        ("application/vnd.kubernetes.protobuf,application/json", 200),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", 200),
        ("application/vnd.kubernetes.protobuf", 406),
        ("application/yaml", 406),
        ("application/json;as=Table;v=v1;g=meta.k8s.io", 406),
        ("application/json;q=0", 406),
        ("application/json;q=x", 406),
    ],
)
async def test_values_are_json_or_not_acceptable(accept: str, code: int) -> None:
    world = World()
    world.board.values = {ref("llm-0"): 1}
    headers = {"accept": accept} if accept else {}
    answer = await world.get(f"{P2}/namespaces/ml/pods/*/gpu_util", **headers)
    assert (answer.status_code, answer.headers["content-type"]) == (code, "application/json")


async def test_an_unforeseen_error_is_a_status_that_gives_nothing_away(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    world.board.failure = ZeroDivisionError("secret")
    with caplog.at_level(logging.ERROR, "adapter"):
        answer = await world.get(ONE)
    assert (answer.status_code, answer.json()["reason"]) == (500, "InternalError")
    assert "secret" not in answer.text
    assert [record.getMessage() for record in caplog.records] == ["unforeseen error"]


async def test_an_error_before_the_routes_is_a_status_too() -> None:
    answer = await World(middleware=[Middleware(_Refusing)]).get("/apis")
    assert (answer.status_code, message(answer)) == (401, "Unauthorized")


async def test_answers_are_counted_by_code() -> None:
    world = World()
    async with client(world) as asking:
        await asking.get("/apis")
        await asking.get("/nope")
        told = (await asking.get("/metrics")).text
    assert 'gpu_metrics_adapter_requests_total{code="200"} 1.0' in told
    assert 'gpu_metrics_adapter_requests_total{code="404"} 1.0' in told
    assert "gpu_metrics_adapter_request_duration_seconds_count 2.0" in told


async def test_metrics_are_text_of_prometheus() -> None:
    answer = await World().get("/metrics", accept="text/plain;version=0.0.4")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")


async def test_the_root_lists_what_can_be_asked() -> None:
    listed = (await World().get("/")).json()["paths"]
    assert listed == sorted(listed)
    assert {"/apis", P1, P2, "/readyz", "/openapi/v2", "/metrics", "/version"} <= set(listed)


async def test_the_version_is_the_programs() -> None:
    told = (await World().get("/version")).json()
    assert (told["major"], told["minor"], told["gitVersion"]) == ("0", "1", "v0.1.0")
    assert all(isinstance(value, str) for value in told.values())


def test_a_refused_user_learns_nothing_but_that() -> None:
    body = (
        b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        b'"message":"Unauthorized","reason":"Unauthorized","code":401}\n'
    )
    assert to_response(Unauthorized("the token has expired")).body == body


def test_details_stand_before_the_code() -> None:
    details = {"name": "*", "group": "custom.metrics.k8s.io", "kind": "pods"}
    body = bytes(to_response(Forbidden("no", details=details)).body)
    assert body.endswith(
        b'"message":"no","reason":"Forbidden","details":{"name":"*",'
        b'"group":"custom.metrics.k8s.io","kind":"pods"},"code":403}\n'
    )


def test_overload_asks_to_come_back_in_a_second() -> None:
    assert to_response(TooManyRequests("busy")).headers["retry-after"] == "1"


def test_a_cluster_that_is_down_is_an_internal_error_with_its_cause() -> None:
    answer = httpx.Response(500, content=bytes(to_response(ClusterDown("no answer")).body))
    assert message(answer) == "Internal error occurred: no answer"
    assert answer.json()["details"] == {"causes": [{"message": "no answer"}]}


@pytest.mark.parametrize("kind", ApiError.__subclasses__())
def test_every_error_of_the_api_keeps_its_code_and_reason(kind: type[ApiError]) -> None:
    response = to_response(kind("words"))
    assert response.status_code == kind.code
    assert f'"reason":"{kind.reason}"' in bytes(response.body).decode()


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (PrometheusDown("refused"), 503, "refused"),
        (QueryRefused("parse error"), 500, "Internal error occurred: parse error"),
        (TimeoutError(), 504, "Timeout: request did not complete within its deadline"),
        (HTTPException(400, "no"), 400, "no"),
        (HTTPException(507, "full"), 500, "Internal error occurred: full"),
        (RequestValidationError([]), 400, "the request's parameters cannot be read"),
    ],
)
def test_errors_of_others_get_the_code_that_fits(error: Exception, code: int, words: str) -> None:
    response = to_response(error)
    answer = httpx.Response(response.status_code, content=bytes(response.body))
    assert (answer.status_code, message(answer)) == (code, words)


async def test_an_answer_that_breaks_off_is_not_made_to_look_whole() -> None:
    world = World(middleware=[Middleware(_BreakingOff)])
    with pytest.raises(ZeroDivisionError):
        await world.get("/apis")
    assert world.telemetry.registry.get_sample_value(
        "gpu_metrics_adapter_requests_total", {"code": "200"}
    )


async def test_what_is_no_request_passes() -> None:
    passed = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        passed.append(scope["type"])

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    await Edge(inner, Telemetry())({"type": "lifespan"}, receive, send)
    assert passed == ["lifespan"]


class _BreakingOff:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError


class _Refusing:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise Unauthorized("nobody")
