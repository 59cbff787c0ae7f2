"""Rendered queries: byte for byte what Prometheus Adapter asks."""

import pytest

from adapter.model.kinds import NAMESPACES, Kinds
from adapter.model.selector import parse
from adapter.rules.matchers import Matcher, from_selector, one_of
from tests.rules.making import rule

_GPU = "DCGM_FI_DEV_GPU_UTIL"
_NAMESPACE = Matcher("namespace", "=", "ml")


def _matchers(label: str, names: list[str], selector: str = "", *, root: bool) -> list[Matcher]:
    home = [] if root else [_NAMESPACE]
    return [*from_selector(parse(selector)), *home, one_of(label, names)]


@pytest.mark.parametrize(
    ("label", "names", "selector", "root", "query"),
    [
        ("pod", ["train-0"], "", False, 'namespace="ml",pod="train-0"'),
        ("pod", ["train-0", "train-1"], "", False, 'namespace="ml",pod=~"train-0|train-1"'),
        ("Hostname", ["gpu-a"], "", True, 'Hostname="gpu-a"'),
        ("Hostname", ["gpu-a", "gpu-b"], "", True, 'Hostname=~"gpu-a|gpu-b"'),
        ("namespace", ["ml"], "", True, 'namespace="ml"'),
        (
            "pod",
            ["train-0"],
            "modelName=H200,gpu in (0,1)",
            False,
            'gpu=~"0|1",modelName="H200",namespace="ml",pod="train-0"',
        ),
    ],
)
def test_a_query_is_the_one_that_the_incumbent_asks(
    label: str, names: list[str], selector: str, root: bool, query: str
) -> None:
    made = rule("avg(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)")
    rendered = made.render(_GPU, _matchers(label, names, selector, root=root), (label,))
    assert rendered == f"avg({_GPU}{{{query}}}) by ({label})"


def test_values_by_name_hold_every_matcher() -> None:
    made = rule("<<.LabelValuesByName>>")
    matchers = _matchers("pod", ["a.b", "c"], "modelName=H200,gpu in (0,1)", root=False)
    expected = "map[gpu:0|1 modelName:H200 namespace:ml pod:a.b|c]"
    assert made.render(_GPU, matchers, ("pod",)) == expected


def test_group_by_is_a_text_and_a_list() -> None:
    made = rule("<<.GroupBy>> <<.GroupBySlice>>")
    assert made.render(_GPU, (_NAMESPACE,), ("pod", "container")) == (
        "pod,container [pod container]"
    )


def test_without_matchers_the_query_is_limited_to_series_with_the_objects_label() -> None:
    made = rule('<<.Series>>{<<.LabelMatchers>>,job="x"}')
    assert made.render("up", (), ("pod",)) == 'up{pod!="",job="x"}'


@pytest.mark.parametrize("query", ["", "  ", '<<index .LabelValuesByName "none">>'])
def test_an_empty_query_is_an_error(query: str) -> None:
    with pytest.raises(ValueError, match="the query for up is empty"):
        rule(query).render("up", (_NAMESPACE,), ("pod",))


def test_rules_are_equal_only_to_themselves() -> None:
    first, second = rule(), rule()
    assert first != second
    assert len({first, second, first}) == 2


_SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
_RATE = "sum(rate(<<.Series>>{<<.LabelMatchers>>}[1m])) by (<<.GroupBy>>)"
_CONTAINERS = 'sum(rate(<<.Series>>{<<.LabelMatchers>>,container!="POD"}[1m])) by (<<.GroupBy>>)'


@pytest.mark.parametrize(
    ("query", "series", "word", "name", "expected"),
    [
        (
            _RATE,
            "ingress_hits_total",
            "service",
            "somesvc",
            (
                'sum(rate(ingress_hits_total{kube_namespace="somens",kube_service="somesvc"}[1m]))'
                " by (kube_service)"
            ),
        ),
        (
            _SUM,
            "work_queue_wait",
            "deployments",
            "somedep",
            (
                'sum(work_queue_wait{kube_namespace="somens",kube_deployment="somedep"})'
                " by (kube_deployment)"
            ),
        ),
        (
            _RATE,
            "volume_claims_total",
            "persistentvolume",
            "somepv",
            (
                'sum(rate(volume_claims_total{kube_persistentvolume="somepv"}[1m]))'
                " by (kube_persistentvolume)"
            ),
        ),
        (
            _CONTAINERS,
            "container_some_count_total",
            "pod",
            "somepod",
            (
                'sum(rate(container_some_count_total{kube_namespace="somens",kube_pod="somepod",'
                'container!="POD"}[1m])) by (kube_pod)'
            ),
        ),
    ],
)
def test_a_template_of_labels_gives_the_incumbents_queries(
    query: str, series: str, word: str, name: str, expected: str
) -> None:
    made = rule(query, template="kube_<<.Resource>>")
    resource = Kinds().find(word)
    assert made.template
    assert resource
    label = made.template.label(resource)
    home = [Matcher(made.template.label(NAMESPACES), "=", "somens")] if resource.namespaced else []
    assert made.render(series, [*home, one_of(label, [name])], (label,)) == expected
