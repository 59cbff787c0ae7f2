"""Filling in a template: its tree is walked as Go's text/template walks it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapter.rules.functions import function
from adapter.rules.syntax import (
    ROOT,
    Action,
    Branch,
    Branching,
    Call,
    Chain,
    Dot,
    Field,
    Leap,
    Literal,
    Nil,
    Node,
    Operand,
    Pipe,
    Text,
    Variable,
)
from adapter.rules.values import Struct, Unserved, Value, called, is_true, printed

# A query is never so long; what grows beyond is a fault that would take all memory or time.
_MOST_STEPS = 100_000
_LONGEST_TEXT = 1_000_000


def executed(nodes: Sequence[Node], variables: Struct) -> str:
    """Give the text of a template.

    Raises ValueError when a value cannot be used as the template does.
    """
    execution = _Execution([(ROOT, variables)])
    execution.walk(nodes, variables)
    return "".join(execution.written)


@dataclass(slots=True)
class _Execution:
    """The variables set so far, innermost last, and the text written so far."""

    variables: list[tuple[str, Value]]
    written: list[str] = field(default_factory=list)
    steps: int = 0

    def walk(self, nodes: Sequence[Node], dot: Value) -> Leap | None:
        """Write `nodes`; gives the leap that ended it early, if one did."""
        for node in nodes:
            self.step()
            match node:
                case Text(text):
                    self.written.append(text)
                case Action(pipe):
                    self.act(pipe, dot)
                case Leap():
                    return node
                case Branch():
                    if leap := self.branch(node, dot):
                        return leap
        return None

    def step(self) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            msg = f"it is not done after {_MOST_STEPS} steps"
            raise ValueError(msg)

    def act(self, pipe: Pipe, dot: Value) -> None:
        value = self.piped(pipe, dot)
        if not pipe.variables:
            self.written.append(printed(value))

    def branch(self, branch: Branch, dot: Value) -> Leap | None:
        known = len(self.variables)
        value = self.piped(branch.pipe, dot)
        if branch.kind is Branching.RANGE:
            leap = self.ranged(branch, value, dot)
        elif is_true(value):
            inside = value if branch.kind is Branching.WITH else dot
            leap = self.walk(branch.body, inside)
        else:
            leap = self.walk(branch.otherwise, dot)
        del self.variables[known:]
        return leap

    def ranged(self, branch: Branch, value: Value, dot: Value) -> Leap | None:
        turns = list(_turns(value))
        known = len(self.variables)
        for index, element in turns:
            self.turn(branch.pipe, index, element)
            leap = self.walk(branch.body, element)
            del self.variables[known:]
            if leap is Leap.BREAK:
                break
        return None if turns else self.walk(branch.otherwise, dot)

    def turn(self, pipe: Pipe, index: Value, element: Value) -> None:
        """Set the variables of a range: the element, or with two the index and the element."""
        for name, value in zip(reversed(pipe.variables), (element, index), strict=False):
            self.reset(name, value)

    def piped(self, pipe: Pipe, dot: Value) -> Value:
        first, *others = pipe.commands
        value = self.evaluated(first, dot)
        for command in others:
            value = self.evaluated(command, dot, (value,))
        for name in pipe.variables:
            if pipe.assigns:
                self.reset(name, value)
            else:
                self.variables.append((name, value))
        return value

    def reset(self, name: str, value: Value) -> None:
        position = self.position(name)
        self.variables[position] = (name, value)

    def position(self, name: str) -> int:
        known = [one for one, _ in self.variables]
        return len(known) - 1 - known[::-1].index(name)

    def evaluated(self, operand: Operand, dot: Value, final: tuple[Value, ...] = ()) -> Value:
        """Give the value of an operand; `final` is what a pipeline gives a function."""
        match operand:
            case Literal(constant):
                return constant
            case Call("and" | "or"):
                return self.chosen(operand, dot, final)
            case Call(name, arguments):
                values = [self.evaluated(argument, dot) for argument in arguments]
                return _bounded(function(name)((*values, *final)))
            case Pipe():
                return self.piped(operand, dot)
            case _:
                return self.read(operand, dot)

    def read(self, operand: Dot | Nil | Field | Variable | Chain, dot: Value) -> Value:
        match operand:
            case Dot():
                return dot
            case Nil():
                return None
            case Field(path):
                return _followed(dot, path)
            case Variable(name, path):
                return _followed(self.variables[self.position(name)][1], path)
            case Chain(inner, path):
                return _followed(self.piped(inner, dot), path)

    def chosen(self, call: Call, dot: Value, final: tuple[Value, ...]) -> Value:
        """Give the first true argument of `or`, the first untrue one of `and`, else the last."""
        value: Value = None
        for argument in call.arguments:
            value = self.evaluated(argument, dot)
            if is_true(value) == (call.function == "or"):
                return value
        return final[0] if final else value


def _bounded(value: Value) -> Value:
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        msg = f"a text in it grows beyond {_LONGEST_TEXT} characters"
        raise ValueError(msg)
    return value


def _turns(value: Value) -> Iterator[tuple[Value, Value]]:
    match value:
        case None:
            return
        case tuple():
            yield from enumerate(value)
        case Mapping():
            yield from ((key, value[key]) for key in sorted(value))
        case _:
            msg = f"range cannot go over {called(value)}"
            raise Unserved(msg)


def _followed(value: Value, path: Sequence[str]) -> Value:
    for key in path:
        value = _keyed(value, key)
    return value


def _keyed(value: Value, key: str) -> Value:
    match value:
        case None:
            return None
        case Struct(fields) if key in fields:
            return fields[key]
        case Mapping():
            return value.get(key)
        case _:
            msg = f".{key} cannot be read of {called(value)}: only .LabelValuesByName has keys"
            raise ValueError(msg)
