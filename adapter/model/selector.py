"""Kubernetes label selectors: parsed, matched, echoed, and turned into Prometheus matchers.

Grammar and meaning follow apimachinery's labels.Parse: `k=v`, `k==v`, `k!=v`, `k in (a,b)`,
`k notin (a,b)`, `k`, `!k`, `k>1`, `k<1`, joined by commas; requirements are sorted by key.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

_KEY = r"(?:[a-z0-9A-Z](?:[-.a-z0-9A-Z]*[a-z0-9A-Z])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_SET = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_EQUALITY = re.compile(rf"({_KEY})\s*(==|=|!=|>|<)\s*([^,\s]*)")
_PRESENCE = re.compile(rf"(!?)\s*({_KEY})")


class Operator(StrEnum):
    """How a requirement judges a label's value."""

    EQUALS = "="
    NOT_EQUALS = "!="
    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    ABSENT = "!"
    GREATER = "gt"
    LESS = "lt"


_SPELLED = {
    "=": Operator.EQUALS,
    "==": Operator.EQUALS,
    "!=": Operator.NOT_EQUALS,
    ">": Operator.GREATER,
    "<": Operator.LESS,
    "in": Operator.IN,
    "notin": Operator.NOT_IN,
}
_NEGATIVE = frozenset({Operator.NOT_EQUALS, Operator.NOT_IN, Operator.ABSENT})


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label; `values` are sorted and empty for presence."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether `labels` fulfil it; a missing label fulfils only the negative ones."""
        value = labels.get(self.key)
        if value is None:
            return self.operator in _NEGATIVE
        match self.operator:
            case Operator.EXISTS:
                return True
            case Operator.ABSENT:
                return False
            case Operator.GREATER | Operator.LESS:
                return self._compares(value)
            case _:
                return (value in self.values) != (self.operator in _NEGATIVE)

    def _compares(self, value: str) -> bool:
        try:
            have, bound = int(value), int(self.values[0])
        except ValueError:
            return False
        return have > bound if self.operator is Operator.GREATER else have < bound

    def __str__(self) -> str:
        """Give the requirement as a client would write it."""
        listed = ",".join(self.values)
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.ABSENT:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{self.key} {self.operator.value} ({listed})"
            case Operator.GREATER:
                return f"{self.key}>{listed}"
            case Operator.LESS:
                return f"{self.key}<{listed}"
            case _:
                return f"{self.key}{self.operator.value}{listed}"


@dataclass(frozen=True, slots=True)
class Selector:
    """All requirements must hold; none at all selects everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether an object with `labels` is selected."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __bool__(self) -> bool:
        """Tell whether anything is required."""
        return bool(self.requirements)

    def __str__(self) -> str:
        """Give the canonical text; `parse` of it gives an equal selector."""
        return ",".join(str(requirement) for requirement in self.requirements)


EVERYTHING = Selector()


def parse(text: str) -> Selector:
    """Read a label selector.

    Raises ValueError with one line that quotes what could not be read.
    """
    requirements = []
    rest = text.strip()
    while rest:
        requirement, rest = _requirement(rest)
        requirements.append(requirement)
        rest = _after_comma(rest)
    return Selector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


def _after_comma(rest: str) -> str:
    rest = rest.lstrip()
    if not rest:
        return ""
    if not rest.startswith(",") or not rest[1:].strip():
        msg = f"expected a comma and a further requirement at {rest!r}"
        raise ValueError(msg)
    return rest[1:].lstrip()


def _requirement(rest: str) -> tuple[Requirement, str]:
    if found := _SET.match(rest):
        key, operator, listed = found.groups()
        values = tuple(sorted({_value(value) for value in listed.split(",")}))
        return Requirement(key, _SPELLED[operator], values), rest[found.end() :]
    if found := _EQUALITY.match(rest):
        key, operator, value = found.groups()
        return _compared(key, _SPELLED[operator], _value(value)), rest[found.end() :]
    if found := _PRESENCE.match(rest):
        operator = Operator.ABSENT if found.group(1) else Operator.EXISTS
        return Requirement(found.group(2), operator), rest[found.end() :]
    msg = f"unable to parse requirement at {rest!r}"
    raise ValueError(msg)


def _compared(key: str, operator: Operator, value: str) -> Requirement:
    if operator in {Operator.GREATER, Operator.LESS} and not re.fullmatch(r"-?\d+", value):
        msg = f"{key}: for '>' and '<' the value must be an integer, not {value!r}"
        raise ValueError(msg)
    return Requirement(key, operator, (value,))


def _value(text: str) -> str:
    value = text.strip()
    if not _VALUE.fullmatch(value):
        msg = f"{value!r} is not a valid label value"
        raise ValueError(msg)
    return value
