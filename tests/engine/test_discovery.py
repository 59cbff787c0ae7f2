"""The loop that finds out what can be offered."""

import itertools
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest

from adapter.engine.discovery import Discovery
from adapter.engine.labels import Binding
from adapter.engine.object_metrics import ObjectMetrics
from adapter.errors import PrometheusDown, QueryRefused
from adapter.model.kinds import BUILT_IN, NAMESPACES, NODES, PODS, Kinds
from adapter.model.objects import Resource
from adapter.rules.dcgm import builtin_rules
from adapter.rules.rule import Rule
from adapter.settings import DiscoverySettings
from adapter.telemetry import Telemetry
from tests.engine.indexes import FakeIndex, Labels
from tests.engine.parts import POD_AND_NAMESPACE, UTIL, ManualClock, rule, settle

pytestmark = pytest.mark.anyio

GPU = {"__name__": UTIL, "UUID": "GPU-1", "exported_pod": "llm-0", "exported_namespace": "ml"}
QUEUE = {"__name__": "queue_length", "exported_pod": "llm-0", "exported_namespace": "ml"}
DOWN = PrometheusDown("connection refused")


class World:
    """A discovery with everything around it."""

    def __init__(
        self,
        rules: Sequence[Rule],
        series: Sequence[Labels] = (GPU, QUEUE),
        *,
        interval: float = 60.0,
        max_age: float = 60.0,
        failing: dict[str, Exception] | None = None,
    ) -> None:
        self.clock = ManualClock()
        self.index = FakeIndex(series, failing, clock=self.clock)
        self.kinds = Kinds()
        self.telemetry = Telemetry()
        self.discovery = Discovery(
            ObjectMetrics(),
            rules,
            self.index,
            lambda: self.kinds,
            DiscoverySettings(relist_interval=interval, max_age=max_age),
            self.telemetry,
            self.clock,
        )

    def offered(self, resource: Resource = PODS) -> tuple[str, ...]:
        return self.discovery.catalogue.metrics_for(resource)

    def settled(self) -> bool:
        return self.discovery.settled

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.discovery.run)
            await settle()
            yield
            tasks.cancel_scope.cancel()


GPU_RULE = rule(series_query='{UUID!=""}', number=1)
QUEUE_RULE = rule(series_query="queue_length", number=2)


async def test_a_pass_offers_what_the_rules_find() -> None:
    world = World(builtin_rules(), [GPU | {"Hostname": "gpu-a"}])
    await world.discovery.discover()
    metrics = ("DEV_GPU_UTIL_current", "DEV_GPU_UTIL_over_time")
    assert [world.offered(kind) for kind in (PODS, NODES, NAMESPACES)] == [metrics] * 3


async def test_rules_with_one_series_query_ask_once() -> None:
    world = World(builtin_rules(), [GPU])
    await world.discovery.discover()
    assert [kind for kind, _ in world.index.asked] == ["names", "labels"]


async def test_a_failing_rule_harms_no_other() -> None:
    world = World([GPU_RULE, QUEUE_RULE], failing={"queue_length": QueryRefused("422")})
    await world.discovery.discover()
    assert world.offered() == (UTIL,)
    assert world.discovery.catalogue.failed == (QUEUE_RULE,)


async def test_a_rule_that_fails_keeps_what_it_offered_last() -> None:
    world = World([GPU_RULE, QUEUE_RULE])
    await world.discovery.discover()
    world.index.failing = {"queue_length": DOWN}
    world.index.known = [{**GPU, "__name__": "DCGM_FI_DEV_GPU_TEMP"}]
    await world.discovery.discover()
    assert world.offered() == ("DCGM_FI_DEV_GPU_TEMP", "queue_length")


async def test_a_series_that_is_gone_is_not_offered_any_more() -> None:
    world = World([GPU_RULE])
    await world.discovery.discover()
    world.index.known = []
    await world.discovery.discover()
    assert world.offered() == ()
    assert world.discovery.catalogue.failed == ()


async def test_a_rule_that_hangs_keeps_no_other_waiting() -> None:
    world = World([GPU_RULE, QUEUE_RULE])
    world.index.hanging = {"queue_length"}
    async with world.running():
        assert world.offered() == (UTIL,)


async def test_the_catalogue_is_the_same_object_while_nothing_changes() -> None:
    world = World([GPU_RULE])
    await world.discovery.discover()
    before = world.discovery.catalogue
    await world.discovery.discover()
    assert world.discovery.catalogue is before


async def test_offers_are_worked_out_again_only_for_other_series_labels_or_kinds() -> None:
    world = World([GIZMO_RULE], [GPU | {"gizmo": "g"}])
    world.kinds = Kinds([*BUILT_IN, GIZMO])
    await world.discovery.discover()
    before = world.discovery.catalogue.find(PODS, UTIL)
    await world.discovery.discover()
    assert world.discovery.catalogue.find(PODS, UTIL) is before
    world.index.known = [GPU, TEMPERATURE]
    await world.discovery.discover()
    assert world.offered() == ("DCGM_FI_DEV_GPU_TEMP", UTIL)
    assert world.offered(GIZMO) == ()


async def test_a_fault_of_our_own_in_one_rule_harms_no_other() -> None:
    world = World([GPU_RULE, QUEUE_RULE], failing={GPU_RULE.series_query: KeyError("fault")})
    await world.discovery.discover()
    assert world.offered() == ("queue_length",)


async def test_passes_follow_each_other_from_end_to_start() -> None:
    world = World([GPU_RULE], interval=60)
    async with world.running():
        await world.clock.advance(59)
        assert len(set(world.index.asked_at)) == 1
        await world.clock.advance(1)
        assert len(set(world.index.asked_at)) == 2


async def test_while_a_rule_fails_passes_come_sooner_and_then_rarer() -> None:
    world = World([GPU_RULE], interval=600, failing={"names": DOWN})
    start = world.clock.now
    async with world.running():
        await world.clock.advance(16)
    moments = sorted(at - start for at in set(world.index.asked_at))
    assert moments == [0, 0.5, 1.5, 3.5, 7.5, 15.5]


async def test_a_metric_is_there_soon_after_prometheus_is() -> None:
    world = World([GPU_RULE], interval=600, failing={"names": DOWN})
    async with world.running():
        await world.clock.advance(4)
        world.index.failing = {}
        await world.clock.advance(4)
        assert world.offered() == (UTIL,)


async def test_a_metric_is_there_soon_after_its_first_scrape() -> None:
    """An adapter that was there first does not let users wait for the interval."""
    world = World([GPU_RULE], [], interval=600)
    async with world.running():
        await world.clock.advance(100)
        world.index.known = [GPU]
        await world.clock.advance(15)
        assert world.offered() == (UTIL,)


async def test_after_a_success_the_next_failure_is_retried_soon_again() -> None:
    world = World([GPU_RULE], interval=60, failing={"names": DOWN})
    start = world.clock.now
    async with world.running():
        await world.clock.advance(3)
        world.index.failing = {}
        await world.clock.advance(1)
        world.index.failing = {"names": DOWN}
        await world.clock.advance(60.5)
    moments = sorted(at - start for at in set(world.index.asked_at))
    assert moments == [0, 0.5, 1.5, 3.5, 63.5, 64]


async def test_retries_are_never_rarer_than_the_interval() -> None:
    world = World([GPU_RULE], interval=2, failing={"names": DOWN})
    async with world.running():
        await world.clock.advance(60)
    moments = sorted(set(world.index.asked_at))
    assert max(later - one for one, later in itertools.pairwise(moments)) == 2


async def test_it_is_settled_once_a_pass_has_succeeded_for_a_rule() -> None:
    world = World([GPU_RULE, QUEUE_RULE], failing={"queue_length": DOWN})
    assert not world.settled()
    await world.discovery.discover()
    assert world.settled()
    assert world.discovery.succeeded


async def test_without_prometheus_it_is_settled_after_ten_seconds_though_nothing_succeeded() -> (
    None
):
    world = World([GPU_RULE], failing={"names": DOWN})
    async with world.running():
        await world.clock.advance(9.9)
        assert not world.settled()
        await world.clock.advance(0.1)
        assert world.settled()
        assert not world.discovery.succeeded


async def test_once_settled_an_outage_changes_nothing() -> None:
    world = World([GPU_RULE])
    await world.discovery.discover()
    world.index.failing = {"names": DOWN}
    await world.discovery.discover()
    assert world.settled()
    assert world.offered() == (UTIL,)


async def test_without_rules_it_is_settled_at_once() -> None:
    assert World([]).settled()


async def test_it_looks_back_at_least_as_far_as_an_instant_query_sees() -> None:
    world = World([GPU_RULE], interval=15, max_age=15)
    await world.discovery.discover()
    assert {end - start for start, end in world.index.spans} == {300}


async def test_it_looks_back_as_far_as_it_is_told() -> None:
    world = World([GPU_RULE], max_age=1800)
    await world.discovery.discover()
    assert world.index.spans == {(world.clock.wall() - 1800, world.clock.wall())}


GIZMO = Resource(
    group="example.com", plural="gizmos", singular="gizmo", kind="Gizmo", namespaced=True
)
GIZMO_RULE = rule(overrides=[*POD_AND_NAMESPACE, ("gizmo", "example.com", "gizmo")])


def warnings_told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Give the warnings logged so far, without the words that say which rule it is."""
    return [record.__dict__["warning"].partition(" 1: ")[2] for record in caplog.records]


GIZMO_IS_ABSENT = (
    "it is off: label gizmo means gizmo.example.com, a kind that the cluster is not known to have"
)


async def test_an_override_to_a_kind_that_is_not_there_puts_its_rule_off_and_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World([GIZMO_RULE, QUEUE_RULE], [GPU | {"gizmo": "g"}, QUEUE])
    with caplog.at_level(logging.WARNING, "adapter"):
        await world.discovery.discover()
    assert warnings_told(caplog) == [GIZMO_IS_ABSENT]
    assert world.offered() == ("queue_length",)
    assert world.discovery.catalogue.failed == ()


async def test_that_a_rule_is_off_is_told_again_with_each_interval(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World([GIZMO_RULE, QUEUE_RULE], interval=60)
    with caplog.at_level(logging.WARNING, "adapter"):
        async with world.running():
            await world.clock.advance(130)
    assert warnings_told(caplog) == [GIZMO_IS_ABSENT] * 3


async def test_passes_that_follow_soon_do_not_repeat_that_a_rule_is_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World([GIZMO_RULE], interval=600)
    with caplog.at_level(logging.WARNING, "adapter"):
        async with world.running():
            await world.clock.advance(100)
    assert len(set(world.index.asked_at)) == 0
    assert warnings_told(caplog) == [GIZMO_IS_ABSENT]


async def test_a_kind_that_appears_is_served_at_once(caplog: pytest.LogCaptureFixture) -> None:
    world = World([GIZMO_RULE, QUEUE_RULE], [GPU | {"gizmo": "g"}, QUEUE], interval=600)
    async with world.running():
        await world.clock.advance(20)
        world.kinds = Kinds([*BUILT_IN, GIZMO])
        caplog.clear()
        await world.clock.advance(1)
        assert world.offered(GIZMO) == (UTIL,)
    assert warnings_told(caplog) == []


async def test_a_kind_that_is_taken_away_puts_its_rule_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World([GIZMO_RULE], [GPU | {"gizmo": "g"}])
    with caplog.at_level(logging.WARNING, "adapter"):
        for kinds in (Kinds(), Kinds([*BUILT_IN, GIZMO]), Kinds()):
            world.kinds = kinds
            await world.discovery.discover()
    assert warnings_told(caplog) == [GIZMO_IS_ABSENT] * 2
    assert world.offered() == ()


async def test_the_same_kinds_read_again_lead_to_no_pass() -> None:
    world = World([GPU_RULE], interval=600)
    async with world.running():
        await world.clock.advance(100)
    assert len(set(world.index.asked_at)) == 1


async def test_new_rules_that_cannot_be_looked_for_are_not_looked_for_in_a_rush() -> None:
    """Other kinds beside other rules, while Prometheus is down: passes come ever rarer."""
    world = World([GPU_RULE], interval=600)
    async with world.running():
        world.index.failing = {"names": DOWN}
        world.kinds = Kinds([*BUILT_IN, GIZMO])
        world.discovery.use([QUEUE_RULE])
        await world.clock.advance(16)
    assert len(set(world.index.asked_at)) <= 7


async def test_other_kinds_are_seen_by_rules_that_were_there_before_new_ones() -> None:
    world = World([GIZMO_RULE], [GPU | {"gizmo": "g"}, QUEUE], interval=600)
    async with world.running():
        world.kinds = Kinds([*BUILT_IN, GIZMO])
        world.discovery.use([GIZMO_RULE, QUEUE_RULE])
        await world.clock.advance(1)
        assert world.offered(GIZMO) == (UTIL,)


async def test_a_cluster_scoped_kind_of_the_clusters_own_is_offered_without_a_namespace() -> None:
    fleet = Resource(
        group="example.com", plural="fleets", singular="fleet", kind="Fleet", namespaced=False
    )
    world = World([rule(overrides=[("fleet", "example", "fleets")])], [GPU | {"fleet": "f"}])
    world.kinds = Kinds([*BUILT_IN, fleet])
    await world.discovery.discover()
    (offer,) = world.discovery.catalogue.offers
    assert (offer.resource, offer.metric) == (fleet, UTIL)
    assert offer.bindings == (Binding("fleet", ""),)


async def test_a_rule_that_replaces_another_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World([rule(number=1), rule(number=2)], [GPU])
    with caplog.at_level(logging.WARNING, "adapter"):
        await world.discovery.discover()
        await world.discovery.discover()
    told = {record.__dict__["warning"] for record in caplog.records}
    assert len(caplog.records) == len(told) == 2
    assert any(f"{UTIL} on pods in place of rules.yaml:3: rule 1" in line for line in told)


async def test_a_rule_of_other_labels_of_the_same_series_is_told_to_stand_beside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    plain = [("pod", "", "pod"), ("namespace", "", "namespace")]
    rules = [rule(number=1), rule(number=2, overrides=plain)]
    world = World(rules, [GPU, {"pod": "b", "namespace": "ml", "UUID": "G", "__name__": UTIL}])
    with caplog.at_level(logging.WARNING, "adapter"):
        await world.discovery.discover()
    told = {record.__dict__["warning"] for record in caplog.records}
    assert (
        f"rules.yaml:3: rule 2: it serves {UTIL} on pods before rules.yaml:3: rule 1, whose labels "
        "are others"
    ) in told


TEMPERATURE = {**GPU, "__name__": "DCGM_FI_DEV_GPU_TEMP"}


async def test_several_series_folded_into_one_name_are_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World([rule(matches="(DCGM).*")], [GPU, TEMPERATURE])
    await world.discovery.discover()
    assert warnings_told(caplog) == [
        f"DCGM_FI_DEV_GPU_TEMP, {UTIL} are all named DCGM, {UTIL} is served"
    ]
    assert world.offered() == ("DCGM",)


async def test_several_series_under_a_constant_name_are_told_and_withheld(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also when there was nothing else to offer before."""
    world = World([rule(matches=".*", name="gpu")], [GPU, TEMPERATURE])
    await world.discovery.discover()
    assert warnings_told(caplog) == [
        (
            f"gpu on {kind} is withheld: the series DCGM_FI_DEV_GPU_TEMP, {UTIL} would all be"
            " named so; use a group in name.as"
        )
        for kind in ("namespaces", "pods")
    ]
    assert world.offered() == ()
    assert world.discovery.catalogue.find(PODS, "gpu") is not None


async def test_a_name_is_served_again_when_one_series_is_left() -> None:
    world = World([rule(matches=".*", name="gpu")], [GPU, TEMPERATURE])
    await world.discovery.discover()
    world.index.known = [GPU]
    await world.discovery.discover()
    assert world.offered() == ("gpu",)
    assert world.discovery.catalogue.withheld == ()


async def test_a_failure_is_logged_when_it_begins_and_when_it_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World([GPU_RULE], failing={"names": DOWN})
    with caplog.at_level(logging.WARNING, "adapter"):
        await world.discovery.discover()
        await world.discovery.discover()
        world.index.failing = {}
        await world.discovery.discover()
    assert [record.message for record in caplog.records] == [
        "rule not discovered",
        "rule discovered again",
    ]


async def test_failures_and_offers_are_counted() -> None:
    world = World([GPU_RULE, QUEUE_RULE], failing={"queue_length": DOWN})
    await world.discovery.discover()
    read = world.telemetry.registry.get_sample_value
    prefix, group = "gpu_metrics_adapter", {"group": "custom.metrics.k8s.io"}
    assert read(f"{prefix}_rule_discovery_failures_total", {**group, "rule": "2"}) == 1
    assert read(f"{prefix}_metrics_offered", group) == 2
    now = world.clock.wall()
    assert read(f"{prefix}_discovery_last_success_timestamp_seconds", group) == now
