"""`resourceRules` of the file, read into ResourceRules."""

import re
from collections.abc import Mapping

from adapter.model.kinds import NAMESPACES, NODES, PODS, Kinds
from adapter.rules.matchers import Matcher, is_label
from adapter.rules.nodes import Cursor
from adapter.rules.query import check_query
from adapter.rules.reading import read_query, read_resources
from adapter.rules.resource_rules import ResourceRule, ResourceRules
from adapter.rules.rule import filled, variables_of

_DURATION = re.compile(r"0|(?=.)(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?", re.ASCII)
_SECONDS = (365 * 86400, 7 * 86400, 86400, 3600, 60, 1, 0.001)
_SAMPLE = (Matcher("sample_label", "=", "sample-name"),)


def read_resource_rules(cursor: Cursor) -> ResourceRules | None:
    """Give the section at `cursor`; None when nothing stands in it.

    Whatever is wrong with it is noted.
    """
    given = cursor.mapping("cpu", "memory", "window")
    if not given:
        return None
    cpu, memory = _rule(given, "cpu"), _rule(given, "memory")
    if missing := [name for name in ("cpu", "memory") if _is_absent(given.get(name))]:
        cursor.warn(
            f"there is no rule for {' and '.join(missing)}, and an answer needs both",
            "add what is missing, or take resource rules out",
        )
    return ResourceRules(cpu=cpu, memory=memory, window=_window(given.get("window")))


def _is_absent(cursor: Cursor | None) -> bool:
    return cursor is None or cursor.is_empty


def _rule(sections: Mapping[str, Cursor], name: str) -> ResourceRule | None:
    cursor = sections.get(name)
    if cursor is None or _is_absent(cursor):
        return None
    given = cursor.mapping("containerQuery", "nodeQuery", "resources", "containerLabel")
    containers = read_query(cursor, given, "containerQuery")
    nodes = read_query(cursor, given, "nodeQuery")
    overrides, template = read_resources(given.get("resources"))
    container_label = _container_label(cursor, given)
    if containers is None or nodes is None:
        return None
    rule = ResourceRule(
        name=name,
        file=cursor.findings.file,
        line=cursor.line,
        container_query=containers,
        node_query=nodes,
        overrides=overrides,
        template=template,
        container_label=container_label,
    )
    _check(rule, given)
    _advise(rule, given.get("resources", cursor))
    return rule


def _container_label(parent: Cursor, given: Mapping[str, Cursor]) -> str:
    cursor = given.get("containerLabel") or parent.below("containerLabel", parent.node)
    label = cursor.text() if "containerLabel" in given else ""
    if not is_label(label) and ("containerLabel" not in given or cursor.is_text):
        fault = f"{label!r} is not a label" if label else "missing or empty"
        cursor.problem(fault, "write the label that tells containers apart, such as container")
    return label


def _check(rule: ResourceRule, given: Mapping[str, Cursor]) -> None:
    containers, nodes = rule.container_query, rule.node_query
    by = ("sample_label", "sample_container")
    check_query(
        containers,
        lambda: filled(containers, variables_of("", _SAMPLE, by)),
        given["containerQuery"],
    )
    check_query(nodes, lambda: filled(nodes, variables_of("", _SAMPLE, by[:1])), given["nodeQuery"])


def _advise(rule: ResourceRule, cursor: Cursor) -> None:
    kinds = Kinds()
    for kind, told in ((PODS, "pods"), (NAMESPACES, "pods"), (NODES, "nodes")):
        if rule.label_for(kind, kinds) is not None:
            continue
        cursor.warn(
            f"no label means {kind.plural}: {told} cannot be asked for",
            f"add an override such as {kind.singular}: {{resource: {kind.singular}}}",
        )


def _window(cursor: Cursor | None) -> float:
    text = cursor.text() if cursor else ""
    found = _DURATION.fullmatch(text)
    if cursor and not found and not cursor.is_empty:
        cursor.problem("not a duration of Prometheus", "write one such as 3m or 1h30m")
    parts = found.groups() if found else ()
    return sum(
        int(re.sub(r"\D", "", part)) * seconds
        for part, seconds in zip(parts, _SECONDS, strict=False)
        if part
    )
