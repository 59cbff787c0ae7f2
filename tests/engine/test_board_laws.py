"""What the board promises for any sequence of requests and outages."""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.engine.asking import Ask
from adapter.engine.board import Board
from adapter.errors import PrometheusDown
from adapter.model.objects import Sample
from tests.engine.parts import FakePrometheus, ManualClock, ask, gpu, offer, rule, running, sample

pytestmark = pytest.mark.anyio

FRESHNESS, MAX_STALENESS, DEMAND = 5.0, 30.0, 120.0
OFFER = offer(rule())


@dataclass(frozen=True)
class Step:
    """Wait, then as many requests at once as there are namespaces named, Prometheus up or not."""

    wait: float
    namespaces: Sequence[str]
    up: bool


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 15.0, 31.0, 121.0]),
        st.lists(st.sampled_from(["ml", "dev", "ops"]), min_size=1, max_size=4),
        st.sampled_from([True, True, True, False]),
    ),
    min_size=1,
    max_size=25,
)
HEALTHY = STEPS.map(lambda steps: [Step(step.wait, step.namespaces, up=True) for step in steps])


class World:
    """A board, its Prometheus, and what came of each request."""

    def __init__(self, delay: float) -> None:
        self.clock = ManualClock()
        self.prometheus = FakePrometheus(self.clock)
        self.prometheus.delay = delay
        self.prometheus.by_query = self._stamped
        self.ages: list[float] = []
        self.failures = 0
        self.asked: dict[str, float] = {}
        self.joined = 0

    def _stamped(self, query: str) -> list[Sample]:
        sent = self.clock.wall() - self.prometheus.delay
        return [sample(50, gpu(50).labels, sent)]

    async def play(self, steps: Sequence[Step]) -> None:
        async with running(self.prometheus, self.clock) as board:
            for step in steps:
                await self.clock.advance(step.wait)
                self.prometheus.error = None if step.up else PrometheusDown("refused")
                await self._ask_all(board, step.namespaces)

    async def _ask_all(self, board: Board, namespaces: Sequence[str]) -> None:
        async with anyio.create_task_group() as tasks:
            for namespace in namespaces:
                self._note(namespace)
                tasks.start_soon(self._read, board, ask(OFFER, namespace=namespace))
            for _ in range(3):
                await self.clock.advance(self.prometheus.delay)

    def _note(self, namespace: str) -> None:
        last = self.asked.get(namespace, float("-inf"))
        self.joined += self.clock.now - last > DEMAND
        self.asked[namespace] = self.clock.now

    async def _read(self, board: Board, wanted: Ask) -> None:
        try:
            reading = await board.read(wanted)
        except PrometheusDown:
            self.failures += 1
            return
        self.ages.append(self.clock.wall() - reading.timestamp)


@settings(max_examples=60, deadline=None)
@given(steps=HEALTHY, delay=st.sampled_from([0.0, 0.2, 1.0, 1.5]))
async def test_no_answer_is_older_than_promised(steps: Sequence[Step], delay: float) -> None:
    """In health: the bound, or five times what an evaluation takes, whichever is longer."""
    world = World(delay)
    await world.play(steps)
    assert world.failures == 0
    assert max(world.ages) <= max(FRESHNESS, 5 * delay)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
async def test_in_outages_no_answer_is_older_than_the_longest_staleness(
    steps: Sequence[Step],
) -> None:
    world = World(0.0)
    await world.play(steps)
    assert max(world.ages, default=0) <= MAX_STALENESS
    assert len(world.ages) + world.failures == sum(len(step.namespaces) for step in steps)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, times=st.integers(1, 5))
async def test_queries_are_bounded_by_time_whatever_the_number_of_requests(
    steps: Sequence[Step], times: int
) -> None:
    """One for each half of the bound that went by, and one for each namespace that joined."""
    world = World(0.0)
    await world.play([Step(step.wait, list(step.namespaces) * times, step.up) for step in steps])
    elapsed = sum(step.wait for step in steps)
    assert len(world.prometheus.queries) <= elapsed / (FRESHNESS / 2) + world.joined + 1


@settings(max_examples=30, deadline=None)
@given(askers=st.integers(1, 60), namespaces=st.integers(1, 80))
async def test_all_who_ask_at_once_cost_one_query(askers: int, namespaces: int) -> None:
    world = World(1.0)
    names = [f"team-{number % namespaces}" for number in range(askers)]
    await world.play([Step(0.0, names, up=True)])
    assert len(world.prometheus.queries) == 1
    assert len(world.ages) == askers
