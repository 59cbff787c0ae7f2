"""Rules that are off because a label of theirs means a kind that the cluster does not have."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from adapter.model.kinds import Kinds
from adapter.rules.rule import SeriesRule

Ruling = TypeVar("Ruling", bound=SeriesRule)


def usable(rules: Iterable[Ruling], kinds: Kinds) -> list[Ruling]:
    """Give those of `rules` whose overrides all mean kinds that there are."""
    return [rule for rule in rules if not rule.unknown_overrides(kinds)]


def reminders(rules: Sequence[SeriesRule], kinds: Kinds) -> list[str]:
    """Give a line for each override to a kind that is not there: why its rule is off."""
    return [
        f"{rule}: it is off: label {label} means {f'{word}.{group}' if group else word}, "
        "a kind that the cluster is not known to have"
        for rule in rules
        for label, group, word in rule.unknown_overrides(kinds)
    ]
