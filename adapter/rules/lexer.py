"""The words of Go's text/template between the delimiters `<<` and `>>`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_OPEN = "<<"
_CLOSE = ">>"
_SPACE = " \t\r\n"
_TRIM_LEFT = re.compile(rf"-[{_SPACE}]")
_END = re.compile(rf"(?P<trim>[{_SPACE}]-)?{_CLOSE}")


class Kind(StrEnum):
    """What a token is; the value is how messages call it."""

    TEXT = "text"
    OPEN = "start of an action"
    CLOSE = "end of an action"
    FIELD = "field"
    DOT = "dot"
    VARIABLE = "variable"
    WORD = "word"
    STRING = "string"
    NUMBER = "number"
    CHARACTER = "character"
    SYMBOL = "symbol"
    SPACE = "space"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the source, in its own spelling; `line` counts from 1."""

    kind: Kind
    text: str
    line: int


# Order matters: a number may begin with a dot, and a dot alone comes last.
_WORDS = (
    (Kind.SPACE, re.compile(r"[ \t\r\n]+")),
    (Kind.NUMBER, re.compile(r"[+-]?(?:[0-9]|\.[0-9])[0-9a-zA-Z_.]*")),
    (Kind.FIELD, re.compile(r"\.[^\W\d]\w*")),
    (Kind.VARIABLE, re.compile(r"\$\w*")),
    (Kind.WORD, re.compile(r"[^\W\d]\w*")),
    (Kind.STRING, re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`')),
    (Kind.CHARACTER, re.compile(r"'(?:[^'\\\n]|\\.)+'")),
    (Kind.SYMBOL, re.compile(r":=|[|(),=]")),
    (Kind.DOT, re.compile(r"\.")),
)
_NAMES = frozenset({Kind.FIELD, Kind.VARIABLE, Kind.WORD, Kind.DOT})
# What may follow a name directly.
_AFTER_NAME = re.compile(rf"[{_SPACE}.,|:)(]|{_CLOSE}|\Z")


def tokens(source: str) -> Iterator[Token]:
    """Give the tokens of `source` in order; text comes trimmed as its neighbours ask.

    Raises ValueError, with the line, for an action or comment that does not end and for a
    character that begins no token. Comments give no token.
    """
    position, trim = 0, False
    while position < len(source):
        start = source.find(_OPEN, position)
        text, after = _text(source, position, start, trim=trim)
        if text:
            yield Token(Kind.TEXT, text, _line(source, position))
        if start < 0:
            return
        if source.startswith("/*", after):
            position, trim = _after_comment(source, after)
            continue
        yield Token(Kind.OPEN, _OPEN, _line(source, start))
        for token, end in _action(source, after):
            position = end
            yield token
        trim = _trims_right(source, position - len(_CLOSE))


def _text(source: str, position: int, start: int, *, trim: bool) -> tuple[str, int]:
    text = source[position:] if start < 0 else source[position:start]
    after = start + len(_OPEN)
    if trim:
        text = text.lstrip(_SPACE)
    if start >= 0 and _TRIM_LEFT.match(source, after):
        return text.rstrip(_SPACE), after + 2
    return text, after


def _after_comment(source: str, start: int) -> tuple[int, bool]:
    ended = source.find("*/", start + 2)
    if ended < 0:
        raise _wrong(source, start, "a comment is not closed")
    closing = _END.match(source, ended + 2)
    if not closing:
        raise _wrong(source, start, f"a comment must end with */ directly before {_CLOSE}")
    return closing.end(), closing["trim"] is not None


def _trims_right(source: str, close: int) -> bool:
    return re.fullmatch(rf"[{_SPACE}]-", source[max(close - 2, 0) : close]) is not None


def _action(source: str, position: int) -> Iterator[tuple[Token, int]]:
    """Give each token of the action at `position` with where it ends, the closing one last."""
    opened = position
    while position < len(source):
        line = _line(source, position)
        if closing := _END.match(source, position):
            yield Token(Kind.CLOSE, _CLOSE, line), closing.end()
            return
        kind, text = _word(source, position)
        position += len(text)
        if kind is Kind.SPACE and source.startswith(f"-{_CLOSE}", position):
            position -= 1  # the last space belongs to the trim marker
            continue
        yield Token(kind, text, line), position
    raise _wrong(source, opened, f"an action is not closed with {_CLOSE}")


def _word(source: str, position: int) -> tuple[Kind, str]:
    for kind, pattern in _WORDS:
        if found := pattern.match(source, position):
            if kind in _NAMES and not _AFTER_NAME.match(source, found.end()):
                raise _wrong(source, position, f"unexpected {source[found.end()]!r} in an action")
            return kind, found[0]
    if source[position] in "\"'`":
        raise _wrong(source, position, "a quoted text is not closed")
    raise _wrong(source, position, f"unexpected {source[position]!r} in an action")


def _line(source: str, position: int) -> int:
    return source.count("\n", 0, position) + 1


def _wrong(source: str, position: int, fault: str) -> ValueError:
    line = _line(source, position)
    return ValueError(f"{fault} (line {line} of the template)" if line > 1 else fault)
