"""What happens when there is nothing to tell: one test for each way in which data can be missing."""

import math

import pytest

from adapter.engine.catalogue import Catalogue, Offer
from adapter.engine.life import Life
from adapter.errors import PrometheusDown, QueryRefused
from adapter.model.kinds import PODS
from adapter.model.objects import Pod, Sample
from tests.engine.parts import (
    EVALUATED,
    FakePrometheus,
    ManualClock,
    ask,
    gpu,
    offer,
    pod_ref,
    rule,
    running,
    sample,
)

pytestmark = pytest.mark.anyio

LIVING = {
    ("ml", "llm-0"): Pod(namespace="ml", name="llm-0", uid="u0", node="gpu-a", labels={}),
    ("ml", "llm-1"): Pod(namespace="ml", name="llm-1", uid="u1", node="gpu-a", labels={}),
}
LIFE = Life(
    pod=lambda namespace, name: LIVING.get((namespace, name)),
    node_names=lambda: {"gpu-a", "gpu-b"},
    synced=lambda: True,
)


class World:
    """A board before a Prometheus, read for llm-0 and llm-1."""

    def __init__(self, *samples: Sample, of: Offer | None = None) -> None:
        self.clock = ManualClock()
        self.prometheus = FakePrometheus(self.clock, *samples)
        self.offer = of or offer()

    async def read(self, *names: str) -> tuple[dict[str, float], dict[str, str]]:
        """Give values and reasons by the pod's name."""
        async with running(self.prometheus, self.clock, alive=LIFE.alive) as board:
            reading = await board.read(ask(self.offer, *(names or ("llm-0", "llm-1"))))
        values = {ref.name: value for ref, value in reading.values.items()}
        return values, {ref.name: reason for ref, reason in reading.dropped.items()}


def test_a_metric_that_no_rule_offers_is_not_found() -> None:
    assert Catalogue([offer()]).find(PODS, "DEV_GPU_UTIL_typo") is None


async def test_objects_without_a_sample_have_no_value_and_nothing_was_left_out() -> None:
    assert await World().read() == ({}, {})


async def test_of_several_objects_only_those_with_a_sample_have_a_value() -> None:
    assert await World(gpu(80, "llm-0")).read() == ({"llm-0": 80}, {})


async def test_zero_is_a_value() -> None:
    assert await World(gpu(0, "llm-0")).read() == ({"llm-0": 0}, {})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "its value is NaN"),
        (math.inf, "its value is infinite"),
        (9223372036854775794.0, "its value is a DCGM blank value"),
        (300.0, "its value is outside the possible range of DCGM_FI_DEV_GPU_UTIL (0 to 100)"),
    ],
)
async def test_a_sample_that_is_no_measurement_is_left_out_with_the_reason(
    value: float, reason: str
) -> None:
    world = World(gpu(value, "llm-0", "GPU-1"), gpu(30, "llm-1", "GPU-2"))
    assert await world.read() == ({"llm-1": 30}, {"llm-0": reason})


@pytest.mark.parametrize(
    ("ghost", "name"),
    [
        (gpu(80, "llm-9", "GPU-1"), "llm-9"),
        (gpu(80, "llm-0", "GPU-1", pod_uid="before"), "llm-0"),
        (gpu(80, "llm-0", "GPU-1", Hostname="gpu-b"), "llm-0"),
    ],
    ids=["deleted or finished", "name reused", "moved"],
)
async def test_a_sample_of_an_object_that_is_not_alive_is_left_out_with_the_reason(
    ghost: Sample, name: str
) -> None:
    reason = "its series are of a pod that ended, moved or had this name before"
    assert await World(ghost, gpu(30, "llm-1", "GPU-2")).read() == ({"llm-1": 30}, {name: reason})


async def test_a_moved_pods_own_sample_stands_while_its_old_one_lingers() -> None:
    lingering = gpu(100, "llm-0", "GPU-1", Hostname="gpu-b")
    own = gpu(20, "llm-0", "GPU-2", Hostname="gpu-a")
    assert await World(lingering, own).read() == ({"llm-0": 20}, {})


async def test_in_a_short_outage_the_last_reading_is_shown_with_its_true_time() -> None:
    world = World(gpu(80))
    async with running(world.prometheus, world.clock) as board:
        await board.read(ask(world.offer))
        world.prometheus.error = PrometheusDown("connection refused")
        await world.clock.advance(29)
        reading = await board.read(ask(world.offer))
    assert (reading.values, reading.timestamp) == ({pod_ref("llm-0"): 80}, EVALUATED)


async def test_in_a_longer_one_there_is_no_reading() -> None:
    world = World(gpu(80))
    async with running(world.prometheus, world.clock) as board:
        await board.read(ask(world.offer))
        world.prometheus.error = PrometheusDown("connection refused")
        await world.clock.advance(31)
        with pytest.raises(PrometheusDown, match="connection refused"):
            await board.read(ask(world.offer))


async def test_a_wrong_query_is_told_in_prometheuss_own_words() -> None:
    world = World()
    world.prometheus.error = QueryRefused("execution: many-to-many matching not allowed")
    async with running(world.prometheus, world.clock) as board:
        with pytest.raises(QueryRefused, match="many-to-many matching not allowed"):
            await board.read(ask(world.offer))


AVERAGE = offer(rule("avg(<<.Series>>{<<.LabelMatchers>>})"))


async def test_an_answer_without_labels_is_the_one_objects_that_was_asked_for() -> None:
    assert await World(sample(60, {}), of=AVERAGE).read("llm-0") == ({"llm-0": 60}, {})


async def test_an_answer_without_labels_is_nobodys_when_several_were_asked_for() -> None:
    world = World(sample(60, {}), of=AVERAGE)
    async with running(world.prometheus, world.clock) as board:
        reading = await board.read(ask(AVERAGE, "llm-0", "llm-1"))
    assert (reading.values, reading.unlabelled) == ({}, 1)
