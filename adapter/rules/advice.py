"""Warnings: rules that are well formed and may still not do what their author expects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import promql_parser as promql

from adapter.model.kinds import NAMESPACES, Kinds
from adapter.model.objects import Resource
from adapter.rules.dropping import surely_drops
from adapter.rules.expressions import alternatives_of, parse, selectors
from adapter.rules.external import ExternalRule
from adapter.rules.matchers import Matcher
from adapter.rules.nodes import Cursor
from adapter.rules.query import external_sample, sample
from adapter.rules.rule import Rule, SeriesRule

_PRESENT = (("!=", ""), ("=~", ".+"))


def advise(rule: Rule, cursor: Cursor) -> None:
    """Note warnings about `rule`, which was read from `cursor`."""
    given = dict(cursor.entries())
    resources = given.get("resources", cursor)
    if not rule.overrides and rule.template is None:
        resources.warn(
            "no label is said to mean an object, so its metrics are never offered",
            "add resources.overrides, such as exported_pod: {resource: pod}",
        )
    _advise_on_labels(rule, resources)
    try:
        _advise_on_query(rule, given["metricsQuery"])
    except ValueError:
        return  # check_query has told why the query cannot be read


def advise_external(rule: ExternalRule, cursor: Cursor) -> None:
    """Note warnings about `rule`, which was read from `cursor`."""
    given = dict(cursor.entries())
    if rule.namespaced and rule.label_for(NAMESPACES, Kinds()) is None:
        given.get("resources", cursor).warn(
            "no label means the namespace, so no namespace can ask for its metrics",
            "add an override such as namespace: {resource: namespace}, or namespaced: false",
        )
    try:
        conditions = tuple(_left_out(rule, external_sample(rule)))
    except ValueError:
        return  # check_query has told why the query cannot be read
    _tell_left_out(conditions, given["metricsQuery"])


def _tell_left_out(conditions: Iterable[Matcher], cursor: Cursor) -> None:
    for matcher in conditions:
        cursor.warn(
            f"{matcher} stands in seriesQuery only, so this query reads other series as well",
            f"add {matcher} beside <<.LabelMatchers>>",
        )


def _advise_on_labels(rule: Rule, cursor: Cursor) -> None:
    labels = _labels_by_kind(rule)
    for kind, names in labels.items():
        if len(names) > 1:
            cursor.warn(
                f"{', '.join(names)} all mean {kind.qualified}",
                f"leave one; as it is, {_preferred(names)}",
            )
    namespaced = [kind.qualified for kind in labels if kind.namespaced]
    if namespaced and NAMESPACES not in labels and rule.template is None:
        cursor.warn(
            f"no label means the namespace of {', '.join(namespaced)}: they cannot be asked for",
            "add an override such as exported_namespace: {resource: namespace}",
        )


def _preferred(names: Sequence[str]) -> str:
    told = f"{names[-1]}, the last, is preferred"
    exported = [name for name in names if name.startswith("exported_")]
    if not exported or names[-1] in exported:
        return told
    return f"{told}, of DCGM series {exported[-1]}, the workload's"


def _labels_by_kind(rule: Rule) -> Mapping[Resource, list[str]]:
    kinds = Kinds()
    found: dict[Resource, list[str]] = {}
    for label, group, word in rule.overrides:
        if kind := kinds.find(word, group):
            found.setdefault(kind, []).append(label)
    return found


def _advise_on_query(rule: Rule, cursor: Cursor) -> None:
    query = rule.metrics_query
    if not query.uses("LabelMatchers") and not query.uses("LabelValuesByName"):
        cursor.warn(
            "without .LabelMatchers each request reads the series of all objects",
            "put {<<.LabelMatchers>>} behind the name of the series",
        )
    if dropped := [label for label in _object_labels(rule) if not _keeps(rule, label)]:
        cursor.warn(
            f"the aggregation drops {', '.join(dropped)}: values of several objects cannot be told"
            " apart",
            "keep them: by (<<.GroupBy>>)",
        )
    _tell_left_out(_left_out(rule, sample(rule)), cursor)


def _object_labels(rule: Rule) -> list[str]:
    # Without overrides the labels are not known here, but that .GroupBy holds one of them is.
    return [label for label, _, _ in rule.overrides] or ["the label of the object"]


def _keeps(rule: Rule, label: str) -> bool:
    name = label if rule.overrides else "sample_label"
    try:
        return not surely_drops(parse(sample(rule, name)), name)
    except ValueError:
        return True


def _left_out(rule: SeriesRule, query: str) -> Iterator[Matcher]:
    """Give the conditions of seriesQuery that some selector of the query does not mention.

    Mere presence of a label is no condition worth telling: the request asks for its value.
    """
    conditions, *others = alternatives_of(selectors(parse(rule.series_query))[0])
    reading = [_labels_of(selector) for selector in selectors(parse(query))]
    objects = {label for label, _, _ in rule.overrides}
    for matcher in conditions if not others else ():
        present = (matcher.operator, matcher.value) in _PRESENT
        if present or matcher.label in {"__name__", *objects}:
            continue
        if not all(matcher.label in labels for labels in reading):
            yield matcher


def _labels_of(selector: promql.VectorSelector) -> set[str]:
    return {matcher.label for group in alternatives_of(selector) for matcher in group}
