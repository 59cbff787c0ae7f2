"""Pipelines of a template: commands, their operands, and the variables that keep values."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from adapter.rules.functions import check_call
from adapter.rules.lexer import Kind, Token
from adapter.rules.syntax import (
    ROOT,
    Branching,
    Call,
    Chain,
    Dot,
    Field,
    Nil,
    Operand,
    Pipe,
    Variable,
)
from adapter.rules.terms import constant, spelled, word_operand

_MOST_NESTED = 50
_END = Token(Kind.CLOSE, "the end of the template", 0)


@dataclass(slots=True)
class PipelineReader:
    """Reads the tokens of a template from `position` on; `variables` are those known there."""

    stream: Sequence[Token]
    position: int = 0
    variables: list[str] = field(default_factory=lambda: [ROOT])
    depth: int = 0

    def ended(self) -> bool:
        """Tell whether all tokens are read."""
        return self.position >= len(self.stream)

    def peek(self) -> Token:
        """Give the next token and leave it there."""
        return _END if self.ended() else self.stream[self.position]

    def next(self) -> Token:
        """Read one token."""
        token = self.peek()
        self.position += 1
        return token

    def skip_space(self) -> None:
        """Read over spaces."""
        while self.peek().kind is Kind.SPACE:
            self.position += 1

    def pipe(self, context: str, end: Kind) -> Pipe:
        """Read a pipeline and what ends it: the action's end, or with SYMBOL a bracket.

        Raises ValueError that names what is wrong; `context` is where it stands.
        """
        self.skip_space()
        variables, assigns = self.declared(context)
        commands = [self.command(context)]
        while self.peek().text == "|":
            self.next()
            commands.append(self.piped())
        token = self.next()
        if end is Kind.SYMBOL and token.text != ")":
            msg = "a ( is not closed"
            raise ValueError(msg)
        if end is Kind.CLOSE and token.kind is not Kind.CLOSE:
            msg = f"unexpected {token.text} in {context}"
            raise ValueError(msg)
        return Pipe(tuple(commands), variables, assigns)

    def declared(self, context: str) -> tuple[tuple[str, ...], bool]:
        """Read the variables before `:=` or `=`, if any; names them from here on."""
        start, names = self.position, list[str]()
        while self.peek().kind is Kind.VARIABLE:
            names.append(self.next().text)
            self.skip_space()
            if self.peek().text in {":=", "="}:
                return self.named(names, context, assigns=self.next().text == "=")
            if self.peek().text != ",":
                break
            self.next()
            self.skip_space()
        if len(names) > 1:
            msg = f"after {', '.join(names)} there must be :="
            raise ValueError(msg)
        self.position = start
        return (), False

    def named(
        self, names: list[str], context: str, *, assigns: bool
    ) -> tuple[tuple[str, ...], bool]:
        if len(names) > (2 if context == Branching.RANGE else 1):
            msg = f"too many variables in {context}"
            raise ValueError(msg)
        for name in names:
            if name == ROOT:
                msg = "$ stands for the rule's variables and cannot be set"
                raise ValueError(msg)
            if assigns and name not in self.variables:
                msg = f"there is no variable {name} to set; := makes one"
                raise ValueError(msg)
        if not assigns:
            self.variables += names
        return tuple(names), assigns

    def command(self, context: str) -> Operand:
        first, *arguments = self.operands(context)
        if isinstance(first, Call):
            return self.called(first.function, arguments, piped=0)
        fault = "cannot be given arguments" if arguments else "alone is no value"
        if arguments or isinstance(first, Nil):
            msg = f"{spelled(first)} {fault}"
            raise ValueError(msg)
        return first

    def piped(self) -> Operand:
        first, *arguments = self.operands("a pipeline")
        if isinstance(first, Call):
            return self.called(first.function, arguments, piped=1)
        msg = f"{spelled(first)} stands after | but is no function"
        raise ValueError(msg)

    def called(self, function: str, arguments: Sequence[Operand], *, piped: int) -> Call:
        check_call(function, arguments, piped)
        for argument in arguments:
            if isinstance(argument, Call):
                check_call(argument.function, (), 0)
        return Call(function, tuple(arguments))

    def operands(self, context: str) -> list[Operand]:
        found: list[Operand] = []
        while True:
            self.skip_space()
            if self.peek().kind is Kind.CLOSE or self.peek().text in {"|", ")"}:
                break
            found.append(self.operand(context))
            if not self.parted():
                msg = f"unexpected {self.peek().text} after {spelled(found[-1])}"
                raise ValueError(msg)
        if not found:
            msg = f"{context} is empty" if context == "an action" else f"{context} lacks a value"
            raise ValueError(msg)
        return found

    def parted(self) -> bool:
        """Tell whether an operand may end before the next token."""
        token = self.peek()
        return token.kind in {Kind.SPACE, Kind.CLOSE} or token.text in {"|", ")"}

    def operand(self, context: str) -> Operand:
        term = self.term(context)
        path = self.fields()
        if not path:
            return term
        match term:
            case Field(start):
                return Field((*start, *path))
            case Variable(name):
                return Variable(name, path)
            case Pipe():
                return Chain(term, path)
            case _:
                msg = f"unexpected .{path[0]} after {spelled(term)}"
                raise ValueError(msg)

    def fields(self) -> tuple[str, ...]:
        found = []
        while self.peek().kind is Kind.FIELD:
            found.append(self.next().text[1:])
        return tuple(found)

    def term(self, context: str) -> Operand:
        token = self.next()
        match token.kind:
            case Kind.DOT:
                return Dot()
            case Kind.FIELD:
                return Field((token.text[1:],))
            case Kind.VARIABLE:
                return self.known(token.text)
            case Kind.WORD:
                return word_operand(token.text)
            case Kind.STRING | Kind.NUMBER | Kind.CHARACTER:
                return constant(token)
            case _:
                return self.bracketed(token, context)

    def bracketed(self, token: Token, context: str) -> Pipe:
        if token.text != "(":
            msg = f"unexpected {token.text} in {context}"
            raise ValueError(msg)
        self.deeper()
        pipe = self.pipe("brackets", Kind.SYMBOL)
        self.depth -= 1
        return pipe

    def known(self, name: str) -> Variable:
        if name not in self.variables:
            msg = f"there is no variable {name}; := makes one"
            raise ValueError(msg)
        return Variable(name)

    def deeper(self) -> None:
        """Go into a block or bracket; raises ValueError when there are too many around."""
        self.depth += 1
        if self.depth > _MOST_NESTED:
            msg = f"more than {_MOST_NESTED} blocks and brackets are nested"
            raise ValueError(msg)
