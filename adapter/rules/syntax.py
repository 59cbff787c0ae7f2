"""The syntax tree of a template in Go's text/template with `<<` and `>>`, and its parser.

Served: text, comments, trim markers, fields and `index`. Every other construct of the language is
refused here by name, so that nothing is ever rendered wrongly.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapter.rules.lexer import Kind, Token, tokens


@dataclass(frozen=True, slots=True)
class Text:
    """Text outside of actions."""

    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """`.Name` or `.Name.key`: a variable and the keys that follow it."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A quoted text or a whole number."""

    value: str | int


@dataclass(frozen=True, slots=True)
class Index:
    """`index subject key ...`."""

    subject: "Field"
    keys: tuple["Field | Literal", ...]


Operand = Field | Literal
Expression = Field | Literal | Index
Node = Text | Field | Literal | Index

_KEYWORDS_WORDS = """
    if else end range with define template block break continue nil true false
"""
_KEYWORDS = frozenset(_KEYWORDS_WORDS.split())
_FUNCTIONS_WORDS = """
    and or not len slice print printf println html js urlquery call eq ne lt le gt ge
"""
_FUNCTIONS = frozenset(_FUNCTIONS_WORDS.split())
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL
)
_NAMED_ESCAPES = dict(zip("abfnrtv\\\"'", "\a\b\f\n\r\t\v\\\"'", strict=True))


def parse_nodes(source: str) -> tuple[Node, ...]:
    """Give the nodes of a template in order.

    Raises ValueError that names the construct that is wrong or not served.
    """
    found: list[Node] = []
    stream = tokens(source)
    for token in stream:
        if token.kind is Kind.TEXT:
            found.append(Text(token.text))
        else:
            found.append(_expression(_words(stream)))
    return tuple(found)


def fields(nodes: Sequence[Node]) -> Iterator[Field]:
    """Give every field that `nodes` read, in order."""
    for node in nodes:
        match node:
            case Field():
                yield node
            case Index(subject, keys):
                yield subject
                yield from fields(keys)
            case _:
                continue


def _words(stream: Iterator[Token]) -> list[list[Token]]:
    """Read one action: its tokens, grouped where spaces part them."""
    groups: list[list[Token]] = [[]]
    for token in stream:
        if token.kind is Kind.CLOSE:
            break
        if token.kind is Kind.SPACE:
            groups.append([])
        else:
            groups[-1].append(token)
    return [group for group in groups if group]


def _expression(groups: Sequence[Sequence[Token]]) -> Expression:
    if not groups:
        msg = "an action is empty"
        raise ValueError(msg)
    for group in groups:
        _refuse_unserved(group)
    if groups[0][0].text == "index":
        return _index(groups)
    if len(groups) > 1:
        msg = f"{_spelled(groups[0])} cannot be given arguments"
        raise ValueError(msg)
    return _operand(groups[0])


def _refuse_unserved(group: Sequence[Token]) -> None:
    for token in group:
        if token.kind is Kind.WORD:
            _refuse_word(token, first=token is group[0])
        elif construct := _unserved(token):
            msg = f"{construct} is not served yet: only fields and index are"
            raise ValueError(msg)


def _unserved(token: Token) -> str:
    match token.kind:
        case Kind.DOT:
            return "the dot alone"
        case Kind.VARIABLE:
            return f"the variable {token.text}"
        case Kind.SYMBOL:
            return "a pipeline (|)" if token.text == "|" else f"{token.text} in an action"
        case _:
            return ""


def _refuse_word(token: Token, *, first: bool) -> None:
    word = token.text
    if word == "index" and first:
        return
    if word in _KEYWORDS or word in _FUNCTIONS:
        kind = "keyword" if word in _KEYWORDS else "function"
        msg = f"the {kind} {word} is not served yet: only fields and index are"
        raise ValueError(msg)
    msg = f"there is no function {word}; a variable begins with a dot, as in .Series"
    raise ValueError(msg)


def _index(groups: Sequence[Sequence[Token]]) -> Index:
    operands = [_operand(group) for group in groups[1:]]
    if len(operands) < 2 or len(groups[0]) > 1:
        msg = 'index needs a variable and a key, as in index .LabelValuesByName "pod"'
        raise ValueError(msg)
    subject = operands[0]
    if isinstance(subject, Field):
        return Index(subject, tuple(operands[1:]))
    msg = f"index needs a variable first, not {_spelled(groups[1])}"
    raise ValueError(msg)


def _operand(group: Sequence[Token]) -> Operand:
    if all(token.kind is Kind.FIELD for token in group):
        return Field(tuple(token.text[1:] for token in group))
    token = group[0]
    if len(group) == 1 and token.kind is Kind.STRING:
        return Literal(_unquoted(token.text))
    if len(group) == 1 and re.fullmatch(r"[+-]?\d{1,18}", token.text, re.ASCII):
        return Literal(int(token.text))
    msg = f"unexpected {_spelled(group)}"
    raise ValueError(msg)


def _spelled(group: Sequence[Token]) -> str:
    return "".join(token.text for token in group)


def _unquoted(text: str) -> str:
    if text.startswith("`"):
        return text[1:-1]
    return _ESCAPE.sub(_meant, text[1:-1])


def _meant(escape: re.Match[str]) -> str:
    hexadecimal = escape[1] or escape[2] or escape[3]
    if hexadecimal or escape[4]:
        code = int(hexadecimal, 16) if hexadecimal else int(escape[4], 8)
        if code < 0x110000:
            return chr(code)
    if escape[5] in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[escape[5]]
    msg = f"{escape[0]} is no escape of Go's"
    raise ValueError(msg)
