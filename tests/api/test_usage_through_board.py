"""From the path to the queries and back: metrics.k8s.io and external metrics over the real board."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import pytest

from adapter.engine.external import ExternalOffer
from adapter.engine.external_metrics import ExternalCatalogue
from adapter.errors import PrometheusDown
from adapter.model.objects import Sample
from adapter.rules.resource_rules import ResourceRules
from tests.api.world import World, message, ref
from tests.engine.parts import FakePrometheus, ManualClock, running, sample
from tests.engine.test_external import external_rule
from tests.engine.test_usage import use_rule

pytestmark = pytest.mark.anyio

ROOT = "/apis/metrics.k8s.io/v1beta1"
LAG = "/apis/external.metrics.k8s.io/v1beta1/namespaces/ml/queue_lag"
MEMORY = "sum by (<<.GroupBy>>) (memory_bytes{<<.LabelMatchers>>})"
RULES = ResourceRules(cpu=use_rule(), memory=use_rule(MEMORY, name="memory"), window=60)


class _Asked:
    """A world over a real board, and the Prometheus behind it."""

    def __init__(self, world: World, prometheus: FakePrometheus, clock: ManualClock) -> None:
        self.world, self.prometheus, self.clock = world, prometheus, clock


@asynccontextmanager
async def _asking(answers: Mapping[str, Sequence[Sample]]) -> AsyncIterator[_Asked]:
    """Answer a query with the samples of the first key that stands in it."""
    clock = ManualClock()
    prometheus = FakePrometheus(clock)
    prometheus.by_query = lambda query: next(
        (found for key, found in answers.items() if key in query), ()
    )
    lag = ExternalOffer(metric="queue_lag", rule=external_rule(), series="queue_lag")
    async with running(prometheus, clock) as board:
        world = World(real_board=board, resource_rules=RULES, externals=ExternalCatalogue([lag]))
        world.objects.known["pods"] = {ref("one"): {}, ref("two"): {}, ref("three", "other"): {}}
        yield _Asked(world, prometheus, clock)


def _of(pod: str, value: float, at: float, container: str = "main") -> Sample:
    return sample(value, {"pod": pod, "container": container}, at)


async def _summary(world: World, path: str = f"{ROOT}/pods") -> list[tuple[str, str, list[str]]]:
    """Give name, second and quantities of each pod listed."""
    listed = (await world.get(path)).json()
    return [
        (
            item["metadata"]["name"],
            item["timestamp"][-3:-1],
            [amount for part in item["containers"] for amount in part["usage"].values()],
        )
        for item in listed["items"]
    ]


async def test_pods_of_two_namespaces_have_their_own_values_and_earliest_times() -> None:
    """The incumbent's own table: three pods, times of 10, 10 and 0.27 seconds."""
    answers = {
        'cpu_seconds_total{namespace="ml"': [_of("one", 1100, 10), _of("two", 1300, 20)],
        'memory_bytes{namespace="ml"': [_of("one", 3100, 11), _of("two", 3300, 10)],
        'cpu_seconds_total{namespace="other"': [
            _of("three", 2200, 0.27),
            _of("three", 2400, 270, "side"),
        ],
        'memory_bytes{namespace="other"': [_of("three", 4200, 1), _of("three", 4402, 2, "side")],
    }
    async with _asking(answers) as asked:
        assert await _summary(asked.world) == [
            ("one", "10", ["1100", "3100"]),
            ("two", "10", ["1300", "3300"]),
            ("three", "00", ["2200", "4200", "2400", "4402"]),
        ]
    assert len(asked.prometheus.queries) == 4


async def test_what_is_no_number_or_negative_is_left_out_and_never_zero() -> None:
    answers = {
        "cpu_seconds_total": [_of("one", float("nan"), 10), _of("two", 1, 10)],
        "memory_bytes": [_of("one", 1024, 10), _of("two", -1, 10)],
    }
    async with _asking(answers) as asked:
        assert await _summary(asked.world) == []
        why = await asked.world.get(f"{ROOT}/namespaces/ml/pods/two")
    assert message(why).endswith("the sample of its memory is left out: its value is negative")


async def test_everybody_who_asks_about_a_namespace_shares_its_two_queries() -> None:
    answers = {"cpu": [_of("one", 1, 10)], "memory": [_of("one", 1, 10)]}
    async with _asking(answers) as asked:
        for path in ("pods", "pods/one", "pods?labelSelector=a!%3Db", "pods/two"):
            await asked.world.get(f"{ROOT}/namespaces/ml/{path}")
    assert len(asked.prometheus.queries) == 2


async def test_nodes_are_read_by_their_label() -> None:
    answers = {
        'node_cpu_seconds_total{instance=~"gpu-a|gpu-b"}': [sample(1.5, {"instance": "gpu-a"}, 10)],
        # Both rules have the same node query here, so the same answer serves.
    }
    async with _asking(answers) as asked:
        listed = (await asked.world.get(f"{ROOT}/nodes")).json()["items"]
    assert [(item["metadata"]["name"], item["usage"]["cpu"]) for item in listed] == [
        ("gpu-a", "1500m")
    ]


@pytest.mark.parametrize("path", [f"{ROOT}/namespaces/ml/pods", LAG])
async def test_in_an_outage_values_live_on_with_their_own_time_and_then_the_reason(
    path: str,
) -> None:
    answers = {
        "cpu": [_of("one", 1, 10)],
        "memory": [_of("one", 1, 10)],
        "queue_lag": [sample(90, {}, 10)],
    }
    async with _asking(answers) as asked:
        before = (await asked.world.get(path)).json()["items"]
        asked.prometheus.error = PrometheusDown("refused")
        asked.clock.now += 20
        during = (await asked.world.get(path)).json()["items"]
        asked.clock.now += 11
        after = await asked.world.get(path)
    assert before[0]["timestamp"] == during[0]["timestamp"] == "1970-01-01T00:00:10Z"
    assert after.status_code == 503
    assert message(after).endswith("Prometheus gives no answer in namespace ml: refused")
