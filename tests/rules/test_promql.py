"""Queries read as trees: what one query may answer, its window, its unit, added matchers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.rules.expressions import alternatives_of, parse, selectors
from adapter.rules.matchers import Matcher
from adapter.rules.promql import (
    Spread,
    aggregates,
    keeps_unit,
    spread,
    spread_and_reason,
    sums_unit,
    window,
    with_matcher,
)
from tests.rules.making import rule

_S = "<<.Series>>{<<.LabelMatchers>>}"
_LABELS = st.sampled_from(["pod", "ns", "UUID", "gpu", "job"])


def _spread(query: str, *, namespace_label: str = "ns") -> Spread:
    return spread(rule(query), "DCGM_FI_DEV_GPU_UTIL", "pod", namespace_label)


@pytest.mark.parametrize(
    "query",
    [
        _S,
        f"ceil(avg_over_time({_S}[3m]))",
        f"({_S})",
        f"-{_S}",
        f"100 * {_S}",
        f"{_S} / 1024 / 1024",
        f"{_S} < 2147483632",
        f"{_S} > bool (2 * 3)",
        f"clamp({_S}, 0, 100)",
        f"quantile_over_time(0.9, {_S}[5m])",
        f"{_S} offset 1m",
        f"{_S} @ end()",
        '<<.Series>>{<<.LabelMatchers>>,container!="POD"}',
        '{__name__="<<.Series>>",<<.LabelMatchers>>}',
        f"sum({_S}) by (ns, pod)",
        f"sum(rate({_S}[5m])) by (ns, <<.GroupBy>>)",
        f"avg by (ns, pod) (max by (ns, pod, UUID, GPU_I_ID) ({_S} <= 100))",
    ],
)
def test_a_query_that_keeps_both_labels_spreads_over_the_cluster(query: str) -> None:
    assert _spread(query) is Spread.CLUSTER


@pytest.mark.parametrize(
    "query",
    [
        f"sum({_S}) by (<<.GroupBy>>)",
        f"max by (ns, pod) (sum by (pod) ({_S}))",
        f"sum by (pod) (max by (ns, pod, UUID) ({_S}))",
    ],
)
def test_a_query_that_keeps_only_the_objects_label_spreads_over_a_namespace(query: str) -> None:
    assert _spread(query) is Spread.NAMESPACE


@pytest.mark.parametrize(
    "query",
    [
        f"sum({_S})",
        f"sum({_S}) by (ns)",
        f"sum by (pod) (avg({_S}))",
        f"sum without (UUID) ({_S})",
        f"topk by (ns, pod) (1, {_S})",
        f"topk(1, {_S})",
        f"quantile by (ns, pod) (0.9, {_S})",
        f'count_values by (ns, pod) ("pod", {_S})',
        f"absent({_S})",
        f"absent_over_time({_S}[5m])",
        f"<<if gt (len .LabelMatchers) 40>>sum(<<.Series>>) by (pod)<<else>>{_S}<<end>>",
        "<<$m := .LabelMatchers>><<.Series>>{<<$m>>}",
        "<<with .LabelMatchers>><<$.Series>>{<<.>>}<<end>>",
        f"vector(scalar({_S}))",
        f"{_S} * scalar({_S})",
        f"{_S} * time()",
        f'label_replace({_S}, "pod", "x", "", "")',
        f'label_join({_S}, "pod", "-", "ns", "pod")',
        f"histogram_quantile(0.9, {_S})",
        f"sort({_S})",
        f"{_S} / {_S}",
        f"{_S} or {_S}",
        f"{_S} and on (ns) {_S}",
        f"{_S} unless {_S}",
        f"{_S} * on (pod) group_left (ns) {_S}",
        f"max_over_time({_S}[10m:1m])",
        f"clamp_max({_S}, scalar({_S}))",
        "<<.Series>>",
        "avg(<<.Series>>) by (ns, pod)",
        "sum(a{<<.LabelMatchers>>}) by (ns, pod) / sum(b) by (ns, pod)",
        '{__name__=~"<<.Series>>|other",<<.LabelMatchers>>}',
        "{<<.LabelMatchers>>}",
        "rate({<<.LabelMatchers>>}[5m])",
        '<<.Series>>{<<.LabelMatchers>> or job="x"}',
        "<<.Series>>{job=`<<.LabelMatchers>>`}",
        "<<.Series>>{<<.LabelMatchers>>,job=`<<.LabelMatchers>>`}",
        "# <<.LabelMatchers>>\n<<.Series>>",
        "<<.Series>>{<<.LabelMatchers>>,job!=`<<.LabelMatchers>>`}",
        '<<.Series>>{ns="<<index .LabelValuesByName "ns">>",<<.LabelMatchers>>}',
        f"{_S}[5m]",
        "1",
        f"unknown_function({_S})",
        "sum(",
        "<<index .GroupBySlice 5>>",
        "",
    ],
)
def test_a_query_that_might_answer_wrongly_for_others_is_asked_for_each_request(query: str) -> None:
    assert _spread(query) is Spread.REQUEST


def test_without_namespaces_the_objects_label_is_enough() -> None:
    assert _spread(f"sum({_S}) by (<<.GroupBy>>)", namespace_label="") is Spread.CLUSTER
    assert _spread(f"sum({_S}) by (ns)", namespace_label="") is Spread.REQUEST


@given(inner=st.sets(_LABELS), outer=st.sets(_LABELS))
def test_only_labels_that_every_aggregation_keeps_count(inner: set[str], outer: set[str]) -> None:
    query = f"sum by ({','.join(outer)}) (max by ({','.join(inner)}) ({_S}))"
    kept = inner & outer
    narrower = Spread.NAMESPACE if "pod" in kept else Spread.REQUEST
    assert _spread(query) is (Spread.CLUSTER if kept >= {"pod", "ns"} else narrower)


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        ("avg_over_time(x[3m])", 180),
        ("rate(x[1h30m]) / rate(x[5m])", 5400),
        ("max_over_time(rate(x[5m])[10m:1m])", 600),
        ("avg_over_time(x[1500ms])", 2),
        ("x offset 5m", None),
        ("x", None),
        ("sum(", None),
    ],
)
def test_the_window_is_the_longest_range(query: str, seconds: int | None) -> None:
    assert window(query) == seconds


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("x", True),
        ("(x)", True),
        ("ceil(avg_over_time(x[3m]))", True),
        ("quantile_over_time(0.5, x[3m])", True),
        ("max by (pod) (avg(x))", True),
        ("round(x, 5)", True),
        ("100 * x", False),
        ("-x", False),
        ("sum(x)", False),
        ("quantile(0.5, x)", False),
        ("rate(x[3m])", False),
        ("count_over_time(x[3m])", False),
        ("x or y", False),
        ("x > bool 5", False),
        ("avg(100 * x)", False),
        ("1", False),
        ("sum(", False),
    ],
)
def test_the_unit_is_kept_by_means_extremes_and_rounding_only(query: str, kept: bool) -> None:
    assert keeps_unit(query) is kept


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("x", True),
        ("sum by (pod) (x)", True),
        ("ceil(sum(avg_over_time(x[3m])))", True),
        ("sum(100 * x)", False),
        ("sum(rate(x[3m]))", False),
        ("count(x)", False),
        ("sum(x) / sum(y)", False),
        ("sum(", False),
    ],
)
def test_a_sum_keeps_what_is_impossible_for_its_parts(query: str, kept: bool) -> None:
    assert sums_unit(query) is kept


@pytest.mark.parametrize(
    ("query", "aggregated"),
    [
        ("sum(x) by (pod)", True),
        ("ceil(avg(x))", True),
        ("avg_over_time(x[3m])", False),
        ("(", False),
    ],
)
def test_an_aggregation_is_seen_anywhere(query: str, aggregated: bool) -> None:
    assert aggregates(query) is aggregated


@pytest.mark.parametrize(
    ("selector", "extended"),
    [
        ("x", 'x{pod!=""}'),
        ("x{}", 'x{pod!=""}'),
        ('{UUID!=""}', '{UUID!="",pod!=""}'),
        ('x{a="b",}', 'x{a="b",pod!=""}'),
        ('x{a=~"}|{",b="\\""}', 'x{a=~"}|{",b="\\"",pod!=""}'),
        ('{a="1" or b="2"}', '{a="1",pod!="" or b="2",pod!=""}'),
        ('{"a.b","c.d"="e"}', '{__name__="a.b","c.d"="e",pod!=""}'),
    ],
)
def test_a_selector_gets_one_more_matcher(selector: str, extended: str) -> None:
    assert with_matcher(selector, Matcher("pod", "!=", "")) == extended


@pytest.mark.parametrize("selector", ["", "rate(x[5m])", "x[5m]", "x offset 5m", "x @ 1", "1", "{"])
def test_what_is_no_selector_gets_no_matcher(selector: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        with_matcher(selector, Matcher("pod", "!=", ""))


@given(
    matchers=st.lists(
        st.builds(
            Matcher,
            st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,9}", fullmatch=True),
            st.sampled_from(["=", "!="]),
            st.text(),
        ),
        min_size=1,
    )
)
def test_added_matchers_are_read_back_in_order(matchers: list[Matcher]) -> None:
    selector = "x"
    for matcher in matchers:
        selector = with_matcher(selector, matcher)
    (found,) = selectors(parse(selector))
    assert alternatives_of(found) == [tuple(matchers)]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"sum({_S}) by (ns, pod)", ""),
        (f"sum({_S}) by (pod)", "the result does not keep ns"),
        (f"sum({_S}) by (ns)", "the result does not keep pod"),
        (f"topk(1, {_S})", "it is not certain which labels topk(1, x) keeps"),
        ("avg(<<.Series>>)", "the matchers do not stand in each selector, and only there"),
        (
            '<<.Series>>{pod=~"<<.LabelValuesByName.pod>>"}',
            ".LabelValuesByName holds the objects of one request",
        ),
    ],
)
def test_why_a_query_spreads_no_further_is_told(query: str, reason: str) -> None:
    one = rule(query)
    told = spread_and_reason(
        one.metrics_query, lambda matchers: one.render("x", matchers, ("pod",)), ("pod",), "ns"
    )
    assert told[1] == reason
