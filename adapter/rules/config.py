"""The file of rules, in Prometheus Adapter's own form and in that of its Helm values.

    rules: [ rule ... ]                      prometheus: {url, port, path}
    externalRules: [ rule ... ]              rules: {default, custom, existing, external, resource}
    resourceRules: {cpu, memory, window}

The two are told apart by their shape. Keys, types, regular expressions, templates and queries are
checked here, before anything is served.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from adapter.errors import InputError, Problem
from adapter.rules.advice import advise
from adapter.rules.helm import CHART_KEYS, read_prometheus_url, warn_of_unread
from adapter.rules.nodes import Cursor, Findings, compose
from adapter.rules.reading import BOOLEANS, read_rule
from adapter.rules.resource_rules import read_resource_rules
from adapter.rules.rule import Rule

_ADAPTER_KEYS = ("rules", "externalRules", "resourceRules")
_HELM_KEYS = ("prometheus", "rules")
_HELM_RULES = ("default", "custom", "existing", "external", "resource")


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesFile:
    """What a file says; `prometheus_url` is the one of Helm values, None when there is none."""

    rules: tuple[Rule, ...] = ()
    prometheus_url: str | None = None
    warnings: tuple[Problem, ...] = ()


def load(text: str, file: str) -> RulesFile:
    """Read a file of rules; an empty one has no rules.

    `file` is how messages call it. Raises InputError with every problem of the file, by line.
    """
    findings = Findings(file)
    root = compose(text, findings)
    rules, url = _read(root) if root else ((), None)
    if findings.problems:
        raise InputError(_by_line(findings.problems))
    return RulesFile(rules=rules, prometheus_url=url, warnings=tuple(_by_line(findings.warnings)))


def _by_line(problems: Iterable[Problem]) -> list[Problem]:
    return sorted(dict.fromkeys(problems), key=lambda problem: problem.line)


def _read(root: Cursor) -> tuple[tuple[Rule, ...], str | None]:
    keys = dict(root.entries()) if root.is_mapping else {}
    if "kind" in keys and "apiVersion" in keys:
        root.problem(
            "this is a Kubernetes object, not the rules themselves",
            "give the text that stands in it under data, key config.yaml",
        )
        return (), None
    if _is_helm(keys):
        return _read_helm(root)
    return _read_adapter(root), None


def _is_helm(keys: dict[str, Cursor]) -> bool:
    if "rules" in keys and not keys["rules"].is_null:
        return keys["rules"].is_mapping
    return any(key in keys for key in ("prometheus", *CHART_KEYS))


def _read_adapter(root: Cursor) -> tuple[Rule, ...]:
    given = root.mapping(*_ADAPTER_KEYS)
    rules = _rules(given["rules"]) if "rules" in given else ()
    _refuse_external(given.get("externalRules"))
    _refuse_resource(given.get("resourceRules"))
    return rules


def _read_helm(root: Cursor) -> tuple[tuple[Rule, ...], str | None]:
    given = root.mapping(*_HELM_KEYS, unread=CHART_KEYS)
    url = read_prometheus_url(given["prometheus"]) if "prometheus" in given else None
    warn_of_unread(given)
    chart = given["rules"].mapping(*_HELM_RULES) if "rules" in given else {}
    rules = _rules(chart["custom"]) if "custom" in chart else ()
    _refuse_default(chart.get("default"))
    _refuse_existing(chart.get("existing"))
    _refuse_external(chart.get("external"))
    _refuse_resource(chart.get("resource"))
    return rules, url


def _rules(cursor: Cursor) -> tuple[Rule, ...]:
    found = []
    for number, item in enumerate(cursor.items(), 1):
        numbered = item.in_rule(number)
        if rule := read_rule(numbered):
            advise(rule, numbered)
            found.append(rule)
    return tuple(found)


def _refuse_external(cursor: Cursor | None) -> None:
    if cursor is None or (items := cursor.items()) == ():
        return
    cursor.problem(
        "rules for external.metrics.k8s.io are not served yet",
        "take them out, and leave that API group to the server that has it now",
    )
    for number, item in enumerate(items, 1):
        read_rule(item.in_rule(number, cursor.key))


def _refuse_resource(cursor: Cursor | None) -> None:
    if cursor is None or not (given := cursor.entries()):
        return
    cursor.problem(
        "rules for metrics.k8s.io are not served yet",
        "take them out, and leave that API group to the server that has it now",
    )
    read_resource_rules(cursor, dict(given))


def _refuse_default(cursor: Cursor | None) -> None:
    word = cursor.text().lower() if cursor else ""
    if cursor is None or BOOLEANS.get(word) is False:
        return
    if word in BOOLEANS:
        cursor.problem("the six default rules of the chart are not served yet", "set it to false")
    else:
        cursor.problem("neither true nor false", "write false")


def _refuse_existing(cursor: Cursor | None) -> None:
    if cursor is not None and cursor.text():
        cursor.problem(
            "rules from another ConfigMap are not read yet",
            "leave it empty and give that ConfigMap's config.yaml as the file",
        )
