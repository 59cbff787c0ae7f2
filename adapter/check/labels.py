"""What is in doubt about the labels and names of the series that a rule finds. No I/O."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapter.check.report import Finding, Severity
from adapter.engine.survey import NamesByLabel
from adapter.model.kinds import NAMESPACES, Kinds
from adapter.model.objects import Resource
from adapter.rules.rule import Rule, SeriesRule
from adapter.rules.scrutiny import NAME_CURE, UNNAMABLE, told, unnamable

_EXPORTED = "exported_"
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The series that a rule finds: their names, their labels, and which name carries which."""

    names: Sequence[str]
    labels: Collection[str]
    by_label: NamesByLabel


def about_labels(rule: Rule, found: Found, kinds: Kinds) -> Iterator[Finding]:
    """Give the labels that are missing, unused or without meaning; `found` has some names."""
    yield from _missing(rule, found, kinds)
    yield from _unused(rule, found, kinds)
    meant = {label: rule.resource_of(label, kinds) for label in found.labels}
    resources = [resource for resource in meant.values() if resource]
    if not resources:
        yield _doubt(
            rule,
            "resources",
            "its series carry no label that means an object, so it offers nothing: they carry "
            + some(sorted(found.labels)),
            "say in resources.overrides which of these names the object",
        )
    yield from _without_namespace(rule, resources)


def about_kinds(rule: SeriesRule, kinds: Kinds | None) -> Iterator[Finding]:
    """Give the overrides to kinds that the cluster's `kinds` lack, or when None those of any cluster."""
    severity = Severity.NOTE if kinds is None else Severity.WARNING
    fault = "the cluster has no such kind, and the rule waits until it has"
    if kinds is None:
        fault = "not a kind that every cluster has, and the rule waits until the cluster has it"
    for label, group, word in rule.unknown_overrides(kinds or Kinds()):
        kind = f"{word}.{group}" if group else word
        cure = "correct it, or see with --lister-kubeconfig whether the cluster has it"
        problem = told(rule, f"resources.overrides.{label}", f"{kind}: {fault}", cure)
        yield Finding.of(severity, problem)


def about_names(rule: SeriesRule, names: Sequence[str]) -> Iterator[Finding]:
    """Give what is wrong with the metrics' names that the rule makes of `names`."""
    by_metric = metrics_of(rule, names)
    nameless = [name for name in names if _comes_to_nothing(rule, name)]
    if nameless:
        yield _doubt(rule, "name.as", f"it gives no name for {some(nameless)}", NAME_CURE)
    elif not by_metric:
        yield _doubt(
            rule,
            "seriesFilters" if rule.filters else "name.matches",
            f"the series {some(names)} are found and none of them is taken",
            "correct the pattern, or leave it out to take every series",
        )
    for metric, series in by_metric.items():
        if not unnamable(rule) and (UNNAMABLE & set(metric) or metric in {".", ".."}):
            yield _doubt(rule, "name.as", f"{metric} is no name that an HPA takes", NAME_CURE)
        # Of a constant name it is told where it is withheld.
        if len(series) > 1 and not rule.naming.is_constant:
            fault = f"{some(series)} are all named {metric}: {series[-1]} is served"
            yield _doubt(rule, "name.as", fault, 'keep them apart, such as with "${1}"')


def metrics_of(rule: SeriesRule, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Give the names of the metrics that the rule makes of `names`, each with its series."""
    by_metric: dict[str, list[str]] = {}
    for series in names:
        if metric := rule.metric_name(series):
            by_metric.setdefault(metric, []).append(series)
    return by_metric


def some(words: Sequence[str], between: str = ", ") -> str:
    """Give the first few of `words`, and how many more there are."""
    shown = between.join(words[:_SHOWN])
    more = len(words) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "none"


def _doubt(rule: SeriesRule, key: str, fault: str, cure: str) -> Finding:
    return Finding.of(Severity.WARNING, told(rule, key, fault, cure))


def _missing(rule: Rule, found: Found, kinds: Kinds) -> Iterator[Finding]:
    carried = {rule.resource_of(label, kinds) for label in found.labels}
    for label, group, word in rule.overrides:
        if label in found.labels:
            continue
        # One of two labels for a kind is enough: rules name both for fleets that have either.
        severity = Severity.NOTE if kinds.find(word, group) in carried else Severity.WARNING
        fault, cure = f"no series carries {label}", _instead(label, word, found.labels)
        yield Finding.of(severity, told(rule, f"resources.overrides.{label}", fault, cure))


def _instead(label: str, word: str, labels: Collection[str]) -> str:
    bare = label.removeprefix(_EXPORTED)
    likely = [bare, _EXPORTED + bare, bare.lower(), bare.capitalize()]
    other = next((one for one in likely if one != label and one in labels), None)
    if other is None:
        return "correct the name, or take it out"
    return f"they carry {other}: write {other}: {{resource: {word}}}"


def _unused(rule: Rule, found: Found, kinds: Kinds) -> Iterator[Finding]:
    for label in sorted(found.labels):
        bare = label.removeprefix(_EXPORTED)
        kind = rule.resource_of(bare, kinds)
        if bare == label or kind is None or rule.resource_of(label, kinds):
            continue
        yield _doubt(
            rule,
            "resources",
            f"{label} is present and unused: where a series has it, {bare} is the scrape target's"
            " own, such as the exporter's, and not the workload's",
            f"add to overrides {label}: {{resource: {kind.singular}}}",
        )


def _without_namespace(rule: Rule, resources: Collection[Resource]) -> Iterator[Finding]:
    homeless = {one.qualified for one in resources if one.namespaced}
    if homeless and NAMESPACES.qualified not in {one.qualified for one in resources}:
        yield _doubt(
            rule,
            "resources",
            f"no series carries a label for the namespace of {', '.join(sorted(homeless))}, so"
            " they cannot be asked for",
            "add an override such as exported_namespace: {resource: namespace}",
        )


def _comes_to_nothing(rule: SeriesRule, series: str) -> bool:
    taken = all(condition.accepts(series) for condition in rule.filters)
    return taken and rule.naming.pattern.search(series) is not None and not rule.metric_name(series)
