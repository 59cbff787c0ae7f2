"""What one rule of object metrics matches now, and what is in doubt about that."""

from collections.abc import Callable, Sequence

from adapter.check.backend import Look
from adapter.check.labels import Found, about_labels, about_names
from adapter.check.report import Finding, Matched, Offered, Severity
from adapter.check.series import MOST_LOOKED_AT, Inspection, Series, named
from adapter.check.values import Tally, about_crowds, about_values, tally
from adapter.engine.catalogue import Offer, offers_of
from adapter.engine.labels import Binding
from adapter.errors import QueryRefused
from adapter.model.kinds import NAMESPACES, PODS, Kinds
from adapter.model.objects import Resource, Sample
from adapter.rules.matchers import Matcher
from adapter.rules.promql import Spread, spread_and_reason, with_matcher
from adapter.rules.rule import Rule
from adapter.rules.scrutiny import told


class Matching:
    """One rule before Prometheus.

    `findings` and `offers` grow while it is looked at. Its methods raise PrometheusDown; what
    Prometheus refuses is a finding.
    """

    def __init__(self, rule: Rule, look: Look, kinds: Kinds, *, off: bool = False) -> None:
        """Look at nothing yet; a rule that is `off` offers nothing, whatever its series."""
        self._off = off
        self.rule = rule
        self._look = look
        self._kinds = kinds
        self.findings: list[Finding] = []
        self.offers: list[Offer] = []
        self._crowds: list[tuple[Resource, Finding]] = []

    async def matched(self) -> Matched:
        """Give what the rule matches."""
        inspection = Inspection(self.rule, self._look)
        try:
            found = await inspection.found()
            metrics = await self._metrics(found) if found.names and not self._off else []
            return await inspection.matched(found, metrics)
        except QueryRefused as error:
            self._refused("seriesQuery", f"Prometheus refuses it: {error}")
            return Matched(series=0)
        finally:
            self.findings += inspection.findings

    async def _metrics(self, found: Series) -> list[Offered]:
        rule, kinds = self.rule, self._kinds
        by_label = await self._look.names_by_label(
            rule.series_query, lambda label: rule.resource_of(label, kinds) is not None
        )
        labelled = Found(names=found.names, labels=found.labels, by_label=by_label)
        self.findings += about_labels(rule, labelled, kinds)
        self.findings += about_names(rule, found.names)
        self.offers = offers_of(rule, by_label, kinds)
        shown = sorted({offer.series for offer in self.offers})[:MOST_LOOKED_AT]
        metrics = [await self._offered(one, deep=one.series in shown) for one in self.offers]
        self.findings += self._crowd()
        return metrics

    def _crowd(self) -> list[Finding]:
        """Give one finding at most: what crowds pods crowds nodes and namespaces as well."""
        kinds = {offer.resource.qualified for offer in self.offers}
        # A namespace has many series by its nature; that is worth a word where nothing else is.
        crowds = [
            (resource, finding)
            for resource, finding in self._crowds
            if resource.qualified != NAMESPACES.qualified or len(kinds) == 1
        ]
        crowds.sort(key=lambda one: one[0].qualified != PODS.qualified)
        return [finding for _, finding in crowds[:1]]

    async def _offered(self, offer: Offer, *, deep: bool) -> Offered:
        if offer.withheld:
            return self._withheld(offer)
        binding, render = offer.bindings[0], _rendering(offer)
        labels = (binding.object_label,)
        spread, reason = spread_and_reason(
            offer.rule.metrics_query, render, labels, binding.namespace_label
        )
        objects = await self._objects(offer) if deep else None
        return Offered(
            metric=offer.metric,
            series=offer.series,
            resource=offer.resource.qualified,
            labels=tuple(dict.fromkeys(filter(None, _labels_of(offer)))),
            objects=objects,
            spread=spread,
            reason=reason,
            window=offer.window,
            query=_shown(render, binding),
        )

    def _withheld(self, offer: Offer) -> Offered:
        fault = f"{offer.metric} on {offer.resource.qualified} is withheld: {offer.withheld}"
        problem = told(self.rule, "name.as", fault, "use a group of name.matches in it")
        self.findings.append(Finding.of(Severity.WARNING, problem))
        return Offered(
            metric=offer.metric,
            series=offer.series,
            resource=offer.resource.qualified,
            reason=f"withheld: {offer.withheld}",
        )

    async def _objects(self, offer: Offer) -> int | None:
        try:
            found = await self._tally(offer)
        except QueryRefused as error:
            self._refused("metricsQuery", f"{offer.metric}: Prometheus refuses the query: {error}")
            return None
        except ValueError as error:
            self._refused("metricsQuery", f"{offer.metric}: the query cannot be made: {error}")
            return None
        self.findings += about_values(offer, found)
        self._crowds += [(offer.resource, one) for one in about_crowds(offer, found)]
        return len(found.devices)

    async def _tally(self, offer: Offer) -> Tally:
        if offer.spread is not Spread.REQUEST:
            vectors = [
                (binding, await self._vector(offer, binding, _everyone(offer, binding)))
                for binding in offer.bindings
            ]
            return tally(offer, vectors, "")
        # Such a query says the truth about one object at a time only.
        binding = offer.bindings[0]
        selector = named(self.rule.series_query, offer.series)
        example = await self._look.one(
            with_matcher(selector, Matcher(binding.object_label, "!=", ""))
        )
        if example is None:
            return Tally()
        matchers = _this_one(example, binding)
        vector = await self._vector(offer, binding, matchers)
        return tally(offer, [(binding, vector)], example.labels.get(binding.namespace_label, ""))

    async def _vector(
        self, offer: Offer, binding: Binding, matchers: Sequence[Matcher]
    ) -> Sequence[Sample]:
        # Grouped by the namespace as well, pods of one name in two of them stay apart.
        group_by = filter(None, (binding.object_label, binding.namespace_label))
        query = offer.rule.render(offer.series, matchers, tuple(group_by))
        return await self._look.backend.query(query)

    def _refused(self, key: str, fault: str) -> None:
        problem = told(self.rule, key, fault, "correct it, and try it in Prometheus")
        self.findings.append(Finding.of(Severity.ERROR, problem))


def _rendering(offer: Offer) -> Callable[[Sequence[Matcher]], str]:
    label = offer.bindings[0].object_label
    return lambda matchers: offer.rule.render(offer.series, matchers, (label,))


def _labels_of(offer: Offer) -> list[str]:
    return [label for one in offer.bindings for label in (one.object_label, one.namespace_label)]


def _shown(render: Callable[[Sequence[Matcher]], str], binding: Binding) -> str:
    try:
        return render([Matcher(binding.object_label, "!=", "")])
    except ValueError:
        return ""


def _everyone(offer: Offer, binding: Binding) -> list[Matcher]:
    earlier = offer.bindings[: offer.bindings.index(binding)]
    return [
        Matcher(binding.object_label, "!=", ""),
        *(Matcher(one.object_label, "=", "") for one in earlier),
    ]


def _this_one(example: Sample, binding: Binding) -> list[Matcher]:
    labels = [binding.namespace_label, binding.object_label]
    return [Matcher(label, "=", example.labels.get(label, "")) for label in labels if label]
