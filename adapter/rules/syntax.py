"""The syntax tree of a template in Go's text/template."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

ROOT = "$"


@dataclass(frozen=True, slots=True)
class Dot:
    """`.`: the variables themselves, or what `range` or `with` set it to."""


@dataclass(frozen=True, slots=True)
class Nil:
    """`nil`, as an argument."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A quoted text, a number, a character's code, or a truth value."""

    value: str | float | bool


@dataclass(frozen=True, slots=True)
class Field:
    """`.Name` or `.Name.key`: what is read of the dot, one key after the other."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name` or `$name.key`; the variables of the template are `$` itself."""

    name: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """`(pipeline).key`."""

    inner: "Pipe"
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function and its arguments; a pipeline gives it one more, at the end."""

    function: str
    arguments: tuple["Operand", ...] = ()


@dataclass(frozen=True, slots=True)
class Pipe:
    """Commands, each given the value of the one before; then variables that keep the value.

    With `assigns` the variables exist already.
    """

    commands: tuple["Operand", ...]
    variables: tuple[str, ...] = ()
    assigns: bool = False


Operand = Dot | Nil | Literal | Field | Variable | Chain | Call | Pipe


@dataclass(frozen=True, slots=True)
class Text:
    """Text outside of actions."""

    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """A pipeline whose value is printed, unless variables keep it."""

    pipe: Pipe


class Branching(StrEnum):
    """What decides between the two bodies of a branch."""

    IF = "if"
    WITH = "with"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Branch:
    """`if`, `with` or `range`, with its body and that of `else`."""

    kind: Branching
    pipe: Pipe
    body: tuple["Node", ...]
    otherwise: tuple["Node", ...] = ()


class Leap(StrEnum):
    """What ends one turn of `range`, or all of it."""

    BREAK = "break"
    CONTINUE = "continue"


Node = Text | Action | Branch | Leap


@dataclass(frozen=True, slots=True)
class Read:
    """One place that reads variables of the template.

    `path` begins with the variable; it is empty where all of them are read at once. `printed`
    says that the place prints the variable as it is. `about` tells what the dot is there.
    """

    path: tuple[str, ...]
    printed: bool
    about: "About"


class About(StrEnum):
    """What the dot is: the template's variables, one element of a range, or something else."""

    VARIABLES = "variables"
    ELEMENT = "element"
    OTHER = "other"


def reads(nodes: tuple[Node, ...], about: About = About.VARIABLES) -> Iterator[Read]:
    """Give every place that may read a variable of the template, in order.

    Where the dot is something else its keys are given too, for it may be the variables again.
    """
    for node in nodes:
        match node:
            case Action(Pipe((Field((_,)) | Variable("$", (_,)) as only,), ())):
                yield from (Read(read.path, True, read.about) for read in _reads(only, about))
            case Action(pipe):
                yield from _reads(pipe, about)
            case Branch():
                yield from _reads(node.pipe, about)
                yield from reads(node.body, _inside(node, about))
                yield from reads(node.otherwise, about)
            case _:
                continue


def _inside(branch: Branch, about: About) -> About:
    match branch.kind:
        case Branching.IF:
            return about
        case Branching.WITH:
            return About.OTHER
        case Branching.RANGE:
            return About.ELEMENT


def _reads(operand: Operand, about: About) -> Iterator[Read]:
    match operand:
        case Dot() if about is About.VARIABLES:
            yield Read((), False, about)
        case Field(path):
            yield Read(path, False, about)
        case Variable(name, path) if name == ROOT:
            yield Read(path, False, About.VARIABLES)
        case Chain(inner):
            yield from _reads(inner, about)
        case Call(_, parts) | Pipe(parts):
            for part in parts:
                yield from _reads(part, about)
        case _:
            return
