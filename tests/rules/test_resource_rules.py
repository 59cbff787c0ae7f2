"""Resource rules: their queries for containers and nodes, and how the file says them."""

import pytest

from adapter.model.kinds import NODES, PODS, Kinds
from adapter.rules.config import load
from adapter.rules.resource_rules import ResourceRule, ResourceRules
from tests.rules.loading import problems

_RULE = """
    containerQuery: sum by (<<.GroupBy>>) (rate(cpu{<<.LabelMatchers>>,container!=""}[3m]))
    nodeQuery: sum by (<<.GroupBy>>) (rate(node_cpu{<<.LabelMatchers>>}[3m]))
    resources:
      overrides:
        instance: {resource: node}
        namespace: {resource: namespace}
        pod: {resource: pod}
    containerLabel: container
"""
_BOTH = f"resourceRules:\n  cpu: {_RULE}  memory: {_RULE}  window: 3m\n"
_KINDS = Kinds()


def loaded(text: str = _BOTH) -> ResourceRules:
    """Give the section that `text` has."""
    rules = load(text, "rules.yaml").resource_rules
    assert rules is not None
    return rules


def cpu(text: str = _BOTH) -> ResourceRule:
    """Give the rule for cpu."""
    rule = loaded(text).cpu
    assert rule is not None
    return rule


@pytest.mark.parametrize(
    ("names", "matcher"),
    [(["a"], 'pod="a"'), (["a", "b.c"], r'pod=~"a|b\\.c"')],
)
def test_containers_are_asked_for_by_namespace_and_pods(names: list[str], matcher: str) -> None:
    rule = cpu()
    query = rule.render_containers(rule.pod_matchers("ml", names, _KINDS), _KINDS)
    assert query == (
        f'sum by (pod,container) (rate(cpu{{namespace="ml",{matcher},container!=""}}[3m]))'
    )


def test_nodes_are_asked_for_by_name() -> None:
    rule = cpu()
    query = rule.render_nodes(rule.node_matchers(["n1", "n2"], _KINDS), _KINDS)
    assert query == 'sum by (instance) (rate(node_cpu{instance=~"n1|n2"}[3m]))'


def test_labels_may_come_from_a_template() -> None:
    rule = cpu(_BOTH.replace("overrides:", "template: kube_<<.Resource>>\n      overrides:"))
    assert rule.label_of(PODS, _KINDS) == "pod"
    only = cpu(_templated("kube_<<.Resource>>"))
    assert [only.label_of(PODS, _KINDS), only.label_of(NODES, _KINDS)] == ["kube_pod", "kube_node"]
    assert only.resource_of("kube_node", _KINDS) == NODES


def test_a_kind_that_no_label_means_cannot_be_asked_for() -> None:
    rule = cpu(_BOTH.replace("instance: {resource: node}", "x: {resource: service}"))
    with pytest.raises(
        ValueError, match=r"rules\.yaml:3: resourceRules\.cpu: no label means nodes"
    ):
        rule.node_matchers(["n1"], _KINDS)


def _templated(template: str) -> str:
    head, _, rest = _RULE.partition("      overrides:")
    label = rest[rest.index("    containerLabel") :]
    return f"resourceRules:\n  cpu: {head}      template: {template}\n{label}"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3m", 180.0), ("1h30m", 5400.0), ("250ms", 0.25), ("1d", 86400.0), ("0", 0.0), ("", 0.0)],
)
def test_the_window_is_a_duration_of_prometheus(text: str, seconds: float) -> None:
    assert loaded(_BOTH.replace("3m\n", f"{text}\n")).window == seconds


def test_helm_values_say_them_under_rules() -> None:
    indented = _BOTH.removeprefix("resourceRules:\n").replace("\n", "\n  ")
    rules = loaded(f"rules:\n  resource:\n  {indented}")
    assert rules.memory is not None
    assert rules.memory.name == "memory"
    assert rules.window == 180


@pytest.mark.parametrize("text", ["resourceRules:", "resourceRules: {}", "rules: {resource: {}}"])
def test_an_empty_section_is_none(text: str) -> None:
    assert load(text, "rules.yaml").resource_rules is None


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("containerLabel: container", "", "cpu.containerLabel: missing or empty; write the label"),
        (
            "containerLabel: container",
            "containerLabel: a-b",
            "containerLabel: 'a-b' is not a label",
        ),
        ("node_cpu{", "node_cpu[", "cpu.nodeQuery: with sample values it is not PromQL"),
        (
            "sum by (<<.GroupBy>>) (rate(cpu{",
            "((cpu[1m]{",
            "cpu.containerQuery: with sample values",
        ),
        ("window: 3m", "window: 5", "resourceRules.window: not a duration of Prometheus"),
        ("window: 3m", "windw: 5m", "resourceRules.windw: unknown key; write window"),
    ],
)
def test_what_cannot_be_used_is_told(before: str, after: str, problem: str) -> None:
    assert problem in problems(_BOTH.replace(before, after))[0]


def test_labels_that_are_missing_are_told() -> None:
    text = _BOTH.replace("        namespace: {resource: namespace}\n", "", 1)
    (warning,) = load(text, "rules.yaml").warnings
    assert str(warning) == (
        "rules.yaml:6: resourceRules.cpu.resources: no label means namespaces: pods cannot be asked"
        " for; add an override such as namespace: {resource: namespace}"
    )


def test_one_of_the_two_alone_is_told() -> None:
    text = f"resourceRules:\n  cpu: {_RULE}"
    assert loaded(text).memory is None
    (warning,) = load(text, "rules.yaml").warnings
    assert "there is no rule for memory" in warning.fault
