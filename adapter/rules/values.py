"""The values of a template: what they are in Go, when they are true, how they are printed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Struct:
    """The variables of a template, in Go's order of them; `.` and `$` at its beginning."""

    fields: Mapping[str, "Value"]


Value = str | float | bool | Mapping[str, str] | tuple[str, ...] | Struct | None
"""None is no value at all, as of a key that a map lacks."""

# Go's package strconv: numbers from a million on are written with an exponent.
_FIRST_LONG_POWER = 6
_NAMES: tuple[tuple[type, str], ...] = (
    (str, "a text"),
    (bool, "a truth value"),
    (int, "a whole number"),
    (float, "a number"),
    (Mapping, "a map"),
    (tuple, "a list"),
    (Struct, "the rule's variables"),
)


class Unserved(ValueError):  # noqa: N818  (named as what it tells of)
    """A construct of Go's text/template that is not served here, whatever the values are."""


def called(value: Value) -> str:
    """Say what sort of value it is, as messages call it."""
    return next((name for kind, name in _NAMES if isinstance(value, kind)), "no value")


def is_true(value: Value) -> bool:
    """Tell whether `if` takes it for true: not zero, not empty, not missing."""
    return isinstance(value, Struct) or bool(value)


def printed(value: Value) -> str:
    """Give the text of a value in a template, as Go prints it: `map[k1:v1 k2:v2]`, `[a b]`."""
    return "<no value>" if value is None else plain(value)


def plain(value: Value) -> str:
    """Give the text of a value as `print` and `%v` write it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return _shortest(value)
        case str() | int():
            return str(value)
        case _:
            return composed(value, [plain(part) for part in parts(value)])


def parts(value: Mapping[str, str] | tuple[str, ...] | Struct) -> Iterator[Value]:
    """Give what it is composed of: elements, or keys and values by turns, by key."""
    if isinstance(value, Struct):
        yield from value.fields.values()
    elif isinstance(value, tuple):
        yield from value
    else:
        for key in sorted(value):
            yield key
            yield value[key]


def composed(value: Mapping[str, str] | tuple[str, ...] | Struct, texts: list[str]) -> str:
    """Give the text of `value` when its parts have the `texts`."""
    if isinstance(value, Struct):
        return f"{{{' '.join(texts)}}}"
    if isinstance(value, tuple):
        return f"[{' '.join(texts)}]"
    pairs = zip(texts[::2], texts[1::2], strict=True)
    return f"map[{' '.join(f'{key}:{text}' for key, text in pairs)}]"


def _shortest(value: float) -> str:
    """Give the fewest digits that mean this number, with an exponent where it is long or small."""
    digits, _, exponent = next(
        text.partition("e")
        for text in (f"{value:.{places}e}" for places in range(18))
        if float(text) == value
    )
    power = int(exponent)
    if power < -4 or power >= _FIRST_LONG_POWER:
        return f"{digits}e{exponent}"
    places = max(len(digits.partition(".")[2]) - power, 0)
    return f"{value:.{places}f}"
