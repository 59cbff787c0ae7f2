"""What discovery makes of external rules: which metrics they offer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from adapter.engine.absent_kinds import reminders, usable
from adapter.engine.catalogue import listed
from adapter.engine.external import ExternalOffer
from adapter.engine.standings import Standing, Standings
from adapter.engine.survey import Survey
from adapter.model.kinds import NAMESPACES, Kinds
from adapter.rules.external import ExternalRule


class ExternalCatalogue:
    """An immutable set of external metrics, found by name; replaced whole by discovery.

    Of two offers of one name the later counts. `failed` are the rules whose series could not be
    discovered in the last pass.
    """

    def __init__(
        self, offers: Iterable[ExternalOffer] = (), failed: Iterable[ExternalRule] = ()
    ) -> None:
        """Index `offers`, given in the order of their rules."""
        by_name = {offer.metric: offer for offer in offers}
        self._by_name = {name: by_name[name] for name in sorted(by_name)}
        self.failed = tuple(failed)

    @property
    def withheld(self) -> tuple[ExternalOffer, ...]:
        """Give every offer that is not served, by name."""
        return tuple(offer for offer in self._by_name.values() if offer.withheld)

    @property
    def offers(self) -> tuple[ExternalOffer, ...]:
        """Give every offer that is served, by name."""
        return tuple(offer for offer in self._by_name.values() if not offer.withheld)

    def find(self, metric: str) -> ExternalOffer | None:
        """Give the offer of `metric`, also when it is withheld; None when there is none."""
        return self._by_name.get(metric)


class ExternalMetrics:
    """A discovery's subject: series become metrics that are of no object."""

    name = "external.metrics.k8s.io"

    async def find(
        self, survey: Survey, query: str, rules: Sequence[ExternalRule], kinds: Kinds
    ) -> Mapping[ExternalRule, Standing[ExternalOffer]]:
        """Give what each of `rules` offers, by the names of the series alone.

        A rule with an override to a kind that is not there offers nothing.
        """
        asking = usable(rules, kinds)
        names = await survey.names(query) if asking else frozenset[str]()
        return {rule: _standing(rule, names) if rule in asking else Standing() for rule in rules}

    def catalogue(self, standings: Standings[ExternalRule, ExternalOffer]) -> ExternalCatalogue:
        """Give the catalogue."""
        return ExternalCatalogue(standings.offers, standings.failed)

    def doubts(self, standings: Standings[ExternalRule, ExternalOffer], kinds: Kinds) -> list[str]:
        """Tell of rules without namespaces, of names in common, and of offers that are replaced."""
        return [
            *(line for rule in standings.rules for line in _no_namespace(rule, kinds)),
            *(line for one in standings.by_rule.values() for line in one.warnings),
            *_replacements(standings.offers),
        ]

    def reminders(
        self, standings: Standings[ExternalRule, ExternalOffer], kinds: Kinds
    ) -> list[str]:
        """Tell of rules that are off for want of a kind."""
        return reminders(standings.rules, kinds)


def _standing(rule: ExternalRule, names: Iterable[str]) -> Standing[ExternalOffer]:
    by_metric: dict[str, list[str]] = {}
    for series in sorted(names):
        if metric := rule.metric_name(series):
            by_metric.setdefault(metric, []).append(series)
    offers = [_offer(rule, metric, found) for metric, found in by_metric.items()]
    # What does not depend on the series is the same for all of them.
    told = rule.metrics_query.uses("Series")
    crowded = [one for one in offers if told and len(by_metric[one.metric]) > 1]
    warnings = [_in_common(one, by_metric[one.metric]) for one in crowded]
    return Standing(offers=offers, warnings=warnings)


def _offer(rule: ExternalRule, metric: str, found: Sequence[str]) -> ExternalOffer:
    # Each would be asked for by a query of its own, and which counts would be chance.
    apart = len(found) > 1 and rule.naming.is_constant and rule.metrics_query.uses("Series")
    rivals = f"the series {listed(found)} would all be named so" if apart else ""
    return ExternalOffer(metric=metric, rule=rule, series=found[-1], withheld=rivals)


def _in_common(offer: ExternalOffer, found: Sequence[str]) -> str:
    if offer.withheld:
        return f"{offer.rule}: {offer.metric} is withheld: {offer.withheld}"
    return f"{offer.rule}: {listed(found)} are all named {offer.metric}, {offer.series} is served"


def _no_namespace(rule: ExternalRule, kinds: Kinds) -> list[str]:
    if not rule.namespaced or rule.label_for(NAMESPACES, kinds):
        return []
    return [f"{rule}: no label means namespaces, so its metrics are answered with an error"]


def _replacements(offers: Iterable[ExternalOffer]) -> Iterator[str]:
    latest: dict[str, ExternalOffer] = {}
    for offer in offers:
        if lost := latest.get(offer.metric):
            yield (
                f"{offer.rule}: it serves {offer.metric} in place of {lost.rule}, the later rule "
                "counts"
            )
        latest[offer.metric] = offer
