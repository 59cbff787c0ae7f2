"""One rule: each fault is told with line, rule, key and cure."""

import pytest

from adapter.rules.config import load
from tests.rules.loading import in_rules, problems, problems_of_rule

_GOOD = "seriesQuery: up\n  metricsQuery: up{<<.LabelMatchers>>}\n"


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("  seriesFilter: []", "unknown key; write seriesFilters"),
        ("  seriesFilters: x", "seriesFilters: a text where a list belongs"),
        ("  seriesFilters: [{}]", "seriesFilters[1]: neither is nor isNot is given; give exactly"),
        ("  seriesFilters: [{is: a, isNot: b}]", "seriesFilters[1]: both is and isNot are given"),
        (
            "  seriesFilters:\n  - is: a\n  - isNot: '(?!a)'",
            (
                "6: rule 1: seriesFilters[2].isNot: not a regular expression of RE2: invalid perl"
                " operator: (?!; correct it; RE2 has no look-around and no back-references"
            ),
        ),
        ("  name: {matches: '('}", "name.matches: not a regular expression of RE2: missing ): ("),
        ("  name: {matches: (a)(b)}", "name.matches: 2 groups and no name.as to say which one"),
        ("  name: {as: [x]}", "name.as: a list where a text belongs"),
        ("  name: {As: x}", "name.As: unknown key; write as"),
        ("  resources: {template: <<.Group>>}", "resources.template: not a template of labels"),
        ("  resources: {template: <<.Series>>}", "there is no variable .Series; there are .Group"),
        ("  resources: {namespaced: maybe}", "resources.namespaced: neither true nor false"),
        (
            "  resources: {overrides: {pod: pod}}",
            "resources.overrides.pod: a text where a mapping belongs",
        ),
        (
            "  resources: {overrides: {'': {resource: pod}}}",
            "resources.overrides.: the label has no name; write the name of a label",
        ),
        (
            "  resources: {overrides: {pod: {}}}",
            (
                "4: rule 1: resources.overrides.pod: it names no resource;"
                " write pod: {resource: pod}, with the kind that the label names"
            ),
        ),
        (
            "  resources: {overrides: {pod: {resource: pod s}}}",
            "resources.overrides.pod: 'pod s' is not a resource; write pod: {resource: pod}",
        ),
        (
            "  resources: {overrides: {d: {resource: deployments.apps}}}",
            "'deployments.apps' is not a resource; write {group: apps, resource: deployments}",
        ),
        (
            "  resources: {overrides: {d: {resource: deployment, group: Apps/v1}}}",
            "'Apps/v1' is not an API group; write one such as apps",
        ),
        (
            "  resources: {overrides: {d: {resource: pod, kind: x}}}",
            "resources.overrides.d.kind: unknown key; remove it; known here: group, resource",
        ),
        (
            "  resources: {overrides: {pod: {resource: pod}, pod: {resource: node}}}",
            "resources.overrides.pod: the key is given twice, first in line 4; keep one of them",
        ),
        ('  name: {as: "\\ud800"}', "name.as: an escape stands for half a character"),
        ("  name: {as: !mine x}", "name.as: the tag !mine has no meaning here; remove it"),
    ],
)
def test_a_fault_of_a_key_is_told_with_its_cure(lines: str, problem: str) -> None:
    (line,) = problems_of_rule(f"{_GOOD}{lines}")
    assert problem in line
    assert ": rule 1: " in line


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("''", "missing or empty; write a selector such as"),
        ('{UUID!=""}', "a mapping where a text belongs; if it is meant as text, put it between"),
        ("'{}'", "not a series selector: vector selector must contain at least one non-empty"),
        ("rate(up[5m])", "not a series selector: a function or an operator stands in it"),
        ("up offset 5m", "a series selector takes neither offset nor @; remove it"),
        ("'up{'", "not a series selector"),
    ],
)
def test_a_series_query_must_be_a_selector(query: str, problem: str) -> None:
    (line,) = problems_of_rule(f"seriesQuery: {query}\n  metricsQuery: up{{<<.LabelMatchers>>}}")
    assert line.startswith(f"2: rule 1: seriesQuery: {problem}")


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("''", "missing or empty; write one such as <<.Series>>{<<.LabelMatchers>>}"),
        ("<<.Serie>>", "not a template: there is no variable .Serie; there are .Series, "),
        ("<<if .Series>>", "not a template: if is not closed with <<end>>; correct the text"),
        ("<<.Series", "not a template: an action is not closed with >>; correct the text between"),
        ("sum(<<.Series>>", "with sample values it is not PromQL: unclosed left parenthesis"),
        ("rate(<<.Series>>)", "with sample values it is not PromQL: expected type matrix"),
        ("<<.Series>>[3m]", "it gives a range, not one value for each series now; wrap a range"),
        ("scalar(<<.Series>>)", "it gives a scalar, not one value for each series now"),
        ("1 + 1", "it gives a scalar"),
        ("'\"x\"'", "it gives a string"),
        ("<<index .GroupBySlice 4>>", "with sample values it cannot be filled in: index 4 is out"),
    ],
)
def test_a_metrics_query_must_be_a_template_of_an_instant_vector(query: str, problem: str) -> None:
    (line,) = problems_of_rule(f"seriesQuery: up\n  metricsQuery: {query}")
    assert line.startswith(f"3: rule 1: metricsQuery: {problem}")


def test_missing_keys_are_told_where_the_rule_begins() -> None:
    assert [line[:25] for line in problems_of_rule("name: {as: x}")] == [
        "2: rule 1: seriesQuery: m",
        "2: rule 1: metricsQuery: ",
    ]


def test_a_rule_that_is_no_mapping_has_one_problem() -> None:
    assert problems("rules:\n- up") == [
        "rules.yaml:2: rule 1: a text where a mapping belongs; write it as 'key: value' lines"
    ]


def test_filters_and_matches_all_count() -> None:
    filters = "  seriesFilters: [{is: a}, {isNot: b}]\n  name: {matches: ^x}"
    (rule,) = load(in_rules(f"{_GOOD}{filters}"), "rules.yaml").rules
    taken = [name for name in ("xa", "xab", "x", "ya") if rule.metric_name(name) is not None]
    assert taken == ["xa"]


def test_every_spelling_of_true_and_false_is_a_boolean() -> None:
    for word in ("yes", "No", "ON", "off", "true", "FALSE"):
        resources = f"  resources: {{namespaced: {word}, template: <<.Resource>>}}"
        assert len(load(in_rules(f"{_GOOD}{resources}"), "rules.yaml").rules) == 1


def test_what_is_not_served_is_a_problem_even_where_values_decide() -> None:
    query = "up{<<.LabelMatchers>>} * <<range $v := len .LabelValuesByName>>1<<end>>"
    (line,) = problems_of_rule(f"seriesQuery: up\n  metricsQuery: '{query}'")
    fault = "with sample values it cannot be filled in: range cannot go over a whole number"
    assert line.startswith(f"3: rule 1: metricsQuery: {fault}")


def test_what_values_decide_is_only_a_warning() -> None:
    query = 'up{x=~"<<slice (index .LabelValuesByName `pod`) 4>>",<<.LabelMatchers>>}'
    text = f"rules: [{{seriesQuery: up, metricsQuery: '{query}'}}]"
    faults = [warning.fault for warning in load(text, "rules.yaml").warnings]
    assert any(fault.startswith("with sample values it cannot be filled") for fault in faults)
