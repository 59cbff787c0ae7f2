"""What is known of each rule: what it offers, what is in doubt, and why it could not be found."""

from collections.abc import Sequence
from dataclasses import Field, dataclass, fields, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from adapter.rules.rule import SeriesRule


class Offered(Protocol):
    """What a rule offers: a dataclass with a field `rule`."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Ruling = TypeVar("Ruling", bound=SeriesRule)
Offering = TypeVar("Offering", bound=Offered)
_PLACE = frozenset({"number", "file", "line"})


@dataclass(slots=True, kw_only=True)
class Standing(Generic[Offering]):
    """What is known of one rule.

    `fault` is why its last pass failed, empty when it did not; `down` that Prometheus was at
    fault, not the rule.
    """

    offers: Sequence[Offering] = ()
    warnings: Sequence[str] = ()
    fault: str = ""
    down: bool = False

    def passed_to(self, rule: SeriesRule) -> "Standing[Offering]":
        """Give the same as what is known of `rule`, which says the same in another place."""
        offers = [replace(offer, rule=rule) for offer in self.offers]
        return Standing(offers=offers, fault=self.fault, down=self.down)


@dataclass(slots=True, kw_only=True)
class Standings(Generic[Ruling, Offering]):
    """The rules in order, and what is known of each; of those in `unseen` it is nothing yet."""

    by_rule: dict[Ruling, Standing[Offering]]
    unseen: tuple[Ruling, ...] = ()

    @classmethod
    def begin(cls, rules: Sequence[Ruling]) -> "Standings[Ruling, Offering]":
        """Know nothing of any of `rules`."""
        return cls(by_rule={rule: Standing() for rule in rules}, unseen=tuple(rules))

    @property
    def rules(self) -> tuple[Ruling, ...]:
        """Give the rules, in order."""
        return tuple(self.by_rule)

    @property
    def offers(self) -> list[Offering]:
        """Give what the rules offer, in their order."""
        return [offer for standing in self.by_rule.values() for offer in standing.offers]

    @property
    def failed(self) -> list[Ruling]:
        """Give the rules whose last pass failed."""
        return [rule for rule, standing in self.by_rule.items() if standing.fault]

    @property
    def unreachable(self) -> bool:
        """Tell whether Prometheus was down for every unseen rule, of which there are some."""
        return bool(self.unseen) and all(self.by_rule[rule].down for rule in self.unseen)

    def passed_on(self, rules: Sequence[Ruling]) -> "Standings[Ruling, Offering]":
        """Give what is known of `rules`: of those that say the same as one here, what is known.

        A rule that also stands where it stood stays the same object, so that its readings stay.
        """
        left = list(self.by_rule)
        found: dict[Ruling, Standing[Offering]] = {}
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


def _says_the_same(one: SeriesRule, other: SeriesRule) -> bool:
    return type(one) is type(other) and _said(one) == _said(other)


def _said(rule: SeriesRule) -> list[object]:
    return [getattr(rule, field.name) for field in fields(rule) if field.name not in _PLACE]
