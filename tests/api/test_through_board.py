"""From the path to the query and back: the API over the engine's own board and fold."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from adapter.engine.catalogue import Catalogue
from adapter.errors import PrometheusDown, SourceError
from adapter.model.kinds import NAMESPACES, NODES, PODS
from adapter.model.objects import Resource, Sample
from tests.api.world import P2, World, message, values_of
from tests.engine.parts import (
    UTIL,
    FakePrometheus,
    ManualClock,
    builtin_offer,
    gpu,
    offer,
    rule,
    running,
    sample,
)

pytestmark = pytest.mark.anyio

LIST = f"{P2}/namespaces/ml/pods/*/{UTIL}"
NO_LABELS = "avg(<<.Series>>{<<.LabelMatchers>>})"


class _Asked:
    """A world over a real board, and the Prometheus behind it."""

    def __init__(self, world: World, prometheus: FakePrometheus, clock: ManualClock) -> None:
        self.world, self.prometheus, self.clock = world, prometheus, clock

    def fail(self, error: SourceError, after: float) -> None:
        """Let time pass and Prometheus go."""
        self.prometheus.error = error
        self.clock.now += after


@asynccontextmanager
async def _asking(
    *samples: Sample, query: str | None = None, kinds: Sequence[Resource] = (PODS,)
) -> AsyncIterator[_Asked]:
    clock = ManualClock()
    prometheus = FakePrometheus(clock, *samples)
    overrides = (
        ("exported_pod", "", "pod"),
        ("exported_namespace", "", "namespace"),
        ("node", "", "node"),
    )
    one = rule(query, overrides=overrides) if query else rule(overrides=overrides)
    labels = ("exported_pod", "exported_namespace", "node")
    offers = [offer(one, kind, labels=labels) for kind in kinds]
    async with running(prometheus, clock) as board:
        world = World(real_board=board, catalogue=Catalogue(offers))
        yield _Asked(world, prometheus, clock)


async def test_one_query_serves_every_selector_of_a_namespace() -> None:
    async with _asking(gpu(80, "llm-0"), gpu(40, "llm-1"), gpu(7, "web-0")) as asked:
        llm = await asked.world.get(f"{LIST}?labelSelector=app%3Dllm")
        web = await asked.world.get(f"{LIST}?labelSelector=app%3Dweb")
    assert values_of(llm) == {"llm-0": "80", "llm-1": "40"}
    assert values_of(web) == {"web-0": "7"}
    assert len(asked.prometheus.queries) == 1


async def test_nan_is_left_out_of_the_list_and_told_for_the_pod() -> None:
    async with _asking(gpu(0.5, "llm-0"), gpu(float("nan"), "llm-1")) as asked:
        listed = await asked.world.get(LIST)
        one = await asked.world.get(f"{P2}/namespaces/ml/pods/llm-1/{UTIL}")
    assert values_of(listed) == {"llm-0": "500m"}
    assert one.status_code == 404
    assert message(one).endswith("is left out: its value is NaN")


async def test_an_impossible_value_is_left_out() -> None:
    async with _asking(gpu(4294967295, "llm-0"), gpu(30, "llm-1")) as asked:
        assert values_of(await asked.world.get(LIST)) == {"llm-1": "30"}


async def test_a_query_without_the_label_answers_for_one_object() -> None:
    async with _asking(sample(60, {}), query=NO_LABELS) as asked:
        one = await asked.world.get(f"{P2}/namespaces/ml/pods/llm-0/{UTIL}")
        selected = await asked.world.get(f"{LIST}?labelSelector=app%3Dweb")
    assert (values_of(one), values_of(selected)) == ({"llm-0": "60"}, {"web-0": "60"})


async def test_a_query_without_the_label_is_an_error_for_several_objects() -> None:
    async with _asking(sample(60, {}), query=NO_LABELS) as asked:
        answer = await asked.world.get(LIST)
    assert answer.status_code == 500
    assert "rule 1 (rules.yaml:3) lacks label exported_pod" in message(answer)


async def test_a_reading_outlives_a_short_outage_with_its_own_time() -> None:
    async with _asking(gpu(80)) as asked:
        before = await asked.world.get(LIST)
        asked.fail(PrometheusDown("refused"), after=20)
        after = await asked.world.get(LIST)
    assert after.json() == before.json()
    assert after.json()["items"][0]["timestamp"] == "2025-06-15T15:06:40Z"


async def test_a_long_outage_is_unavailable() -> None:
    async with _asking(gpu(80)) as asked:
        await asked.world.get(LIST)
        asked.fail(PrometheusDown("refused"), after=31)
        answer = await asked.world.get(LIST)
    assert answer.status_code == 503
    assert message(answer).endswith("Prometheus gives no answer in namespace ml: refused")


async def test_a_node_and_a_namespace_have_their_own_values() -> None:
    samples = [gpu(80, "llm-0", "GPU-1", node="gpu-a"), gpu(40, "llm-1", "GPU-2", node="gpu-b")]
    async with _asking(*samples, kinds=(NODES, NAMESPACES)) as asked:
        node = await asked.world.get(f"{P2}/namespaces/ml/nodes/gpu-a/{UTIL}")
        namespace = await asked.world.get(f"{P2}/namespaces/ml/metrics/{UTIL}")
    assert values_of(node) == {"gpu-a": "80"}
    assert values_of(namespace) == {"ml": "60"}


async def test_the_three_minute_average_says_so() -> None:
    labels = ("exported_pod", "exported_namespace", "UUID")
    clock = ManualClock()
    async with running(FakePrometheus(clock, gpu(41)), clock) as board:
        offers = [builtin_offer("DEV_GPU_UTIL_over_time", PODS, labels)]
        world = World(real_board=board, catalogue=Catalogue(offers))
        answer = await world.get(f"{P2}/namespaces/ml/pods/llm-0/DEV_GPU_UTIL_over_time")
    assert answer.json()["items"][0]["windowSeconds"] == 180
