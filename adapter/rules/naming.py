"""Names: which series a rule takes, and what their metrics are called.

Regular expressions are RE2 and search anywhere in the name; `as` is expanded as Go's
regexp.Expand does it.
"""

import re
from dataclasses import dataclass
from typing import Protocol

import re2


class Found(Protocol):
    """A match of RE2."""

    def group(self, group: int | str, /) -> str | None:
        """Give the text of a group, None when it took no part."""
        ...


class Pattern(Protocol):
    """A compiled regular expression of RE2."""

    groups: int
    groupindex: dict[str, int]

    def search(self, text: str, /) -> Found | None:
        """Find the first match anywhere in `text`."""
        ...


def compiled(pattern: str) -> Pattern:
    """Compile `pattern` as RE2.

    Raises ValueError with RE2's own words.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        result: Pattern = re2.compile(pattern, options)
    except re2.error as error:
        words = error.args[0] if error.args else b""
        text = words.decode(errors="replace") if isinstance(words, bytes) else str(words)
        raise ValueError(text) from error
    return result


@dataclass(frozen=True, slots=True)
class Filter:
    """One of `seriesFilters`: the name must match, or with `negated` must not."""

    pattern: Pattern
    negated: bool = False

    def accepts(self, series: str) -> bool:
        """Tell whether a series of this name passes."""
        return (self.pattern.search(series) is None) == self.negated


@dataclass(frozen=True, slots=True)
class Reference:
    """`$name` or `${name}` in `as`; `group` is a number or a name, `text` its spelling."""

    group: int | str
    text: str

    def value(self, found: Found, pattern: Pattern) -> str:
        """Give the group's text; empty for a group that does not exist or took no part."""
        return (found.group(self.group) or "") if self.exists_in(pattern) else ""

    def exists_in(self, pattern: Pattern) -> bool:
        """Tell whether `pattern` has this group."""
        if isinstance(self.group, int):
            return self.group <= pattern.groups
        return self.group in pattern.groupindex


@dataclass(frozen=True, slots=True)
class Expansion:
    """The parsed `as`: text and references in order."""

    parts: tuple[str | Reference, ...]

    @property
    def references(self) -> tuple[Reference, ...]:
        """Give the references in order."""
        return tuple(part for part in self.parts if isinstance(part, Reference))

    def expand(self, found: Found, pattern: Pattern) -> str:
        """Give the text for one match of `pattern`."""
        return "".join(
            part.value(found, pattern) if isinstance(part, Reference) else part
            for part in self.parts
        )


_REFERENCE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<braced>\w+)\}|(?P<bare>\w+))")


def parse_expansion(text: str) -> Expansion:
    """Read `as`; nothing is wrong in it: a dollar that begins no reference is text."""
    parts: list[str | Reference] = []
    position = 0
    for found in _REFERENCE.finditer(text):
        parts.append(text[position : found.start()])
        position = found.end()
        parts.append("$" if found["dollar"] else _reference(found))
    parts.append(text[position:])
    return Expansion(tuple(part for part in parts if part))


def _reference(found: re.Match[str]) -> Reference:
    name = found["braced"] or found["bare"]
    number = re.fullmatch(r"0|[1-9][0-9]{0,7}", name)
    return Reference(int(name) if number else name, found[0])


@dataclass(frozen=True, slots=True)
class Naming:
    """`name.matches` and `name.as` of a rule, defaults filled in."""

    pattern: Pattern
    expansion: Expansion

    @property
    def is_constant(self) -> bool:
        """Tell whether every series gets the same name."""
        return not any(one.exists_in(self.pattern) for one in self.expansion.references)

    def name(self, series: str) -> str | None:
        """Give the metric's name, None when `series` does not match.

        It is the expansion of `as` for the first match and nothing around it; never empty:
        a metric without a name could not be asked for.
        """
        found = self.pattern.search(series)
        if found is None:
            return None
        return self.expansion.expand(found, self.pattern) or None


def parse_naming(matches: str, expansion: str) -> Naming:
    """Fill in the defaults: `.*`, then `$0` without groups and `$1` with one.

    Raises ValueError when `matches` is no RE2 or has several groups and `expansion` is empty.
    """
    pattern = compiled(matches or ".*")
    if not expansion and pattern.groups > 1:
        msg = f"{pattern.groups} groups and no name.as to say which one is the name"
        raise ValueError(msg)
    return Naming(pattern, parse_expansion(expansion or ("$1" if pattern.groups else "$0")))
