"""`printf` and its verbs, as Go's package fmt writes them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapter.rules.matchers import quoted
from adapter.rules.values import Struct, Unserved, Value, called, composed, parts, plain

_DIRECTIVE = re.compile(
    r"%(?P<flags>[-0+]*)(?P<width>[0-9]{0,3})(?P<precision>\.[0-9]{0,3})?(?P<verb>[a-zA-Z%])"
)
_TEXT_VERBS = "vsqxX"
_WHOLE_VERBS = "vdxXobc"
_FLOAT_VERBS = "vgfe"
_TRUTH_VERBS = "vt"
_BASES = {"x": "x", "X": "X", "o": "o", "b": "b", "d": "d", "v": "d"}


@dataclass(frozen=True, slots=True)
class _Directive:
    text: str
    flags: str
    width: int
    precision: int | None
    verb: str

    def fits(self, *, flags: str, precise: bool) -> bool:
        return not set(self.flags) - set(flags) and (precise or self.precision is None)


def check_format(form: str) -> int:
    """Give how many values the format takes; raises ValueError for what is not served."""
    return sum(isinstance(piece, _Directive) for piece in _pieces(form))


def formatted(form: str, values: Sequence[Value]) -> str:
    """Give the text that `printf` makes of `values`.

    Raises ValueError where Go would write one of its `%!` notes into the text, and for verbs and
    flags that are not served.
    """
    if check_format(form) != len(values):
        msg = f"printf {quoted(form)} takes {check_format(form)} values, not {len(values)}"
        raise ValueError(msg)
    left = iter(values)
    return "".join(
        _written(piece, next(left)) if isinstance(piece, _Directive) else piece
        for piece in _pieces(form)
    )


def _pieces(form: str) -> Iterator[str | _Directive]:
    position = 0
    while (start := form.find("%", position)) >= 0:
        yield form[position:start]
        found = _DIRECTIVE.match(form, start)
        if not found or (found["verb"] == "%" and found[0] != "%%"):
            msg = f"printf {quoted(form)}: {form[start : start + 3]} is not served"
            raise Unserved(msg)
        yield "%" if found["verb"] == "%" else _directive(found)
        position = found.end()
    yield form[position:]


def _directive(found: re.Match[str]) -> _Directive:
    verb, precision = found["verb"], found["precision"]
    if verb not in "vsqdxXobcgfet":
        msg = f"printf: the verb {found[0]} is not served"
        raise Unserved(msg)
    return _Directive(
        text=found[0],
        flags=found["flags"],
        width=int(found["width"] or 0),
        precision=None if precision is None else int(precision[1:] or 0),
        verb=verb,
    )


def _written(directive: _Directive, value: Value) -> str:
    if isinstance(value, Mapping | tuple | Struct):
        return composed(value, [_written(directive, part) for part in parts(value)])
    if value is None and directive.verb == "v":
        return _padded("<nil>", directive)
    if isinstance(value, str) and directive.verb in _TEXT_VERBS:
        return _text(directive, value)
    if isinstance(value, bool) and directive.verb in _TRUTH_VERBS:
        return _truth(directive, value)
    return _number(directive, value)


def _number(directive: _Directive, value: str | float | None) -> str:
    if isinstance(value, str | bool) or value is None:
        raise _unfit(directive, value)
    if isinstance(value, int) and directive.verb in _WHOLE_VERBS:
        return _whole(directive, value)
    if not isinstance(value, int) and directive.verb in _FLOAT_VERBS:
        return _float(directive, value)
    raise _unfit(directive, value)


def _truth(directive: _Directive, value: bool) -> str:
    if not directive.fits(flags="-", precise=False):
        raise _unfit(directive, value)
    return _padded(plain(value), directive)


def _text(directive: _Directive, value: str) -> str:
    precise = directive.verb in "vsq"
    if not directive.fits(flags="-", precise=precise):
        raise _unfit(directive, value)
    shown = value[: directive.precision]
    match directive.verb:
        case "q":
            return _padded(quoted(shown), directive)
        case "x":
            return _padded(shown.encode().hex(), directive)
        case "X":
            return _padded(shown.encode().hex().upper(), directive)
        case _:
            return _padded(shown, directive)


def _whole(directive: _Directive, value: int) -> str:
    if not directive.fits(flags="-0+", precise=False):
        raise _unfit(directive, value)
    if directive.verb == "c":
        if directive.flags.strip("-") or not _is_character(value):
            raise _unfit(directive, value)
        return _padded(chr(value), directive)
    sign = "-" if value < 0 else "+" * ("+" in directive.flags)
    return _signed(sign, format(abs(value), _BASES[directive.verb]), directive)


def _float(directive: _Directive, value: float) -> str:
    shortest = directive.verb in "vg"
    if not directive.fits(flags="-0+", precise=not shortest):
        raise _unfit(directive, value)
    places = 6 if directive.precision is None else directive.precision
    digits = plain(abs(value)) if shortest else format(abs(value), f".{places}{directive.verb}")
    sign = "-" if str(value).startswith("-") else "+" * ("+" in directive.flags)
    return _signed(sign, digits, directive)


def _signed(sign: str, digits: str, directive: _Directive) -> str:
    if "0" in directive.flags and "-" not in directive.flags:
        return sign + digits.rjust(directive.width - len(sign), "0")
    return _padded(sign + digits, directive)


def _padded(text: str, directive: _Directive) -> str:
    if "-" in directive.flags:
        return text.ljust(directive.width)
    return text.rjust(directive.width)


def _is_character(code: int) -> bool:
    return 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000


def _unfit(directive: _Directive, value: Value) -> ValueError:
    return Unserved(f"printf: {directive.text} is not served for {called(value)}")
