"""The functions of Go's text/template, but for `and` and `or`, which choose what to evaluate."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from adapter.rules.formats import check_format, formatted
from adapter.rules.syntax import Literal, Operand
from adapter.rules.values import Struct, Value, called, is_true, plain

Function = Callable[[Sequence[Value]], Value]

REFUSED: Mapping[str, str] = {
    "html": "a query is not HTML",
    "js": "a query is not JavaScript",
    "urlquery": "the query is sent as it is",
    "call": "there is no function among the variables",
}
# The fewest and the most arguments; None is any number.
_ARITIES: Mapping[str, tuple[int, int | None]] = {
    "and": (1, None),
    "or": (1, None),
    "not": (1, 1),
    "len": (1, 1),
    "index": (1, None),
    "slice": (1, 4),
    "print": (0, None),
    "printf": (1, None),
    "println": (0, None),
    "eq": (2, None),
    "ne": (2, 2),
    "lt": (2, 2),
    "le": (2, 2),
    "gt": (2, 2),
    "ge": (2, 2),
}


def check_call(function: str, arguments: Sequence[Operand], piped: int) -> None:
    """Raise ValueError when there is no such function or it cannot be given so many arguments.

    `piped` are those that a pipeline adds.
    """
    if function not in _ARITIES:
        msg = f"there is no function {function}; a variable begins with a dot, as in .Series"
        raise ValueError(msg)
    least, most = _ARITIES[function]
    count = len(arguments) + piped
    if count < least or (most is not None and count > most):
        wanted = f"{least}" if least == most else f"at least {least}" if most is None else "1 to 4"
        noun = "argument" if wanted.endswith("1") else "arguments"
        msg = f"{function} takes {wanted} {noun}, not {count}"
        raise ValueError(msg)
    if function == "printf" and arguments:
        _check_printf(arguments, piped)


def _check_printf(arguments: Sequence[Operand], piped: int) -> None:
    form, *values = arguments
    if not isinstance(form, Literal):
        return
    if not isinstance(form.value, str):
        raise _no_format(form.value)
    wanted, given = check_format(form.value), len(values) + piped
    if wanted != given:
        msg = f"printf {form.value!r} takes {wanted} values, not {given}"
        raise ValueError(msg)


def function(name: str) -> Function:
    """Give the function of this name, which must be one that check_call accepts."""
    return _FUNCTIONS[name]


def _not(arguments: Sequence[Value]) -> Value:
    return not is_true(arguments[0])


def _len(arguments: Sequence[Value]) -> Value:
    (value,) = arguments
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, Mapping | tuple):
        return len(value)
    msg = f"len of {called(value)}"
    raise ValueError(msg)


def _index(arguments: Sequence[Value]) -> Value:
    value, *keys = arguments
    if value is None:
        msg = "index of no value"
        raise ValueError(msg)
    for key in keys:
        value = _at(value, key)
    return value


def _at(value: Value, key: Value) -> Value:
    if isinstance(value, Mapping) and isinstance(key, str):
        return value.get(key, "")
    if isinstance(value, str):
        raw = value.encode()
        return raw[_position(key, len(raw) - 1)]
    if isinstance(value, tuple):
        return value[_position(key, len(value) - 1)]
    msg = f"{called(value)} cannot be indexed with {called(key)}"
    raise ValueError(msg)


def _position(key: Value, last: int) -> int:
    if not _is_whole(key):
        msg = f"{called(key)} is no position in a text or a list"
        raise ValueError(msg)
    if not 0 <= key <= last:
        msg = f"index {key} is out of range: the last is {last}"
        raise ValueError(msg)
    return key


def _is_whole(value: Value) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _slice(arguments: Sequence[Value]) -> Value:
    value, *keys = arguments
    if isinstance(value, str):
        raw = value.encode()
        start, end = _bounds(keys, len(raw), most=2)
        return _decoded(raw[start:end])
    if isinstance(value, tuple):
        start, end = _bounds(keys, len(value), most=3)
        return value[start:end]
    msg = f"slice of {called(value)}"
    raise ValueError(msg)


def _bounds(keys: Sequence[Value], length: int, *, most: int) -> tuple[int, int]:
    if len(keys) > most:
        msg = f"slice takes {most} positions in such a value, not {len(keys)}"
        raise ValueError(msg)
    given = [_position(key, length) for key in keys]
    bounds = [*given, *[0, length, length][len(given) :]]
    if sorted(bounds) != bounds:
        msg = f"slice from {bounds[0]} to {bounds[1]}"
        raise ValueError(msg)
    return bounds[0], bounds[1]


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        msg = "slice cuts a character in two"
        raise ValueError(msg) from error


def _print(arguments: Sequence[Value]) -> Value:
    made = ""
    for position, value in enumerate(arguments):
        before = arguments[position - 1] if position else ""
        # Go parts two values by a space where neither is a text.
        made += " " * (not isinstance(before, str) and not isinstance(value, str)) + plain(value)
    return made


def _println(arguments: Sequence[Value]) -> Value:
    return " ".join(map(plain, arguments)) + "\n"


def _printf(arguments: Sequence[Value]) -> Value:
    form, *values = arguments
    if not isinstance(form, str):
        raise _no_format(form)
    return formatted(form, values)


def _eq(arguments: Sequence[Value]) -> Value:
    first, *others = arguments
    return any(_equal(first, other) for other in others)


def _equal(one: Value, other: Value) -> bool:
    if one is None or other is None:
        return one is other
    _comparable(one, other)
    return one == other


def _comparable(one: Value, other: Value) -> None:
    same = type(one) is type(other)
    if not same or isinstance(one, Mapping | tuple | Struct):
        msg = f"{called(one)} and {called(other)} cannot be compared"
        raise ValueError(msg)


def _ne(arguments: Sequence[Value]) -> Value:
    return not _eq(arguments)


def _lt(arguments: Sequence[Value]) -> Value:
    one, other = arguments
    _comparable(one, other)
    if isinstance(one, str) and isinstance(other, str):
        return one < other
    if _is_number(one) and _is_number(other):
        return one < other
    msg = f"{called(one)} is neither less nor more than another"
    raise ValueError(msg)


def _is_number(value: Value) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _no_format(value: Value) -> ValueError:
    return ValueError(f"printf needs a format first, not {called(value)}")


def _le(arguments: Sequence[Value]) -> Value:
    return _lt(arguments) or _eq(arguments)


def _gt(arguments: Sequence[Value]) -> Value:
    return not _le(arguments)


def _ge(arguments: Sequence[Value]) -> Value:
    return not _lt(arguments)


_FUNCTIONS: Mapping[str, Function] = {
    "not": _not,
    "len": _len,
    "index": _index,
    "slice": _slice,
    "print": _print,
    "printf": _printf,
    "println": _println,
    "eq": _eq,
    "ne": _ne,
    "lt": _lt,
    "le": _le,
    "gt": _gt,
    "ge": _ge,
}
