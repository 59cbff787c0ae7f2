"""Label matchers of PromQL, made from names and from Kubernetes selectors."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from adapter.model.selector import Operator, Requirement, Selector

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_META = re.compile(r"[\\.+*?()|\[\]{}^$]")
_NAMED_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}


@dataclass(frozen=True, slots=True)
class Matcher:
    """One condition on one label; `operator` is one of `=`, `!=`, `=~` and `!~`."""

    label: str
    operator: str
    value: str

    def __str__(self) -> str:
        """Give it as PromQL; a label name that is no identifier is quoted (Prometheus 3)."""
        label = self.label if is_label(self.label) else quoted(self.label)
        return f"{label}{self.operator}{quoted(self.value)}"

    @property
    def plain_value(self) -> str:
        """Give the value as `.LabelValuesByName` shows it: names joined by `|`, unescaped."""
        if self.operator in {"=", "!="}:
            return self.value
        return re.sub(r"\\(.)", r"\1", self.value, flags=re.DOTALL)


def is_label(name: str) -> bool:
    """Tell whether `name` can stand unquoted as a label name in PromQL."""
    return _LABEL.fullmatch(name) is not None


def is_metric_name(name: str) -> bool:
    """Tell whether `name` can stand unquoted as the name of a metric in PromQL."""
    return _METRIC.fullmatch(name) is not None


def quoted(text: str) -> str:
    """Give `text` between double quotes with Go's escapes, as PromQL reads strings."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if named := _NAMED_ESCAPES.get(character):
        return named
    if character.isprintable():
        return character
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return r"\ufffd"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def exactly(name: str) -> str:
    """Give the regular expression (RE2, anchored by its use) that matches only `name`."""
    return _META.sub(r"\\\g<0>", name)


def one_of(label: str, names: Iterable[str]) -> Matcher:
    """Give the matcher for any of `names`, at least one, in their order.

    One name is compared, several are a regular expression in which each stands for itself.
    """
    listed = tuple(names)
    if len(listed) == 1:
        return Matcher(label, "=", listed[0])
    return Matcher(label, "=~", "|".join(map(exactly, listed)))


def from_selector(selector: Selector) -> tuple[Matcher, ...]:
    """Give one matcher for each requirement, sorted by key.

    Raises ValueError, with the requirement, for `>` and `<` and for a key that is no label name
    in PromQL (`/`, `-`, `.`, a leading digit).
    """
    ordered = sorted(selector.requirements, key=lambda requirement: requirement.key)
    return tuple(map(_from_requirement, ordered))


def _from_requirement(requirement: Requirement) -> Matcher:
    key = requirement.key
    if not is_label(key):
        msg = f"{str(requirement)!r}: {key!r} cannot be the name of a metric's label"
        raise ValueError(msg)
    match requirement.operator:
        case Operator.EQUALS | Operator.NOT_EQUALS:
            return Matcher(key, requirement.operator.value, requirement.values[0])
        case Operator.IN:
            return Matcher(key, "=~", _alternatives(requirement))
        case Operator.NOT_IN:
            return Matcher(key, "!~", _alternatives(requirement))
        case Operator.EXISTS:
            return Matcher(key, "!=", "")
        case Operator.ABSENT:
            return Matcher(key, "=", "")
        case _:
            msg = f"{str(requirement)!r}: metric labels cannot be compared with > or <"
            raise ValueError(msg)


def _alternatives(requirement: Requirement) -> str:
    return "|".join(map(exactly, requirement.values))
