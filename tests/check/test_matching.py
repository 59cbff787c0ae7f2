"""One rule before a Prometheus that answers as told: what it lacks, what it refuses."""

from typing import Any

import httpx
import pytest

from adapter.check.backend import Look
from adapter.check.matching import Matching
from adapter.check.report import Matched
from adapter.errors import PrometheusDown
from adapter.model.kinds import Kinds
from adapter.model.objects import Sample
from adapter.rules.config import load
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry
from tests.check.files import CLEAN
from tests.fakes.prometheus import FakePrometheus, vector

pytestmark = pytest.mark.anyio

SELECTOR = 'queue_length{exported_pod!=""}'
GPU = {
    "__name__": "queue_length",
    "exported_pod": "llm-0",
    "exported_namespace": "ml",
    "instance": "a",
}


def looking(fake: FakePrometheus) -> Look:
    settings = PrometheusSettings(url="http://prom:9090")
    backend = Prometheus(settings, Telemetry(), transport=fake)
    return Look(backend=backend, start=0, end=1)


async def match(fake: FakePrometheus, text: str = CLEAN) -> tuple[Matched, list[str]]:
    [rule] = load(text, "rules.yaml").rules
    matching = Matching(rule, looking(fake), Kinds())
    matched = await matching.matched()
    return matched, [finding.fault for finding in matching.findings]


async def test_a_backend_without_names_and_labels_is_asked_for_series() -> None:
    fake = FakePrometheus(series={SELECTOR: [GPU]}, missing=frozenset({"/values", "/labels"}))

    matched, _ = await match(fake)

    assert matched.names == ("queue_length",)
    assert matched.labels == ("exported_namespace", "exported_pod", "instance")
    assert [offered.resource for offered in matched.metrics] == ["namespaces", "pods"]


async def test_a_backend_without_metadata_leaves_kinds_to_the_names() -> None:
    fake = FakePrometheus(missing=frozenset({"/metadata"}))

    assert await looking(fake).kind("jobs_total") == "counter"
    assert await looking(fake).kind("jobs") == ""


async def test_a_series_query_that_prometheus_refuses_is_told_in_its_words() -> None:
    refusal = httpx.Response(422, json={"status": "error", "errorType": "execution", "error": "no"})
    _, faults = await match(FakePrometheus(fault=refusal))

    assert faults == ["Prometheus refuses it: execution: no"]


async def test_a_prometheus_that_is_down_is_no_finding_of_a_rule() -> None:
    with pytest.raises(PrometheusDown):
        await match(FakePrometheus(fault=httpx.ConnectError("refused")))


@pytest.mark.parametrize(
    ("times", "interval"),
    [([], None), ([10, 25], None), ([10, 25, 40, 90], 15), ([1, 6.002, 11.001], 5)],
)
async def test_the_interval_is_the_usual_pause_of_at_least_three_scrapes(
    times: list[float], interval: float | None
) -> None:
    rows = [{"metric": {}, "values": [[time, "1"] for time in times]}] if times else []
    query = '{__name__="queue_length",instance="a"}[15m]'
    matrix: Any = {"resultType": "matrix", "result": rows}
    look = looking(FakePrometheus(vectors={query: matrix}))
    sample = Sample(labels={"__name__": "queue_length", "instance": "a"}, value=1, timestamp=1)

    assert await look.interval(sample) == interval


async def test_pods_of_one_name_in_two_namespaces_stay_apart() -> None:
    by = "(exported_pod,exported_namespace)"
    query = f'max(queue_length{{exported_pod!=""}}) by {by}'
    both = [({"exported_pod": "llm-0", "exported_namespace": space}, 1) for space in ("ml", "web")]
    fake = FakePrometheus(
        names={SELECTOR: ["queue_length"]},
        labels={SELECTOR: ["exported_pod", "exported_namespace"]},
        vectors={query: vector(*both)},
    )

    matched, _ = await match(fake)

    assert [offered.objects for offered in matched.metrics if offered.resource == "pods"] == [2]
