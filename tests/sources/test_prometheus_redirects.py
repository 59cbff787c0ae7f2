"""Redirects: followed on the same host alone, as the credentials go with them."""

import traceback
from collections.abc import Callable
from urllib.parse import parse_qs

import httpx
import pytest

from adapter.errors import PrometheusDown
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry

pytestmark = pytest.mark.anyio
EMPTY = httpx.Response(200, text='{"status":"success","data":{"resultType":"vector","result":[]}}')
Answer = Callable[[httpx.Request], httpx.Response]


def sending(status: int, location: str, answer: httpx.Response = EMPTY) -> Answer:
    """Redirect the first request, and answer those to where it was sent."""
    there = httpx.URL("http://prom/").join(location)

    def handle(request: httpx.Request) -> httpx.Response:
        if (request.url.scheme, request.url.path) == (there.scheme, there.path):
            return answer
        return httpx.Response(status, headers={"Location": location})

    return handle


def asking(answer: Answer, **more: object) -> tuple[Prometheus, list[httpx.Request]]:
    asked: list[httpx.Request] = []

    def noting(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answer(request)

    settings = PrometheusSettings(**{"url": "http://prom", **more})  # type: ignore[arg-type]  # each test names its own
    seam = httpx.MockTransport(noting)
    return Prometheus(settings, Telemetry(), transport=seam), asked


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("location", ["/p/api/v1/query?query=up", "https://prom/api/v1/query"])
async def test_the_same_host_is_followed_to_another_path_and_to_https(
    status: int, location: str
) -> None:
    prometheus, asked = asking(sending(status, location), headers=(("X-Key", "k"),))
    assert await prometheus.query("up") == []
    assert asked[1].url == httpx.URL("http://prom/").join(location)
    assert asked[1].headers["x-key"] == "k"


async def test_a_posted_query_is_posted_again() -> None:
    prometheus, asked = asking(sending(301, "https://prom/api/v1/query"), verb="POST")
    await prometheus.query("up")
    assert asked[1].method == "POST"
    assert parse_qs(asked[1].content.decode())["query"] == ["up"]


@pytest.mark.parametrize(
    "location",
    [
        "http://other/api/v1/query",
        "//u:s3cr3t@other/?token=s3cr3t",
        "http://prom:8080/",
        "ftp://prom/",
    ],
)
async def test_another_host_port_or_protocol_is_named_and_not_followed(location: str) -> None:
    prometheus, asked = asking(lambda _: httpx.Response(302, headers={"Location": location}))
    with pytest.raises(
        PrometheusDown, match=r"302: it sends us to (http://other|http://prom:8080|ftp://prom),"
    ) as caught:
        await prometheus.query("up")
    assert "s3cr3t" not in str(caught.value)
    assert len(asked) == 1


async def test_https_is_never_left_for_http() -> None:
    answer = sending(302, "http://prom/other")
    prometheus, asked = asking(answer, url="https://prom")
    with pytest.raises(PrometheusDown, match="it sends us to http://prom,"):
        await prometheus.query("up")
    assert len(asked) == 1


async def test_user_info_in_a_redirect_is_not_sent() -> None:
    prometheus, asked = asking(sending(302, "http://a:b@prom/other"))
    await prometheus.query("up")
    assert "authorization" not in asked[1].headers


async def test_redirects_without_end_are_prometheus_down() -> None:
    prometheus, asked = asking(lambda _: httpx.Response(302, headers={"Location": "/again"}))
    with pytest.raises(PrometheusDown, match="more than 3 times"):
        await prometheus.query("up")
    assert len(asked) == 3


async def test_a_redirect_to_no_url_is_told_without_it() -> None:
    location = {"Location": "http://u:s3cr3t/@other"}
    prometheus, _ = asking(lambda _: httpx.Response(302, headers=location))
    with pytest.raises(PrometheusDown, match=r"Invalid URL in location header$") as caught:
        await prometheus.query("up")
    assert "s3cr3t" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None
