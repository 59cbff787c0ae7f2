"""Single words and constants of a template, and how messages spell what was read."""

from collections.abc import Mapping

from adapter.rules.constants import character, number, unquoted
from adapter.rules.functions import REFUSED
from adapter.rules.lexer import Kind, Token
from adapter.rules.syntax import (
    Branching,
    Call,
    Dot,
    Field,
    Leap,
    Literal,
    Nil,
    Operand,
    Variable,
)

ENDING = frozenset({"else", "end"})
_WORDS: Mapping[type, str] = {Dot: "the dot", Nil: "nil"}
_REFUSED_KEYWORDS = frozenset({"define", "template", "block"})
_KEYWORDS = frozenset(Branching) | frozenset(Leap) | ENDING


def constant(token: Token) -> Literal:
    """Give the constant that a token spells; raises ValueError when it is none of Go's."""
    match token.kind:
        case Kind.STRING:
            return Literal(unquoted(token.text))
        case Kind.CHARACTER:
            return Literal(character(token.text))
        case _:
            return Literal(number(token.text))


def word_operand(word: str) -> Operand:
    """Give what a bare word is: a truth value, `nil` or a function.

    Raises ValueError for what is not served, and for keywords in a wrong place.
    """
    if word in {"true", "false"}:
        return Literal(word == "true")
    if word == "nil":
        return Nil()
    if word in _REFUSED_KEYWORDS:
        msg = f"the keyword {word} is not served: a rule is one template"
        raise ValueError(msg)
    if word in _KEYWORDS:
        msg = f"unexpected keyword {word}"
        raise ValueError(msg)
    if word in REFUSED:
        msg = f"the function {word} is not served: {REFUSED[word]}"
        raise ValueError(msg)
    return Call(word)


def spelled(operand: Operand) -> str:
    """Give the operand as a template writes it, shortened."""
    match operand:
        case Field(path):
            return _joined("", path)
        case Variable(name, path):
            return _joined(name, path)
        case Literal(value):
            return repr(value) if isinstance(value, str) else str(value).lower()
        case Call(function):
            return function
        case _:
            return _WORDS.get(type(operand), "(...)")


def _joined(name: str, path: tuple[str, ...]) -> str:
    return name + "".join(f".{key}" for key in path)
