"""The chart's default rules: Prometheus Adapter's own table of requests and queries.

The table was made with a rate of one minute and labels that begin with `kube_`, for everything but
containers.
"""

import pytest

from adapter.engine.catalogue import Offer, offers_of
from adapter.model.kinds import BUILT_IN, Kinds
from adapter.model.objects import Resource
from adapter.model.selector import parse
from adapter.rules.chart import DEFAULT_RULES
from adapter.rules.config import load
from adapter.rules.matchers import Matcher, from_selector, one_of


def _extensions(plural: str, kind: str) -> Resource:
    return Resource(
        group="extensions",
        version="v1beta1",
        plural=plural,
        singular=kind.lower(),
        kind=kind,
        namespaced=True,
    )


# The table's cluster: deployments and ingresses are those of the group extensions.
_KINDS = Kinds(
    [
        *(kind for kind in BUILT_IN if not kind.group),
        _extensions("ingresses", "Ingress"),
        _extensions("deployments", "Deployment"),
    ]
)
_RULES = load(
    DEFAULT_RULES.replace("[5m]", "[1m]").replace("<<.Resource>>", "kube_<<.Resource>>"),
    "table.yaml",
).rules
_CONTAINERS = {"pod", "namespace", "container"}
_SERIES = (
    {"container_some_time_seconds_total": _CONTAINERS},
    {"container_some_count_total": _CONTAINERS},
    {"container_some_usage": _CONTAINERS},
    {
        "node_gigawatts": {"kube_node"},
        "service_proxy_packets": {"kube_service", "kube_namespace"},
    },
    {
        "ingress_hits_total": {"kube_ingress", "kube_service", "kube_pod", "kube_namespace"},
        "volume_claims_total": {"kube_persistentvolume"},
    },
    {
        "work_queue_wait_seconds_total": {"kube_deployment", "kube_namespace"},
        "node_fan_seconds_total": {"kube_node"},
    },
)


def offers() -> list[Offer]:
    """Give what the rules offer when each finds its series of the table."""
    found = []
    for rule, series in zip(_RULES, _SERIES, strict=True):
        labels = {label for carried in series.values() for label in carried}
        names = {
            label: [name for name, carried in series.items() if label in carried]
            for label in labels
        }
        found += offers_of(rule, names, _KINDS)
    return found


def query(word: str, metric: str, names: list[str], selector: str = "") -> str:
    """Give the query that a request in the namespace somens leads to."""
    resource = _KINDS.find_qualified(word)
    (offer,) = [one for one in offers() if (one.resource, one.metric) == (resource, metric)]
    binding = offer.bindings[0]
    home = [Matcher(binding.namespace_label, "=", "somens")] if binding.namespace_label else []
    limits = [*from_selector(parse(selector)), *home, one_of(binding.object_label, names)]
    return offer.rule.render(offer.series, limits, (binding.object_label,))


def test_the_table_of_metrics_has_its_seventeen_entries() -> None:
    assert sorted(f"{one.resource.qualified}/{one.metric}" for one in offers()) == [
        "deployments.extensions/work_queue_wait",
        "ingresses.extensions/ingress_hits",
        "namespaces/ingress_hits",
        "namespaces/service_proxy_packets",
        "namespaces/some_count",
        "namespaces/some_time",
        "namespaces/some_usage",
        "namespaces/work_queue_wait",
        "nodes/node_fan",
        "nodes/node_gigawatts",
        "persistentvolumes/volume_claims",
        "pods/ingress_hits",
        "pods/some_count",
        "pods/some_time",
        "pods/some_usage",
        "services/ingress_hits",
        "services/service_proxy_packets",
    ]


_PODS = ["somepod1", "somepod2"]
_LIMITS = 'namespace="somens",pod=~"somepod1|somepod2",container!="POD"'
_HITS = "sum(rate(ingress_hits_total{%s}[1m])) by (%s)"


@pytest.mark.parametrize(
    ("word", "metric", "names", "selector", "expected"),
    [
        ("pods", "some_usage", _PODS, "", f"sum(container_some_usage{{{_LIMITS}}}) by (pod)"),
        (
            "pods",
            "some_count",
            _PODS,
            "",
            f"sum(rate(container_some_count_total{{{_LIMITS}}}[1m])) by (pod)",
        ),
        (
            "pods",
            "some_time",
            _PODS,
            "",
            f"sum(rate(container_some_time_seconds_total{{{_LIMITS}}}[1m])) by (pod)",
        ),
        (
            "service",
            "ingress_hits",
            ["somesvc"],
            "",
            _HITS % ('kube_namespace="somens",kube_service="somesvc"', "kube_service"),
        ),
        (
            "service",
            "ingress_hits",
            ["somesvc"],
            "param1=value1",
            _HITS
            % ('param1="value1",kube_namespace="somens",kube_service="somesvc"', "kube_service"),
        ),
        (
            "ingress.extensions",
            "ingress_hits",
            ["someingress"],
            "",
            _HITS % ('kube_namespace="somens",kube_ingress="someingress"', "kube_ingress"),
        ),
        (
            "pod",
            "ingress_hits",
            ["somepod"],
            "",
            _HITS % ('kube_namespace="somens",kube_pod="somepod"', "kube_pod"),
        ),
        (
            "service",
            "service_proxy_packets",
            ["somesvc"],
            "",
            (
                'sum(service_proxy_packets{kube_namespace="somens",kube_service="somesvc"})'
                " by (kube_service)"
            ),
        ),
        (
            "deployment.extensions",
            "work_queue_wait",
            ["somedep"],
            "",
            (
                "sum(rate(work_queue_wait_seconds_total"
                '{kube_namespace="somens",kube_deployment="somedep"}[1m])) by (kube_deployment)'
            ),
        ),
        (
            "node",
            "node_gigawatts",
            ["somenode"],
            "",
            'sum(node_gigawatts{kube_node="somenode"}) by (kube_node)',
        ),
        (
            "persistentvolume",
            "volume_claims",
            ["somepv"],
            "",
            (
                'sum(rate(volume_claims_total{kube_persistentvolume="somepv"}[1m]))'
                " by (kube_persistentvolume)"
            ),
        ),
        (
            "node",
            "node_fan",
            ["somenode"],
            "",
            'sum(rate(node_fan_seconds_total{kube_node="somenode"}[1m])) by (kube_node)',
        ),
    ],
)
def test_a_request_leads_to_the_query_of_the_table(
    word: str, metric: str, names: list[str], selector: str, expected: str
) -> None:
    assert query(word, metric, names, selector) == expected


def test_the_rules_stand_before_the_files_own_and_only_when_asked_for() -> None:
    custom = "custom: [{seriesQuery: up, metricsQuery: 'up{<<.LabelMatchers>>}'}]"
    rules = load(f"rules: {{default: true, {custom}}}", "values.yaml").rules
    assert [str(rule) for rule in rules] == [
        *(f"the chart's default rules: rule {number}" for number in range(1, 7)),
        "values.yaml:1: rule 1",
    ]
    for default in ("", "default: ,", "default: false,", "default: No,"):
        assert len(load(f"rules: {{{default} {custom}}}", "values.yaml").rules) == 1


def test_the_rules_give_no_warning_of_their_own() -> None:
    assert load("rules: {default: yes}", "values.yaml").warnings == ()
    assert load(DEFAULT_RULES, "chart").warnings == ()


@pytest.mark.parametrize(
    ("series", "names"),
    [
        ("container_cpu_usage_seconds_total", ["cpu_usage", None, None]),
        ("container_network_receive_bytes_total", [None, "network_receive_bytes", None]),
        ("container_memory_usage_bytes", [None, None, "memory_usage_bytes"]),
        ("http_requests_total", [None, "http_requests", None]),
        ("process_cpu_seconds_total", [None, None, "process_cpu"]),
        ("queue_length", ["queue_length", None, None]),
    ],
)
def test_each_series_is_named_by_one_rule(series: str, names: list[str | None]) -> None:
    rules = load(DEFAULT_RULES, "chart").rules
    mine = rules[:3] if series.startswith("container_") else rules[3:]
    assert [rule.metric_name(series) for rule in mine] == names
