"""External rules: the tables of Prometheus Adapter's specification, and what is told of them."""

import pytest

from adapter.model.kinds import Kinds
from adapter.model.selector import parse as selector_of
from adapter.rules.config import load
from adapter.rules.external import ExternalRule
from adapter.rules.matchers import Matcher
from adapter.rules.naming import parse_naming
from adapter.rules.rule import Override, variables_of
from adapter.rules.template import parse
from tests.rules.loading import problems

_NAMESPACES: tuple[Override, ...] = (("namespaces", "", "namespace"),)
_QUEUE = "- {seriesQuery: queue_lag, metricsQuery: '<<.Series>>{<<.LabelMatchers>>}'%s}"


def external(
    query: str, *, overrides: tuple[Override, ...] = _NAMESPACES, namespaced: bool = True
) -> ExternalRule:
    """Give a rule whose label for namespaces is `namespaces`."""
    return ExternalRule(
        number=1,
        file="rules.yaml",
        line=1,
        series_query="foo",
        overrides=overrides,
        naming=parse_naming("", ""),
        metrics_query=parse(query),
        namespaced=namespaced,
    )


def rendered(rule: ExternalRule, namespace: str = "", selector: str = "") -> str:
    """Give the query for the series foo."""
    return rule.render("foo", rule.matchers(namespace, selector_of(selector), Kinds()))


@pytest.mark.parametrize(
    ("query", "namespace", "selector", "text"),
    [
        ("series <<.Series>>", "", "", "series foo"),
        ("<<.LabelMatchers>>", "", "foo=bar", 'foo="bar"'),
        ("<<.LabelMatchers>>", "default", "foo=bar", 'foo="bar",namespaces="default"'),
        (
            "<<.LabelMatchers>>",
            "default",
            "qux in (bar,baz),foo=bar",
            'foo="bar",qux=~"bar|baz",namespaces="default"',
        ),
        ("<<.LabelMatchers>>", "", "foo=bar,qux in (bar,baz)", 'foo="bar",qux=~"bar|baz"'),
        ("<<.LabelValuesByName>>", "", "foo=bar", "map[foo:bar]"),
        ("<<.LabelValuesByName>>", "", "foo in (bar,baz)", "map[foo:bar|baz]"),
        ("x<<.LabelMatchers>>x<<.GroupBy>>x<<.GroupBySlice>>", "", "", "xxx[]"),
    ],
)
def test_a_query_is_the_one_that_the_incumbent_asks(
    query: str, namespace: str, selector: str, text: str
) -> None:
    assert rendered(external(query), namespace, selector) == text


@pytest.mark.parametrize(
    ("query", "namespace", "group_by", "text"),
    [
        ("<<.GroupBy>>", "", ("foo",), "foo"),
        ("<<.GroupBySlice>>", "", ("foo", "bar"), "[foo bar]"),
        (
            '<<index .LabelValuesByName "namespaces">> <<.GroupBySlice>>',
            "default",
            ("foo", "bar"),
            "default [foo bar]",
        ),
        (
            '<<index .LabelValuesByName "namespaces">> <<.GroupBySlice>>',
            "",
            ("foo", "bar"),
            " [foo bar]",
        ),
    ],
)
def test_labels_to_group_by_are_printed_as_the_incumbent_prints_them(
    query: str, namespace: str, group_by: tuple[str, ...], text: str
) -> None:
    limits = external(query).matchers(namespace, selector_of(""), Kinds())
    assert parse(query).render(variables_of("foo", limits, group_by)) == text


def test_a_rule_that_is_not_namespaced_answers_every_namespace_alike() -> None:
    rule = external("<<.Series>>{<<.LabelMatchers>>}", overrides=(), namespaced=False)
    assert rendered(rule, "default", "a=b") == 'foo{a="b"}'


def test_a_namespaced_rule_needs_a_label_for_namespaces() -> None:
    with pytest.raises(ValueError, match="no label means namespaces"):
        rendered(external("<<.Series>>", overrides=()), "default")


def test_of_two_labels_for_namespaces_the_later_one_counts() -> None:
    overrides = (("namespace", "", "namespaces"), ("exported_namespace", "", "namespace"))
    limits = external("x", overrides=overrides).matchers("ml", selector_of(""), Kinds())
    assert limits == (Matcher("exported_namespace", "=", "ml"),)


@pytest.mark.parametrize(
    "text", ["externalRules:\n%s", "prometheus: {}\nrules:\n  external:\n  %s"]
)
def test_external_rules_are_read_in_both_forms(text: str) -> None:
    resources = ", resources: {namespaced: off}, name: {as: lag}"
    (rule,) = load(text % _QUEUE % resources, "rules.yaml").external_rules
    assert not rule.namespaced
    assert rule.metric_name("queue_lag") == "lag"
    assert rule.number == 1
    assert str(rule).endswith("external rule 1")


@pytest.mark.parametrize(
    ("resources", "namespaced"),
    [
        ("", True),
        (", resources: {}", True),
        (", resources: {namespaced: }", True),
        (", resources: {namespaced: true}", True),
        (", resources: {namespaced: No}", False),
    ],
)
def test_a_rule_is_namespaced_unless_it_says_otherwise(resources: str, namespaced: bool) -> None:
    (rule,) = load("externalRules:\n" + _QUEUE % resources, "rules.yaml").external_rules
    assert rule.namespaced is namespaced


def test_a_query_of_one_number_is_no_problem_for_an_external_metric() -> None:
    text = (
        "externalRules: [{seriesQuery: up, metricsQuery: scalar(up), resources: {namespaced: n}}]"
    )
    assert len(load(text, "rules.yaml").external_rules) == 1


def test_problems_of_external_rules_carry_their_list_and_number() -> None:
    text = "externalRules:\n" + _QUEUE % "" + "\n- {seriesQuery: up, metricsQuery: 'rate(up)'}"
    (problem,) = problems(text)
    assert problem.startswith("rules.yaml:3: rule 2: externalRules.metricsQuery: ")


@pytest.mark.parametrize(
    ("rule", "warning"),
    [
        (_QUEUE % "", "no label means the namespace, so no namespace can ask for its metrics"),
        (
            _QUEUE.replace("queue_lag", "'queue_lag{topic=\"a\"}'")
            % ", resources: {namespaced: false}",
            'topic="a" stands in seriesQuery only',
        ),
    ],
)
def test_an_external_rule_in_doubt_is_told(rule: str, warning: str) -> None:
    (told,) = load("externalRules:\n" + rule, "rules.yaml").warnings
    assert warning in told.fault
