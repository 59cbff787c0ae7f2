"""What is known of each rule: what it offers, what is in doubt, and why it could not be found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapter.engine.catalogue import Offer
from adapter.rules.rule import Rule


@dataclass(slots=True, kw_only=True)
class Standing:
    """What is known of one rule.

    `fault` is why its last pass failed, empty when it did not; `down` that Prometheus was at
    fault, not the rule.
    """

    offers: Sequence[Offer] = ()
    warnings: Sequence[str] = ()
    fault: str = ""
    down: bool = False

    def passed_to(self, rule: Rule) -> "Standing":
        """Give the same as what is known of `rule`, which says the same in another place."""
        offers = [replace(offer, rule=rule) for offer in self.offers]
        return Standing(offers=offers, fault=self.fault, down=self.down)


@dataclass(slots=True, kw_only=True)
class Standings:
    """The rules in order, and what is known of each; of those in `unseen` it is nothing yet."""

    by_rule: dict[Rule, Standing]
    unseen: tuple[Rule, ...] = ()

    @classmethod
    def begin(cls, rules: Sequence[Rule]) -> "Standings":
        """Know nothing of any of `rules`."""
        return cls(by_rule={rule: Standing() for rule in rules}, unseen=tuple(rules))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Give the rules, in order."""
        return tuple(self.by_rule)

    @property
    def offers(self) -> list[Offer]:
        """Give what the rules offer, in their order."""
        return [offer for standing in self.by_rule.values() for offer in standing.offers]

    @property
    def failed(self) -> list[Rule]:
        """Give the rules whose last pass failed."""
        return [rule for rule, standing in self.by_rule.items() if standing.fault]

    @property
    def unreachable(self) -> bool:
        """Tell whether Prometheus was down for every unseen rule, of which there are some."""
        return bool(self.unseen) and all(self.by_rule[rule].down for rule in self.unseen)

    def passed_on(self, rules: Sequence[Rule]) -> "Standings":
        """Give what is known of `rules`: of those that say the same as one here, what is known.

        A rule that also stands where it stood stays the same object, so that its readings stay.
        """
        left = list(self.by_rule)
        found: dict[Rule, Standing] = {}
        unseen = []
        for rule in rules:
            before = next((one for one in left if _says_the_same(one, rule)), None)
            if before is None or before in self.unseen:
                found[rule] = Standing()
                unseen.append(rule)
                continue
            left.remove(before)
            standing = self.by_rule[before]
            kept = str(before) == str(rule)
            found[before if kept else rule] = standing if kept else standing.passed_to(rule)
        return Standings(by_rule=found, unseen=tuple(unseen))


def _says_the_same(one: Rule, other: Rule) -> bool:
    return _said(one) == _said(other)


def _said(rule: Rule) -> tuple[object, ...]:
    return (
        rule.series_query,
        rule.filters,
        rule.overrides,
        rule.template,
        rule.naming,
        rule.metrics_query,
    )
