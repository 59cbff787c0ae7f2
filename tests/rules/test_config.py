"""Files of rules: both forms, verbatim, and nothing between them that is guessed."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.errors import InputError
from adapter.rules.config import RulesFile, load
from tests.rules.loading import load_data, problems

_OVERRIDES = (
    ("node", "", "node"),
    ("exported_pod", "", "pod"),
    ("exported_namespace", "", "namespace"),
)
_PIECES = st.lists(
    st.sampled_from(
        [
            *[
                "rules:",
                "custom:",
                "prometheus:",
                "url:",
                "externalRules:",
                "resourceRules:",
                "seriesQuery:",
                "-",
                "[",
                "]",
                "{",
                "}",
                ",",
                "&",
                "*",
                "!",
                "'",
                "up",
                "<<:",
                "*a",
                "&a",
            ],
            "\n",
            "\n  ",
            "\n- ",
            " ",
            "name: {as: $1, matches: (a)}",
            "metricsQuery: <<.Series>>",
            '"\\ud800"',
            "resources: {overrides: {pod: {resource: pod}}}",
        ]
    )
)


@pytest.mark.parametrize("name", ["walkthrough-values.yaml", "walkthrough-adapter.yaml"])
def test_the_walk_throughs_rules_load_verbatim_in_both_forms(name: str) -> None:
    rules = load_data(name).rules
    assert [rule.number for rule in rules] == [1, 2]
    assert [rule.metric_name("DCGM_FI_DEV_GPU_UTIL") for rule in rules] == [
        "DEV_GPU_UTIL_over_time",
        "DEV_GPU_UTIL_current",
    ]
    assert [rule.overrides for rule in rules] == [_OVERRIDES, _OVERRIDES]
    assert [str(rule.metrics_query) for rule in rules] == [
        "ceil(avg_over_time(<<.Series>>{<<.LabelMatchers>>}[3m]))",
        "<<.Series>>{<<.LabelMatchers>>}",
    ]


def test_the_walk_throughs_rules_give_no_warning() -> None:
    assert load_data("walkthrough-values.yaml").warnings == ()


def test_a_rule_knows_its_file_and_line() -> None:
    rules = load_data("walkthrough-values.yaml").rules
    assert [str(rule) for rule in rules] == [
        "walkthrough-values.yaml:5: rule 1",
        "walkthrough-values.yaml:13: rule 2",
    ]


def test_helm_values_carry_the_address_of_prometheus() -> None:
    loaded = load_data("walkthrough-values.yaml")
    assert loaded.prometheus_url == "http://prometheus-operated.prometheus.svc:9090"
    assert load_data("walkthrough-adapter.yaml").prometheus_url is None


def test_the_charts_whole_values_can_be_given() -> None:
    loaded = load_data("chart-values.yaml")
    assert loaded.rules == ()
    assert [str(warning) for warning in loaded.warnings] == [
        (
            "chart-values.yaml:5: metricsRelistInterval: not read from this file;"
            " start the adapter with --metrics-relist-interval"
        )
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "---\n",
        "{}",
        "rules:",
        "rules: []",
        "rules: {}",
        "rules: []\nexternalRules: []\nresourceRules: {}",
        "rules: {default: false, custom: [], existing: null, external: [], resource: {}}",
        '{"rules": []}',
    ],
)
def test_a_file_without_rules_is_fine(text: str) -> None:
    assert load(text, "rules.yaml") == RulesFile()


def test_scalars_keep_their_source_text() -> None:
    text = "rules: [{seriesQuery: up, metricsQuery: up, name: {matches: 0o7, as: yes}}]"
    (rule,) = load(text, "rules.yaml").rules
    assert rule.metric_name("x0o7") == "yes"


def test_anchors_and_merge_keys_work() -> None:
    text = """
rules:
- &util
  seriesQuery: up
  metricsQuery: up{<<.LabelMatchers>>}
  name: {as: first}
- <<: *util
  name: {as: second}
"""
    rules = load(text, "rules.yaml").rules
    assert [rule.metric_name("up") for rule in rules] == ["first", "second"]
    assert [rule.series_query for rule in rules] == ["up", "up"]


def test_a_merge_that_contains_itself_ends() -> None:
    text = "rules:\n- &a\n  <<: *a\n  seriesQuery: up\n  metricsQuery: up"
    assert len(load(text, "rules.yaml").rules) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "rules.yaml:1: a list where a mapping belongs; write it as 'key: value' lines"),
        ("rules: {custom: {}}", "a mapping where a list belongs; begin each element with '- '"),
        ("Rules: []", "rules.yaml:1: Rules: unknown key; write rules"),
        (
            "rules: {custm: []}",
            "rules.yaml:1: rules.custm: unknown key; write custom",
        ),
        (
            "rules: []\nprometheus: {}",
            (
                "rules.yaml:2: prometheus: unknown key; remove it;"
                " known here: rules, externalRules, resourceRules"
            ),
        ),
        ("rules: []\nrules: []", "rules.yaml:2: rules: the key is given twice, first in line 1"),
        ("rules: {default: maybe}", "rules.default: neither true nor false; write true or false"),
        (
            "rules: {existing: mine}",
            (
                "rules.existing: the rules are those of the ConfigMap mine, which cannot be read"
                " from here; mount that ConfigMap and give its config.yaml with --config"
            ),
        ),
        ("rules: {external: [{}]}", "rule 1: rules.external.seriesQuery: missing or empty"),
        ("externalRules: [{}]", "rule 1: externalRules.metricsQuery: missing or empty"),
        ("resourceRules: {cpu: [x]}", "resourceRules.cpu: a list where a mapping belongs"),
        ("resourceRules: {window: 5}", "resourceRules.window: not a duration of Prometheus"),
        ("apiVersion: v1\nkind: ConfigMap", "give the text that stands in it under data"),
        ("rules: !mine []\nx: 1", "x: unknown key"),
        ("? [a]\n: 1", "a key is not a text; write a plain key"),
        ("rules:\n- <<: 5", "<< merges something that is no mapping"),
    ],
)
def test_a_wrong_shape_is_told_with_its_cure(text: str, problem: str) -> None:
    assert any(problem in line for line in problems(text))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rules:\n\t- x", "rules.yaml:2: not YAML: found character '\\t'"),
        ("rules:\n- a: b\n c: d", "rules.yaml:3: not YAML: expected <block end>"),
        ("a: {as: ${1}_x}", "between double quotes"),
        ("a: 1\n---\nb: 2", "rules.yaml:3: not YAML: expected a single document"),
        ("a: *b", "not YAML: found undefined alias 'b'"),
        ("a: \x00", "rules.yaml: not YAML: unacceptable character #x0000"),
        (r'a: "\UFFFFFFFF"', "rules.yaml: not YAML: an escape or a number is too large"),
        ("[" * 3000, "rules.yaml: not YAML: lists or mappings are nested too deeply"),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line(text: str, problem: str) -> None:
    (line,) = problems(text)
    assert problem in line


def test_every_problem_of_a_file_is_told_together_and_in_its_order() -> None:
    with pytest.raises(InputError) as raised:
        load_data("everything-wrong.yaml")
    told = [(p.line, p.rule, p.key) for p in raised.value.problems]
    assert told == [
        (2, 1, "seriesquery"),
        (2, 1, "seriesQuery"),
        (3, 1, "seriesFilters[1]"),
        (3, 1, "seriesFilters[2]"),
        (3, 1, "seriesFilters[3].is"),
        (4, 1, "resources.overrides.pod"),
        (4, 1, "resources.overrides.x"),
        (4, 1, "resources.overrides.node"),
        (4, 1, "resources.template"),
        (5, 1, "name.matches"),
        (5, 1, "name.matches"),
        (6, 1, "metricsQuery"),
        (7, 2, "seriesQuery"),
        (8, 2, "metricsQuery"),
        (15, 5, "seriesQuery"),
        (16, 5, "metricsQuery"),
        (17, 1, "externalRules.metricsQuery"),
        (18, 0, "resourceRules.cpu.containerQuery"),
        (18, 0, "resourceRules.cpu.nodeQuery"),
        (18, 0, "resourceRules.cpu.containerLabel"),
        (18, 0, "resourceRules.window"),
        (19, 0, "resourceRule"),
    ]


@given(st.text() | _PIECES.map("".join))
def test_any_text_is_a_file_of_rules_or_an_input_error(text: str) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(load(text, "rules.yaml"), RulesFile)


def test_every_problem_of_resource_rules_is_told() -> None:
    text = """
resourceRules:
  cpu:
    containerQuery: sum(<<.Series)
    nodeQuery: up
    resources: {overrides: {node: {}}}
    containerLabel: [x]
  window: 1h30m
"""
    assert [line.split(": ")[1] for line in problems(text)] == [
        "resourceRules.cpu.containerQuery",
        "resourceRules.cpu.resources.overrides.node",
        "resourceRules.cpu.containerLabel",
    ]


def test_a_last_line_of_dashes_begins_no_second_document() -> None:
    assert len(load("rules: [{seriesQuery: up, metricsQuery: up}]\n---\n", "f").rules) == 1
