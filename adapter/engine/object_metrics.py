"""What discovery makes of rules whose metrics describe objects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapter.engine.absent_kinds import reminders, usable
from adapter.engine.catalogue import (
    Catalogue,
    Offer,
    complement,
    listed,
    offers_of,
    replaced,
    shared_names,
)
from adapter.engine.standings import Standing, Standings
from adapter.engine.survey import NamesByLabel, Survey
from adapter.model.kinds import Kinds
from adapter.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class _Found:
    """What one rule was found to offer, and from what it was."""

    names: NamesByLabel
    kinds: Kinds
    offers: Sequence[Offer]
    warnings: Sequence[str]

    def is_of(self, names: NamesByLabel, kinds: Kinds) -> bool:
        return names == self.names and kinds == self.kinds


class ObjectMetrics:
    """A discovery's subject: series become metrics of the objects that their labels name.

    What a rule offers is worked out again only when other names, labels or kinds are found.
    """

    name = "custom.metrics.k8s.io"

    def __init__(self) -> None:
        """Know of no rule yet."""
        self._found: dict[Rule, _Found] = {}

    async def find(
        self, survey: Survey, query: str, rules: Sequence[Rule], kinds: Kinds
    ) -> Mapping[Rule, Standing[Offer]]:
        """Give what each of `rules` offers, by the names of the series that carry each label.

        A rule with an override to a kind that is not there offers nothing.
        """
        asking = usable(rules, kinds)

        def meaningful(label: str) -> bool:
            return any(rule.resource_of(label, kinds) for rule in asking)

        names = await survey.names_by_label(query, meaningful) if asking else {}
        return {
            rule: self._standing(rule, names, kinds) if rule in asking else Standing()
            for rule in rules
        }

    def catalogue(self, standings: Standings[Rule, Offer]) -> Catalogue:
        """Give the catalogue."""
        self._found = {rule: one for rule, one in self._found.items() if rule in standings.by_rule}
        return Catalogue(standings.offers, standings.failed)

    def doubts(self, standings: Standings[Rule, Offer], kinds: Kinds) -> list[str]:
        """Tell of names in common and of offers that are replaced."""
        return [
            *(line for one in standings.by_rule.values() for line in one.warnings),
            *map(_replacement, replaced(standings.offers)),
        ]

    def reminders(self, standings: Standings[Rule, Offer], kinds: Kinds) -> list[str]:
        """Tell of rules that are off for want of a kind."""
        return reminders(standings.rules, kinds)

    def _standing(self, rule: Rule, names: NamesByLabel, kinds: Kinds) -> Standing[Offer]:
        found = self._found.get(rule)
        if found is None or not found.is_of(names, kinds):
            found = self._found[rule] = _discovered(rule, names, kinds)
        return Standing(offers=found.offers, warnings=found.warnings)


def _discovered(rule: Rule, names: NamesByLabel, kinds: Kinds) -> _Found:
    offers = offers_of(rule, names, kinds)
    series = frozenset[str]().union(*names.values())
    warnings = [*map(_withheld, filter(_is_withheld, offers)), *_folded(rule, series)]
    return _Found(names, kinds, offers, warnings)


def _is_withheld(offer: Offer) -> bool:
    return bool(offer.withheld)


def _withheld(offer: Offer) -> str:
    what = f"{offer.metric} on {offer.resource.qualified}"
    return f"{offer.rule}: {what} is withheld: {offer.withheld}; use a group in name.as"


def _folded(rule: Rule, names: Iterable[str]) -> Iterator[str]:
    if rule.naming.is_constant:
        return
    for metric, series in shared_names(rule, names).items():
        yield f"{rule}: {listed(series)} are all named {metric}, {series[-1]} is served"


def _replacement(pair: tuple[Offer, Offer]) -> str:
    lost, served = pair
    what = f"{served.metric} on {served.resource.qualified}"
    if complement(lost, served):
        return f"{served.rule}: it serves {what} before {lost.rule}, whose labels are others"
    return f"{served.rule}: it serves {what} in place of {lost.rule}, the later rule counts"
