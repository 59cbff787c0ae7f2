"""One evaluation serves all whom it can: freshness, demand, single flight, outages."""

from collections.abc import Sequence

import anyio
import pytest

from adapter.engine.asking import Ask
from adapter.engine.board import Board
from adapter.engine.reading import Reading
from adapter.errors import InternalError, PrometheusDown, QueryRefused
from adapter.model.kinds import NAMESPACES, NODES, PODS
from adapter.model.objects import Sample
from adapter.model.selector import parse
from adapter.settings import ReadingSettings
from adapter.telemetry import Telemetry
from tests.engine.parts import (
    BY_POD,
    EVALUATED,
    UNSPREADABLE,
    UTIL,
    FakePrometheus,
    ManualClock,
    ask,
    builtin_offer,
    gpu,
    offer,
    pod_ref,
    rule,
    running,
    sample,
    settle,
)

pytestmark = pytest.mark.anyio

DOWN = PrometheusDown("connection refused")


@pytest.fixture
def clock() -> ManualClock:
    """Give a clock that the test moves."""
    return ManualClock()


@pytest.fixture
def prometheus(clock: ManualClock) -> FakePrometheus:
    """Give a Prometheus in which llm-0 of ml runs at 80 percent."""
    return FakePrometheus(clock, gpu(80))


class Pending:
    """A read that goes on while the test does something else."""

    def __init__(self) -> None:
        self.reading: Reading | None = None
        self.error: Exception | None = None

    @property
    def done(self) -> bool:
        return self.reading is not None or self.error is not None

    async def run(self, board: Board, wanted: Ask) -> None:
        try:
            self.reading = await board.read(wanted)
        except (PrometheusDown, QueryRefused) as error:
            self.error = error


async def read_all(board: Board, asks: Sequence[Ask]) -> list[Pending]:
    """Read all at once and wait for all."""
    reads = [Pending() for _ in asks]
    async with anyio.create_task_group() as tasks:
        for pending, wanted in zip(reads, asks, strict=True):
            tasks.start_soon(pending.run, board, wanted)
    return reads


async def test_a_reading_has_values_the_evaluations_time_and_the_querys_window(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = builtin_offer("DEV_GPU_UTIL_over_time", PODS, ("exported_pod", "exported_namespace"))
    async with running(prometheus, clock) as board:
        reading = await board.read(ask(one))
    assert reading.values == {pod_ref("llm-0"): 80}
    assert (reading.timestamp, reading.window, reading.samples) == (EVALUATED, 180, 1)


async def test_an_empty_answer_has_the_time_at_which_it_was_asked_for(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    prometheus.samples, prometheus.delay = [], 2.0
    sent = clock.wall()
    async with running(prometheus, clock) as board, anyio.create_task_group() as tasks:
        pending = Pending()
        tasks.start_soon(pending.run, board, ask())
        await clock.advance(2)
    assert pending.reading is not None
    assert (pending.reading.values, pending.reading.timestamp) == ({}, sent)


async def test_a_hundred_who_ask_at_once_cost_one_query(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    async with running(prometheus, clock) as board:
        reads = await read_all(board, [ask()] * 100)
    assert len(prometheus.queries) == 1
    assert all(pending.reading is reads[0].reading for pending in reads)


async def test_namespaces_that_ask_at_once_share_one_query(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        await read_all(board, [ask(one, namespace=name) for name in ("ml", "dev", "ml")])
    assert prometheus.queries == [f'{UTIL}{{exported_namespace=~"dev|ml",exported_pod!=""}}']


async def test_a_young_reading_answers_from_memory_and_asks_nothing(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        first = await board.read(ask(one))
        await clock.advance(2.4)
        assert await board.read(ask(one)) is first
        await settle()
    assert len(prometheus.queries) == 1


async def test_past_half_of_the_bound_it_answers_and_is_refreshed_behind(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        first = await board.read(ask(one))
        prometheus.samples = [gpu(20)]
        await clock.advance(2.6)
        assert await board.read(ask(one)) is first
        await settle()
        assert (await board.read(ask(one))).values == {pod_ref("llm-0"): 20}
    assert len(prometheus.queries) == 2


async def test_past_the_bound_it_waits_for_one_evaluation_with_all_the_others(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        await board.read(ask(one))
        prometheus.samples = [gpu(20)]
        await clock.advance(5.1)
        reads = await read_all(board, [ask(one)] * 10)
    assert [p.reading.values for p in reads if p.reading] == [{pod_ref("llm-0"): 20}] * 10
    assert len(prometheus.queries) == 2


async def test_without_demand_there_are_no_queries(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    async with running(prometheus, clock) as board:
        await board.read(ask())
        await clock.advance(600)
    assert len(prometheus.queries) == 1


async def test_a_namespace_not_covered_waits_for_a_query_that_covers_both(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        await board.read(ask(one, namespace="ml"))
        await board.read(ask(one, namespace="dev"))
        await board.read(ask(one, namespace="ml"))
    assert prometheus.queries == [
        f'{UTIL}{{exported_namespace="ml",exported_pod!=""}}',
        f'{UTIL}{{exported_namespace=~"dev|ml",exported_pod!=""}}',
    ]


async def test_who_comes_during_a_query_that_does_not_cover_him_waits_for_the_next(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one, late = offer(), Pending()
    prometheus.delay = 1.0
    async with running(prometheus, clock) as board, anyio.create_task_group() as tasks:
        tasks.start_soon(Pending().run, board, ask(one, namespace="ml"))
        await clock.advance(0.5)
        tasks.start_soon(late.run, board, ask(one, namespace="dev"))
        await clock.advance(0.6)
        assert not late.done
        await clock.advance(1.0)
        assert late.reading is not None
    assert 'exported_namespace=~"dev|ml"' in prometheus.queries[1]


async def test_a_namespace_leaves_the_query_two_minutes_after_its_last_request(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        await board.read(ask(one, namespace="dev"))
        await clock.advance(119)
        await board.read(ask(one, namespace="ml"))
        await clock.advance(6)
        await board.read(ask(one, namespace="ml"))
    assert 'exported_namespace=~"dev|ml"' in prometheus.queries[1]
    assert 'exported_namespace="ml"' in prometheus.queries[2]


async def test_many_namespaces_cost_one_query_without_a_list(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        await read_all(board, [ask(one, namespace=f"team-{n}") for n in range(1000)])
        await board.read(ask(one, namespace="team-1000"))
    assert prometheus.queries == [f'{UTIL}{{exported_pod!=""}}']


async def test_different_metrics_selectors_and_kinds_are_asked_apart(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = rule()
    pods, home = offer(one), offer(one, NAMESPACES)
    chosen = Ask(pods, "ml", ("llm-0",), parse("modelName=H200"))
    async with running(prometheus, clock) as board:
        await read_all(board, [ask(pods), ask(home, "ml"), chosen])
    assert sorted(prometheus.queries) == [
        f'{UTIL}{{exported_namespace="ml",exported_pod!=""}}',
        f'{UTIL}{{exported_namespace="ml"}}',
        f'{UTIL}{{modelName="H200",exported_namespace="ml",exported_pod!=""}}',
    ]


async def test_what_spreads_over_a_namespace_is_shared_within_it(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer(rule(BY_POD))
    prometheus.samples = [sample(80, {"exported_pod": "llm-0"})]
    async with running(prometheus, clock) as board:
        reads = await read_all(board, [ask(one, name) for name in ("llm-0", "llm-1", "llm-2")])
    assert prometheus.queries == [
        f'avg({UTIL}{{exported_namespace="ml",exported_pod!=""}}) by (exported_pod)'
    ]
    assert reads[0].reading is not None
    assert reads[0].reading.values == {pod_ref("llm-0"): 80}


async def test_what_does_not_spread_is_asked_for_each_request_but_not_twice_for_the_same(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer(rule(UNSPREADABLE))
    asks = [ask(one, "llm-0"), ask(one, "llm-0", "llm-1"), ask(one, "llm-0")]
    async with running(prometheus, clock) as board:
        await read_all(board, asks)
    limits = 'exported_namespace="ml",exported_pod'
    assert sorted(prometheus.queries) == [
        f'topk(9, {UTIL}{{{limits}="llm-0"}})',
        f'topk(9, {UTIL}{{{limits}=~"llm-0|llm-1"}})',
    ]


async def test_both_styles_of_labels_are_asked_for_and_folded_together(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    labels = ("exported_pod", "exported_namespace", "pod", "namespace")
    one = builtin_offer("DEV_GPU_UTIL_current", PODS, labels)
    plain = sample(40, {"pod": "llm-1", "namespace": "ml", "UUID": "GPU-2"}, EVALUATED - 1)
    prometheus.by_query = lambda query: [plain] if 'exported_pod=""' in query else [gpu(80)]
    async with running(prometheus, clock) as board:
        reading = await board.read(ask(one, "llm-0", "llm-1"))
    assert reading.values == {pod_ref("llm-0"): 80, pod_ref("llm-1"): 40}
    assert (reading.samples, reading.timestamp) == (2, EVALUATED - 1)


async def test_a_slow_prometheus_is_asked_a_fifth_of_the_time_at_most(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    prometheus.delay = 2.0
    async with running(prometheus, clock) as board, anyio.create_task_group() as tasks:
        for _ in range(100):
            tasks.start_soon(Pending().run, board, ask(one))
            await clock.advance(1.0)
    gaps = [
        later - earlier
        for earlier, later in zip(prometheus.asked_at, prometheus.asked_at[1:], strict=False)
    ]
    assert min(gaps) >= 10
    assert len(gaps) >= 8


async def test_while_prometheus_fails_the_last_reading_answers_with_its_true_time(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        first = await board.read(ask(one))
        prometheus.error = DOWN
        await clock.advance(29.9)
        shown = await board.read(ask(one))
    assert shown is first
    assert shown.timestamp == EVALUATED


async def test_past_the_longest_staleness_the_failure_is_told(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        await board.read(ask(one))
        prometheus.error = DOWN
        await clock.advance(30.1)
        with pytest.raises(PrometheusDown, match="connection refused"):
            await board.read(ask(one))


async def test_after_an_outage_values_are_fresh_again(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    async with running(prometheus, clock) as board:
        await board.read(ask(one))
        prometheus.error = DOWN
        await clock.advance(40)
        with pytest.raises(PrometheusDown):
            await board.read(ask(one))
        prometheus.error, prometheus.samples = None, [gpu(20)]
        await clock.advance(3)
        assert (await board.read(ask(one))).values == {pod_ref("llm-0"): 20}


async def test_an_outage_costs_queries_by_time_and_not_by_requests(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    prometheus.error = DOWN
    async with running(prometheus, clock) as board:
        for _ in range(100):
            await read_all(board, [ask(one)] * 10)
            await clock.advance(0.1)
    assert len(prometheus.queries) <= 5


async def test_after_a_hang_prometheus_is_left_alone_for_the_bounds_length(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer()
    prometheus.delay, prometheus.error = 10.0, DOWN
    async with running(prometheus, clock) as board, anyio.create_task_group() as tasks:
        for _ in range(60):
            tasks.start_soon(Pending().run, board, ask(one))
            await clock.advance(0.5)
    assert [at - prometheus.asked_at[0] for at in prometheus.asked_at] == [0, 15]


async def test_a_prometheus_that_hangs_keeps_nobody_with_a_usable_reading_for_long(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one, first, second = offer(), Pending(), Pending()
    async with running(prometheus, clock) as board, anyio.create_task_group() as tasks:
        held = await board.read(ask(one))
        prometheus.delay, prometheus.error = 10.0, DOWN
        await clock.advance(15)
        tasks.start_soon(first.run, board, ask(one))
        await clock.advance(5.1)
        assert first.reading is held
        tasks.start_soon(second.run, board, ask(one))
        await settle()
        assert second.reading is held
        await clock.advance(10)


async def test_a_prometheus_that_hangs_again_keeps_nobody_for_longer_than_the_bound(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    """Who has nothing to show is told the failure that was told before."""
    one, first, second = offer(), Pending(), Pending()
    prometheus.delay, prometheus.error = 10.0, DOWN
    async with running(prometheus, clock) as board, anyio.create_task_group() as tasks:
        tasks.start_soon(first.run, board, ask(one))
        await clock.advance(10.1)
        assert first.error is DOWN
        await clock.advance(6)
        tasks.start_soon(second.run, board, ask(one))
        await clock.advance(4.9)
        assert not second.done
        await clock.advance(0.2)
        assert second.error is DOWN
        await clock.advance(10)


async def test_once_it_has_failed_nobody_with_a_usable_reading_waits(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one, pending = offer(), Pending()
    async with running(prometheus, clock) as board, anyio.create_task_group() as tasks:
        held = await board.read(ask(one))
        prometheus.error = DOWN
        await clock.advance(6)
        assert await board.read(ask(one)) is held
        prometheus.delay = 10.0
        await clock.advance(6)
        tasks.start_soon(pending.run, board, ask(one))
        await settle()
        assert pending.reading is held
        await clock.advance(10)
    assert len(prometheus.queries) == 3


async def test_a_refused_query_is_told_in_prometheuss_own_words(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    prometheus.error = QueryRefused("bad_data: parse error at char 7")
    async with running(prometheus, clock) as board:
        with pytest.raises(QueryRefused, match="bad_data: parse error at char 7"):
            await board.read(ask())


async def test_a_rule_that_gives_no_query_is_told_and_harms_no_other(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    async with running(prometheus, clock) as board:
        with pytest.raises(InternalError, match="rule 1"):
            await board.read(ask(offer(rule("<<- /* nothing */ ->>"))))
        assert (await board.read(ask())).values == {pod_ref("llm-0"): 80}


async def test_a_fault_of_our_own_is_told_and_harms_no_other(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    def broken(query: str) -> Sequence[Sample]:
        raise KeyError(query)

    prometheus.by_query = broken
    async with running(prometheus, clock) as board:
        with pytest.raises(InternalError, match="an error of this program"):
            await board.read(ask())
        prometheus.by_query = lambda _: [gpu(80)]
        assert (await board.read(ask())).values == {pod_ref("llm-0"): 80}


async def test_who_gives_up_takes_nothing_from_the_others(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one, patient = offer(), Pending()
    prometheus.delay = 1.0
    async with running(prometheus, clock) as board, anyio.create_task_group() as tasks:
        async with anyio.create_task_group() as hasty:
            hasty.start_soon(Pending().run, board, ask(one))
            await settle()
            tasks.start_soon(patient.run, board, ask(one))
            await settle()
            hasty.cancel_scope.cancel()
        await clock.advance(1.0)
        assert patient.reading is not None
    assert len(prometheus.queries) == 1


async def test_who_waits_when_the_board_stops_is_told(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    pending = Pending()
    prometheus.delay = 10.0
    async with anyio.create_task_group() as tasks, running(prometheus, clock) as board:
        tasks.start_soon(pending.run, board, ask())
        await settle()
    assert isinstance(pending.error, PrometheusDown)


async def test_a_request_before_the_board_runs_is_answered_once_it_does(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    pending = Pending()
    board = Board(prometheus, ReadingSettings(), Telemetry(), clock, lambda _ref, _labels: True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pending.run, board, ask())
        await settle()
        assert not pending.done
        tasks.start_soon(board.run)
        await settle()
        assert pending.reading is not None
        tasks.cancel_scope.cancel()


async def test_readings_leave_memory_when_nobody_has_asked_for_two_minutes(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    telemetry = Telemetry()

    def kept() -> float | None:
        return telemetry.registry.get_sample_value("gpu_metrics_adapter_readings")

    async with running(prometheus, clock, telemetry=telemetry) as board:
        await board.read(ask())
        await clock.advance(100)
        assert kept() == 1
        await clock.advance(60)
        assert kept() == 0


async def test_memory_is_bounded_whatever_is_asked_for(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one = offer(rule(UNSPREADABLE))
    async with running(prometheus, clock) as board:
        for first in range(0, 5000, 500):
            await read_all(board, [ask(one, f"pod-{n}") for n in range(first, first + 500)])
        assert len(board._entries) == 4096


async def test_past_that_bound_what_is_asked_for_stays(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    one, shared = offer(rule(UNSPREADABLE)), offer()
    async with running(prometheus, clock) as board:
        held = await board.read(ask(shared))
        for first in range(0, 5000, 500):
            assert await board.read(ask(shared)) is held
            await read_all(board, [ask(one, f"pod-{n}") for n in range(first, first + 500)])
        assert await board.read(ask(shared)) is held


async def test_a_board_that_is_started_again_answers_again(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    interrupted, resumed = Pending(), Pending()
    board = Board(prometheus, ReadingSettings(), Telemetry(), clock, lambda _ref, _labels: True)
    prometheus.delay = 1.0
    for pending, wait in ((interrupted, 0.5), (resumed, 5.0)):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(board.run)
            tasks.start_soon(pending.run, board, ask())
            await clock.advance(wait)
            tasks.cancel_scope.cancel()
        await clock.advance(5)
    assert resumed.reading is not None


async def test_samples_left_out_are_counted_by_cause(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    telemetry = Telemetry()
    prometheus.samples = [gpu(float("nan")), gpu(4294967295, "llm-1", "GPU-2")]
    async with running(prometheus, clock, telemetry=telemetry) as board:
        await board.read(ask())
    name = "gpu_metrics_adapter_samples_dropped_total"
    for cause in ("nan", "blank"):
        assert telemetry.registry.get_sample_value(name, {"cause": cause}) == 1


async def test_a_node_is_asked_for_by_its_name(
    clock: ManualClock, prometheus: FakePrometheus
) -> None:
    nodes = builtin_offer("DEV_GPU_UTIL_current", NODES, ["Hostname"])
    async with running(prometheus, clock) as board:
        await board.read(ask(nodes, "gpu-a"))
    assert prometheus.queries == [f'{UTIL}{{Hostname="gpu-a"}}']
