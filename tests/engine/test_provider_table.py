"""Discovery with the chart's default rules: the incumbent's table of what is then listed."""

import pytest

from adapter.engine.catalogue import Catalogue, Offer
from adapter.engine.discovery import Discovery
from adapter.engine.object_metrics import ObjectMetrics
from adapter.model.kinds import Kinds
from adapter.rules.chart import DEFAULT_RULES
from adapter.rules.config import load
from adapter.rules.rule import Rule
from adapter.settings import DiscoverySettings
from adapter.telemetry import Telemetry
from tests.engine.indexes import FakeIndex
from tests.engine.parts import ManualClock

pytestmark = pytest.mark.anyio

SERIES = (
    {"__name__": "container_some_usage", "pod": "p", "namespace": "n", "container": "c"},
    {
        "__name__": "ingress_hits_total",
        "ingress": "i",
        "service": "s",
        "pod": "p",
        "namespace": "n",
    },
    {
        "__name__": "ingress_hits_total",
        "ingress": "i",
        "service": "s",
        "pod": "q",
        "namespace": "n",
    },
    {"__name__": "service_proxy_packets", "service": "s", "namespace": "n"},
    {"__name__": "work_queue_wait_seconds_total", "deployment": "d", "namespace": "n"},
)
LISTED = [
    "deployments.apps/work_queue_wait",
    "ingresses.networking.k8s.io/ingress_hits",
    "namespaces/ingress_hits",
    "namespaces/service_proxy_packets",
    "namespaces/some_usage",
    "namespaces/work_queue_wait",
    "pods/ingress_hits",
    "pods/some_usage",
    "services/ingress_hits",
    "services/service_proxy_packets",
]


def discovery_of(index: FakeIndex, clock: ManualClock) -> Discovery[Rule, Offer, Catalogue]:
    """Give a discovery that looks back ten minutes."""
    return Discovery(
        ObjectMetrics(),
        load(DEFAULT_RULES, "chart").rules,
        index,
        Kinds,
        DiscoverySettings(relist_interval=600, max_age=600),
        Telemetry(),
        clock,
    )


async def test_ten_metrics_are_listed_after_one_pass_and_none_before() -> None:
    clock = ManualClock()
    index = FakeIndex(SERIES, clock=clock)
    discovery = discovery_of(index, clock)
    before = list(discovery.catalogue.offers)
    await discovery.discover()
    offers = discovery.catalogue.offers
    assert before == []
    assert [f"{one.resource.qualified}/{one.metric}" for one in offers] == LISTED
    assert {start for start, _ in index.spans} == {clock.wall() - 600}


async def test_the_ordinary_label_job_puts_a_metric_on_jobs_as_well() -> None:
    """As with the incumbent: every kind's name is a label that a template reads."""
    labels = {"pod": "p", "namespace": "n", "job": "j", "container": "c", "instance": "i"}
    clock = ManualClock()
    discovery = discovery_of(FakeIndex([{"__name__": "up", **labels}], clock=clock), clock)
    await discovery.discover()
    offers = discovery.catalogue.offers
    assert [one.resource.qualified for one in offers] == ["jobs.batch", "namespaces", "pods"]
