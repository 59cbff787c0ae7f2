"""The file of rules, in Prometheus Adapter's own form and in that of its Helm values.

    rules: [ rule ... ]                      prometheus: {url, port, path}
    externalRules: [ rule ... ]              rules: {default, custom, existing, external, resource}
    resourceRules: {cpu, memory, window}

The two are told apart by their shape. Keys, types, regular expressions, templates and queries are
checked here, before anything is served.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from adapter.errors import InputError, Problem
from adapter.rules.advice import advise, advise_external
from adapter.rules.chart import DEFAULT_RULES
from adapter.rules.external import ExternalRule
from adapter.rules.helm import CHART_KEYS, read_prometheus_url, warn_of_unread
from adapter.rules.nodes import Cursor, Findings, compose
from adapter.rules.reading import BOOLEANS, read_external_rule, read_rule
from adapter.rules.reading_resource import read_resource_rules
from adapter.rules.resource_rules import ResourceRules
from adapter.rules.rule import Rule

_ADAPTER_KEYS = ("rules", "externalRules", "resourceRules")
_HELM_KEYS = ("prometheus", "rules")
_DEFAULTS = "the chart's default rules"
_HELM_RULES = ("default", "custom", "existing", "external", "resource")


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesFile:
    """What a file says; `prometheus_url` is the one of Helm values, None when there is none.

    `resource_rules` is None when the file has none.
    """

    rules: tuple[Rule, ...] = ()
    external_rules: tuple[ExternalRule, ...] = ()
    resource_rules: ResourceRules | None = None
    prometheus_url: str | None = None
    warnings: tuple[Problem, ...] = ()


def load(text: str, file: str) -> RulesFile:
    """Read a file of rules; an empty one has no rules.

    `file` is how messages call it. Raises InputError with every problem of the file, by line.
    """
    rules, problems = judge(text, file)
    if problems:
        raise InputError(problems)
    return rules


def judge(text: str, file: str) -> tuple[RulesFile, list[Problem]]:
    """Give the rules of a file that have no problem, and every problem of the file, by line."""
    findings = Findings(file)
    root = compose(text, findings)
    read = _read(root) if root else RulesFile()
    rules = replace(read, warnings=tuple(_by_line(findings.warnings)))
    return rules, _by_line(findings.problems)


def _by_line(problems: Iterable[Problem]) -> list[Problem]:
    return sorted(dict.fromkeys(problems), key=lambda problem: problem.line)


def _read(root: Cursor) -> RulesFile:
    keys = dict(root.entries()) if root.is_mapping else {}
    if "kind" in keys and "apiVersion" in keys:
        root.problem(
            "this is a Kubernetes object, not the rules themselves",
            "give the text that stands in it under data, key config.yaml",
        )
        return RulesFile()
    return _read_helm(root) if _is_helm(keys) else _read_adapter(root)


def _is_helm(keys: dict[str, Cursor]) -> bool:
    if "rules" in keys and not keys["rules"].is_null:
        return keys["rules"].is_mapping
    return any(key in keys for key in ("prometheus", *CHART_KEYS))


def _read_adapter(root: Cursor) -> RulesFile:
    given = root.mapping(*_ADAPTER_KEYS)
    return RulesFile(
        rules=_rules(given.get("rules")),
        external_rules=_external_rules(given.get("externalRules")),
        resource_rules=_resource_rules(given.get("resourceRules")),
    )


def _read_helm(root: Cursor) -> RulesFile:
    given = root.mapping(*_HELM_KEYS, unread=CHART_KEYS)
    url = read_prometheus_url(given["prometheus"]) if "prometheus" in given else None
    warn_of_unread(given)
    chart = given["rules"].mapping(*_HELM_RULES) if "rules" in given else {}
    _refuse_existing(chart.get("existing"))
    return RulesFile(
        rules=(*_default_rules(chart.get("default")), *_rules(chart.get("custom"))),
        external_rules=_external_rules(chart.get("external")),
        resource_rules=_resource_rules(chart.get("resource")),
        prometheus_url=url,
    )


def _rules(cursor: Cursor | None) -> tuple[Rule, ...]:
    found = []
    for number, item in enumerate(cursor.items() if cursor else (), 1):
        numbered = item.in_rule(number)
        if rule := read_rule(numbered):
            advise(rule, numbered)
            found.append(rule)
    return tuple(found)


def _external_rules(cursor: Cursor | None) -> tuple[ExternalRule, ...]:
    found = []
    for number, item in enumerate(cursor.items() if cursor else (), 1):
        numbered = item.in_rule(number, item.key.partition("[")[0])
        if rule := read_external_rule(numbered):
            advise_external(rule, numbered)
            found.append(rule)
    return tuple(found)


def _resource_rules(cursor: Cursor | None) -> ResourceRules | None:
    return read_resource_rules(cursor) if cursor else None


def _default_rules(cursor: Cursor | None) -> tuple[Rule, ...]:
    """Give the chart's own rules when `cursor` asks for them; they come before the file's."""
    word = cursor.text().lower() if cursor else ""
    if cursor is None or BOOLEANS.get(word) is False:
        return ()
    if word not in BOOLEANS:
        cursor.problem("neither true nor false", "write true or false")
        return ()
    return tuple(replace(rule, line=0) for rule in load(DEFAULT_RULES, _DEFAULTS).rules)


def _refuse_existing(cursor: Cursor | None) -> None:
    if cursor is not None and (name := cursor.text()):
        cursor.problem(
            f"the rules are those of the ConfigMap {name}, which cannot be read from here",
            "mount that ConfigMap and give its config.yaml with --config",
        )
