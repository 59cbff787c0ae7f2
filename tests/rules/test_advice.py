"""Warnings: well-formed rules that may not do what their author expects."""

import pytest

from tests.rules.loading import warnings_of_rule

_LABELS = """
  resources:
    overrides:
      exported_pod: {resource: pod}
      exported_namespace: {resource: namespace}"""
_GOOD = f"seriesQuery: up\n  metricsQuery: up{{<<.LabelMatchers>>}}{_LABELS}"


def _with_query(query: str, series_query: str = "up", labels: str = _LABELS) -> list[str]:
    return warnings_of_rule(f"seriesQuery: {series_query}\n  metricsQuery: {query}{labels}")


def test_a_good_rule_has_no_warning() -> None:
    assert warnings_of_rule(_GOOD) == []


@pytest.mark.parametrize(
    ("expansion", "fault", "cure"),
    [
        ("$1_x", "$1_x means a group", "write ${1}_x"),
        ("${2}", "${2} means a group", "name a group of the pattern"),
        ("$what", "$what means a group", "name a group of the pattern"),
    ],
)
def test_a_reference_to_no_group_is_told(expansion: str, fault: str, cure: str) -> None:
    (line,) = warnings_of_rule(f'{_GOOD}\n  name: {{matches: (a), as: "{expansion}"}}')
    assert line.startswith(f"8: rule 1: name.as: {fault}")
    assert line.endswith(cure)


def test_a_rule_that_attaches_to_nothing_is_told() -> None:
    (line,) = _with_query("up{<<.LabelMatchers>>}", labels="")
    assert line == (
        "2: rule 1: no label is said to mean an object, so its metrics are never offered;"
        " add resources.overrides, such as exported_pod: {resource: pod}"
    )


def test_two_labels_for_one_kind_are_told_with_the_preferred_one() -> None:
    (line,) = warnings_of_rule(f"{_GOOD}\n      pod: {{resource: pods}}")
    assert line.endswith(
        "resources: exported_pod, pod all mean pods; leave one; as it is, pod, the last, is preferred,"
        " of DCGM series exported_pod, the workload's"
    )


def test_the_last_label_is_preferred_of_all_series_when_it_is_the_workloads() -> None:
    labels = "\n      node: {resource: node}\n      exported_node: {resource: node}"
    (line,) = warnings_of_rule(f"{_GOOD}{labels}")
    assert line.endswith("leave one; as it is, exported_node, the last, is preferred")


def test_a_namespaced_kind_without_a_namespace_label_is_told() -> None:
    labels = "\n  resources: {overrides: {pod: {resource: pod}, node: {resource: node}}}"
    (line,) = _with_query("up{<<.LabelMatchers>>}", labels=labels)
    assert "no label means the namespace of pods: they cannot be asked for" in line


@pytest.mark.parametrize("resource", ["node", "namespace"])
def test_a_kind_without_namespace_needs_no_namespace_label(resource: str) -> None:
    labels = f"\n  resources: {{overrides: {{x: {{resource: {resource}}}}}}}"
    assert _with_query("up{<<.LabelMatchers>>}", labels=labels) == []


@pytest.mark.parametrize(
    ("query", "dropped"),
    [
        ("avg(up{<<.LabelMatchers>>})", "exported_pod, exported_namespace"),
        ("avg(up{<<.LabelMatchers>>}) by (exported_pod)", "exported_namespace"),
        ("100 * max by (job) (up{<<.LabelMatchers>>})", "exported_pod, exported_namespace"),
        ("max without (exported_pod) (up{<<.LabelMatchers>>})", "exported_pod"),
        ("sum(up{<<.LabelMatchers>>}) / sum(up)", "exported_pod, exported_namespace"),
    ],
)
def test_an_aggregation_that_drops_an_objects_label_is_told(query: str, dropped: str) -> None:
    (line,) = _with_query(query)
    assert f"metricsQuery: the aggregation drops {dropped}: values of several" in line
    assert line.endswith("; keep them: by (<<.GroupBy>>)")


@pytest.mark.parametrize(
    "query",
    [
        "avg(up{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
        "avg(up{<<.LabelMatchers>>}) by (exported_pod, exported_namespace)",
        "avg without (gpu) (up{<<.LabelMatchers>>})",
        "up{<<.LabelMatchers>>}",
    ],
)
def test_an_aggregation_that_keeps_them_or_may_is_not(query: str) -> None:
    assert _with_query(query) == []


def test_an_aggregation_under_a_template_of_labels_is_told_too() -> None:
    labels = "\n  resources: {template: <<.Resource>>}"
    (line,) = _with_query("avg(up{<<.LabelMatchers>>})", labels=labels)
    assert "the aggregation drops the label of the object" in line
    assert _with_query("avg(up{<<.LabelMatchers>>}) by (<<.GroupBy>>)", labels=labels) == []


def test_a_condition_that_only_discovery_has_is_told() -> None:
    (line,) = _with_query("<<.Series>>{<<.LabelMatchers>>}", 'up{modelName="H200",UUID!=""}')
    assert line == (
        '3: rule 1: metricsQuery: modelName="H200" stands in seriesQuery only, so this query'
        ' reads other series as well; add modelName="H200" beside <<.LabelMatchers>>'
    )


def test_a_condition_that_the_query_has_as_well_is_not() -> None:
    series_query = '\'{__name__=~"^c_.*",container!="POD",exported_pod!="x"}\''
    assert _with_query('<<.Series>>{<<.LabelMatchers>>,container!="POD"}', series_query) == []


def test_a_query_without_matchers_is_told() -> None:
    (line,) = _with_query("<<.Series>>")
    assert "without .LabelMatchers each request reads the series of all objects" in line


def test_a_function_of_another_backend_is_a_warning_only() -> None:
    (line,) = _with_query("rollup_rate(<<.Series>>{<<.LabelMatchers>>}[5m])")
    assert "rollup_rate is no function of Prometheus that is known here; check that your" in line


def test_a_query_whose_values_are_not_known_yet_is_a_warning_only() -> None:
    (line,) = _with_query('sum(up{<<.LabelMatchers>>}[<<index .LabelValuesByName "window">>])')
    assert "with sample values it is not PromQL" in line


def test_a_kind_that_only_the_cluster_knows_is_left_to_it() -> None:
    labels = "\n  resources: {overrides: {job: {group: ray.io, resource: rayjob}}}"
    assert _with_query("up{<<.LabelMatchers>>}", labels=labels) == []
