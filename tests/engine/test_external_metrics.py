"""What discovery makes of external rules."""

import logging

import pytest

from adapter.engine.discovery import Discovery
from adapter.engine.external import ExternalOffer
from adapter.engine.external_metrics import ExternalCatalogue, ExternalMetrics
from adapter.errors import EndpointMissing, PrometheusDown
from adapter.model.kinds import Kinds
from adapter.rules.external import ExternalRule
from adapter.settings import DiscoverySettings
from adapter.telemetry import Telemetry
from tests.engine.indexes import FakeIndex, Labels
from tests.engine.parts import ManualClock
from tests.engine.test_external import external_rule

pytestmark = pytest.mark.anyio

LAG = {"__name__": "queue_lag", "topic": "orders"}
AGE = {"__name__": "queue_age", "topic": "orders"}
LAG_RULE = external_rule()
ALL_RULE = external_rule(series_query='{topic!=""}', number=2)


class World:
    """A discovery of external rules with everything around it."""

    def __init__(
        self,
        *rules: ExternalRule,
        series: tuple[Labels, ...] = (LAG, AGE),
        failing: dict[str, Exception] | None = None,
    ) -> None:
        self.index = FakeIndex(series, failing)
        self.telemetry = Telemetry()
        self.discovery: Discovery[ExternalRule, ExternalOffer, ExternalCatalogue] = Discovery(
            ExternalMetrics(),
            rules,
            self.index,
            Kinds,
            DiscoverySettings(relist_interval=60, max_age=60),
            self.telemetry,
            ManualClock(),
        )

    def offered(self) -> list[tuple[str, int]]:
        """Give the metrics served, with the numbers of their rules."""
        return [(one.metric, one.rule.number) for one in self.discovery.catalogue.offers]


async def test_each_series_of_a_rule_is_a_metric_whatever_its_labels() -> None:
    world = World(ALL_RULE)
    await world.discovery.discover()
    assert world.offered() == [("queue_age", 2), ("queue_lag", 2)]
    assert [kind for kind, _ in world.index.asked] == ["names"]


async def test_of_two_rules_for_one_name_the_later_counts_and_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World(LAG_RULE, ALL_RULE)
    with caplog.at_level(logging.WARNING, "adapter"):
        await world.discovery.discover()
    assert ("queue_lag", 2) in world.offered()
    (told,) = [record.__dict__["warning"] for record in caplog.records]
    assert told == (
        "rules.yaml:3: external rule 2: it serves queue_lag in place of rules.yaml:3: external "
        "rule 1, the later rule counts"
    )


async def test_several_series_under_one_name_are_withheld() -> None:
    world = World(external_rule(series_query='{topic!=""}', name="queue"))
    await world.discovery.discover()
    assert world.offered() == []
    found = world.discovery.catalogue.find("queue")
    assert found is not None
    assert found.withheld == "the series queue_age, queue_lag would all be named so"


async def test_a_name_that_two_series_come_to_by_a_pattern_is_the_last_ones(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As among metrics of objects: always the same one, and told."""
    world = World(external_rule(series_query='{topic!=""}', matches="^(queue)_.*", name="$1"))
    with caplog.at_level(logging.WARNING, "adapter"):
        await world.discovery.discover()
    found = world.discovery.catalogue.find("queue")
    assert found is not None
    assert (found.series, found.withheld) == ("queue_lag", "")
    assert [record.__dict__["warning"] for record in caplog.records] == [
        "rules.yaml:3: external rule 1: queue_age, queue_lag are all named queue, queue_lag is served"
    ]


async def test_a_query_that_is_the_same_for_all_series_is_served_without_a_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World(external_rule("sum(queue_lag)", series_query='{topic!=""}', name="queue"))
    with caplog.at_level(logging.WARNING, "adapter"):
        await world.discovery.discover()
    assert world.offered() == [("queue", 1)]
    assert caplog.records == []


async def test_a_namespaced_rule_without_namespaces_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World(external_rule(overrides=()))
    with caplog.at_level(logging.WARNING, "adapter"):
        await world.discovery.discover()
    (told,) = [record.__dict__["warning"] for record in caplog.records]
    assert told.startswith("rules.yaml:3: external rule 1: no label means namespaces")


async def test_a_backend_without_the_label_endpoints_is_asked_for_series() -> None:
    world = World(LAG_RULE, failing={"names": EndpointMissing("404")})
    await world.discovery.discover()
    assert world.offered() == [("queue_lag", 1)]


async def test_a_rule_that_fails_keeps_what_it_offered() -> None:
    world = World(LAG_RULE)
    await world.discovery.discover()
    world.index.failing = {"names": PrometheusDown("refused")}
    await world.discovery.discover()
    assert world.offered() == [("queue_lag", 1)]
    assert world.discovery.catalogue.failed == (LAG_RULE,)


async def test_it_is_counted_apart_from_metrics_of_objects() -> None:
    world = World(ALL_RULE)
    await world.discovery.discover()
    read = world.telemetry.registry.get_sample_value
    name = "gpu_metrics_adapter_metrics_offered"
    assert read(name, {"group": "external.metrics.k8s.io"}) == 2
    assert read(name, {"group": "custom.metrics.k8s.io"}) is None


async def test_a_rule_that_says_something_else_about_namespaces_is_another_rule() -> None:
    world = World(LAG_RULE)
    await world.discovery.discover()
    world.discovery.use([external_rule(namespaced=False)])
    await world.discovery.discover()
    found = world.discovery.catalogue.find("queue_lag")
    assert found is not None
    assert found.rule.namespaced is False
