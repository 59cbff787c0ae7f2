"""Answers that are not whole: counted, told once, and refused when the user is strict."""

import logging

import httpx
import pytest

from adapter.errors import EndpointMissing, PrometheusDown
from adapter.options import parse
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry

pytestmark = pytest.mark.anyio
WHOLE = '{"status":"success","data":{"resultType":"vector","result":[]}}'
WARNED = WHOLE.replace('"data"', '"warnings":["store-1: no route"],"data"')
NAMES = '{"status":"success","warnings":["%s"],"data":["up"]}'
PARTIAL = WHOLE.replace('"data"', '"isPartial":true,"data"')


class Backend:
    """Prometheus behind httpx's seam, which answers with `body`, and our client of it."""

    def __init__(self, body: str, *, strict: bool = False) -> None:
        self.body = body
        self.telemetry = Telemetry()
        settings = PrometheusSettings(url="http://prom", strict=strict)
        seam = httpx.MockTransport(lambda _: httpx.Response(200, text=self.body))
        self.client = Prometheus(settings, self.telemetry, transport=seam)

    @property
    def partial_answers(self) -> float | None:
        name = "gpu_metrics_adapter_prometheus_partial_answers_total"
        return self.telemetry.registry.get_sample_value(name, {"path": "/api/v1/query"})


@pytest.mark.parametrize("body", [WARNED, PARTIAL])
async def test_a_partial_answer_is_used_and_counted(body: str) -> None:
    backend = Backend(body)
    assert await backend.client.query("up") == []
    assert backend.partial_answers == 1


async def test_a_whole_answer_is_not_counted() -> None:
    backend = Backend(WHOLE)
    await backend.client.query("up")
    assert backend.partial_answers is None


@pytest.mark.parametrize(
    ("body", "words"), [(WARNED, "store-1: no route"), (PARTIAL, "it says isPartial")]
)
async def test_strict_takes_a_partial_answer_for_an_outage(body: str, words: str) -> None:
    backend = Backend(body, strict=True)
    with pytest.raises(PrometheusDown, match=f"in part only: {words}"):
        await backend.client.query("up")
    assert backend.partial_answers == 1


async def test_strict_lets_a_whole_answer_pass() -> None:
    assert await Backend(WHOLE, strict=True).client.query("up") == []


async def test_strict_asks_for_series_where_names_and_labels_are_partial() -> None:
    client = Backend(NAMES % "no route", strict=True).client
    with pytest.raises(EndpointMissing, match="no route"):
        await client.metric_names("up", start=0, end=1)
    with pytest.raises(EndpointMissing, match="no route"):
        await client.label_names("up", start=0, end=1)


async def test_strict_takes_partial_series_for_an_outage() -> None:
    body = '{"status":"success","warnings":["no route"],"data":[]}'
    with pytest.raises(PrometheusDown, match="no route"):
        await Backend(body, strict=True).client.series("up", start=0, end=1)


async def test_names_that_a_remote_store_cannot_tell_are_asked_as_series_in_any_case() -> None:
    client = Backend(NAMES % "not implemented").client
    with pytest.raises(EndpointMissing, match="not implemented"):
        await client.label_names("up", start=0, end=1)


async def test_partial_names_are_used_otherwise() -> None:
    client = Backend(NAMES % "no route").client
    assert await client.label_names("up", start=0, end=1) == ["up"]


async def test_partial_answers_are_told_once_until_one_is_whole_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    backend = Backend(WHOLE)
    for backend.body in (WARNED, WARNED, WHOLE, WARNED):
        await backend.client.query("up")
    assert [record.message for record in caplog.records] == ["Prometheus answers in part"] * 2


def test_strict_is_a_flag_and_off() -> None:
    assert not parse([]).prometheus.strict
    assert parse(["--strict"]).prometheus.strict
