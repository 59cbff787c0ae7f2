"""What is offered: which metric, on which kind of object, from which series by which rule."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from adapter.engine.labels import Binding, bindings_of, workload_first
from adapter.model.kinds import Kinds
from adapter.model.objects import Resource
from adapter.rules.dcgm import is_gpu
from adapter.rules.matchers import Matcher, is_metric_name
from adapter.rules.promql import Spread, keeps_unit, spread, sums_unit, window
from adapter.rules.rule import Rule

_MOST_LISTED = 3
_NARROW_FIRST = (Spread.REQUEST, Spread.NAMESPACE, Spread.CLUSTER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One metric on one kind of object.

    `bindings` are the labels that name the object, preferred first, at least one. `spread` tells
    how many objects one query may serve, by the narrowest of the bindings. `window` is the range
    in the query in seconds, None for an instant one. `keeps_unit` says that the query's values
    are the series' own, so that what is impossible for the series is impossible for them;
    `sums_unit` that they are those or sums of those. `withheld` says why it is not served, if so.
    `beside` are offers of earlier rules that count for objects for which this one has no value.
    """

    metric: str
    resource: Resource
    rule: Rule
    series: str
    bindings: tuple[Binding, ...]
    spread: Spread
    window: int | None = None
    keeps_unit: bool = False
    sums_unit: bool = False
    withheld: str = ""
    beside: tuple["Offer", ...] = ()


class Catalogue:
    """An immutable set of offers, found by kind and metric; replaced whole by discovery.

    Of two offers for the same kind and metric the later counts; if it is withheld, none is served.
    An earlier one of the same series under other labels stands `beside` it. `failed` are the rules
    whose series could not be discovered in the last pass; what they offered before may still be
    here.
    """

    def __init__(self, offers: Iterable[Offer] = (), failed: Iterable[Rule] = ()) -> None:
        """Index `offers`, given in the order of their rules."""
        self._by_key = {key: _latest(rivals) for key, rivals in _rivals(offers).items()}
        found = [self._by_key[key] for key in sorted(self._by_key)]
        self._offers = tuple(offer for offer in found if not offer.withheld)
        self.withheld = tuple(offer for offer in found if offer.withheld)
        self._metrics = frozenset(offer.metric for offer in self._offers)
        self.failed = tuple(failed)

    @property
    def offers(self) -> tuple[Offer, ...]:
        """Give every offer that is served, ordered by kind and metric."""
        return self._offers

    def find(self, resource: Resource, metric: str) -> Offer | None:
        """Give the offer of `metric` on `resource`, also when it is withheld; None without one."""
        return self._by_key.get((resource.qualified, metric))

    def metrics_for(self, resource: Resource) -> tuple[str, ...]:
        """Give the names of the metrics offered on `resource`, sorted."""
        return tuple(o.metric for o in self._offers if o.resource.qualified == resource.qualified)

    def known(self, metric: str) -> bool:
        """Tell whether `metric` is offered on any kind."""
        return metric in self._metrics


def offers_of(
    rule: Rule, names_by_label: Mapping[str, Collection[str]], kinds: Kinds
) -> list[Offer]:
    """Give what `rule` offers when each label is carried by the series names that stand with it.

    A series name that the rule does not name, and a namespaced kind without a label for its
    namespace, give nothing. Of several series names under one metric name the last in sorted
    order counts; where the name is a constant and the query depends on the series, it is withheld.
    """
    models: dict[tuple[object, ...], list[Offer]] = {}
    found: list[Offer] = []
    for series in _names(names_by_label):
        if metric := rule.metric_name(series):
            present = [label for label, names in names_by_label.items() if series in names]
            likeness = _likeness(rule, series, present)
            if likeness not in models:
                models[likeness] = _offers_of_series(rule, series, sorted(present), kinds)
            found += [replace(one, metric=metric, series=series) for one in models[likeness]]
    return [_counting(rivals) for rivals in _rivals(found).values()]


def _likeness(rule: Rule, series: str, present: Iterable[str]) -> tuple[object, ...]:
    """Give what decides over the offers of `series`, but for its name and the metric's.

    Thousands of series are then judged by one query. A name that the query looks at, or that is
    none of PromQL's plain names, decides by itself.
    """
    plain = rule.metrics_query.only_prints("Series") and is_metric_name(series)
    return frozenset(present), is_gpu(series), "" if plain else series


def _counting(rivals: Sequence[Offer]) -> Offer:
    last = rivals[-1]
    if len(rivals) == 1 or not last.rule.naming.is_constant:
        return last
    if not last.rule.metrics_query.uses("Series"):
        return last
    names = listed([offer.series for offer in rivals])
    return replace(last, withheld=f"the series {names} would all be named so")


def _offers_of_series(
    rule: Rule, series: str, present: Collection[str], kinds: Kinds
) -> list[Offer]:
    found = []
    for resource in _resources(rule, present, kinds):
        if bindings := bindings_of(rule, resource, present, kinds):
            ordered = workload_first(bindings) if is_gpu(series) else bindings
            found.append(_offer(rule, series, resource, ordered))
    return found


def _resources(rule: Rule, labels: Iterable[str], kinds: Kinds) -> list[Resource]:
    meant = (rule.resource_of(label, kinds) for label in labels)
    return list(dict.fromkeys(resource for resource in meant if resource))


def _offer(rule: Rule, series: str, resource: Resource, bindings: tuple[Binding, ...]) -> Offer:
    spreads = {spread(rule, series, one.object_label, one.namespace_label) for one in bindings}
    query = _example(rule, series, bindings[0])
    return Offer(
        metric="",
        resource=resource,
        rule=rule,
        series=series,
        bindings=bindings,
        spread=next(width for width in _NARROW_FIRST if width in spreads),
        window=window(query) if query else None,
        keeps_unit=bool(query) and keeps_unit(query),
        sums_unit=bool(query) and sums_unit(query),
    )


def _example(rule: Rule, series: str, binding: Binding) -> str:
    matchers = [Matcher(binding.object_label, "=", "x")]
    if binding.namespace_label:
        matchers.insert(0, Matcher(binding.namespace_label, "=", "x"))
    try:
        return rule.render(series, matchers, (binding.object_label,))
    except ValueError:
        # Still offered: whoever asks for it is told what is wrong with the rule.
        return ""


def listed(names: Sequence[str]) -> str:
    """Give a few of `names`, and how many more there are."""
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def shared_names(rule: Rule, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Give the metric names under which `rule` serves several series names, with those, sorted."""
    by_metric: dict[str, list[str]] = {}
    for series in sorted(set(names)):
        if metric := rule.metric_name(series):
            by_metric.setdefault(metric, []).append(series)
    return {metric: tuple(series) for metric, series in by_metric.items() if len(series) > 1}


def replaced(offers: Iterable[Offer]) -> list[tuple[Offer, Offer]]:
    """Give each offer that a later rule's replaces, with that one: (not served, served)."""
    return [pair for rivals in _rivals(offers).values() for pair in pairwise(rivals)]


def complement(earlier: Offer, later: Offer) -> bool:
    """Tell whether two offers of one metric are of the same series under labels of their own.

    So they are where a fleet is scraped in two ways: each object has a value by one of them.
    """
    apart = _object_labels(earlier).isdisjoint(_object_labels(later))
    return apart and earlier.series == later.series and not earlier.withheld


def _rivals(offers: Iterable[Offer]) -> dict[tuple[str, str], list[Offer]]:
    found: dict[tuple[str, str], list[Offer]] = {}
    for offer in offers:
        found.setdefault((offer.resource.qualified, offer.metric), []).append(offer)
    return found


def _latest(rivals: Sequence[Offer]) -> Offer:
    *earlier, latest = rivals
    beside: list[Offer] = []
    for offer in reversed(earlier):
        if all(complement(offer, one) for one in (latest, *beside)):
            beside.append(offer)
    return replace(latest, beside=tuple(beside)) if beside else latest


def _object_labels(offer: Offer) -> set[str]:
    return {binding.object_label for binding in offer.bindings}


def _names(names_by_label: Mapping[str, Collection[str]]) -> list[str]:
    return sorted({name for names in names_by_label.values() for name in names})
