"""From the words of a template to its syntax tree."""

from dataclasses import dataclass

from adapter.rules.lexer import Kind, tokens
from adapter.rules.pipelines import PipelineReader
from adapter.rules.syntax import Action, Branch, Branching, Leap, Node, Text
from adapter.rules.terms import ENDING

_BRANCHINGS = frozenset(Branching)
_LEAPS = frozenset(Leap)


def parse_nodes(source: str) -> tuple[Node, ...]:
    """Give the nodes of a template in order.

    Raises ValueError that names the construct that is wrong or not served.
    """
    parser = _Parser(list(tokens(source)))
    nodes = parser.body()
    if not parser.ended():
        msg = f"{parser.peek().text} without if, with or range"
        raise ValueError(msg)
    return nodes


@dataclass(slots=True)
class _Parser(PipelineReader):
    """Reads blocks as well; `ranges` counts those of `range` around."""

    ranges: int = 0

    def body(self) -> tuple[Node, ...]:
        """Read up to `else`, `end` or the end; the word that ends it is the next token."""
        known = len(self.variables)
        found: list[Node] = []
        while not self.ended():
            token = self.next()
            if token.kind is Kind.TEXT:
                found.append(Text(token.text))
                continue
            self.skip_space()
            if self.peek().kind is Kind.WORD and self.peek().text in ENDING:
                break
            found.append(self.action())
        del self.variables[known:]
        return tuple(found)

    def action(self) -> Node:
        word = self.peek().text if self.peek().kind is Kind.WORD else ""
        if word in _BRANCHINGS:
            self.next()
            return self.branch(Branching(word))
        if word in _LEAPS:
            return self.leap()
        return Action(self.pipe("an action", Kind.CLOSE))

    def leap(self) -> Node:
        word = self.next().text
        if not self.ranges:
            msg = f"{word} outside of range"
            raise ValueError(msg)
        self.close(word)
        return Leap(word)

    def branch(self, kind: Branching) -> Branch:
        known = len(self.variables)
        self.deeper()
        pipe = self.pipe(kind, Kind.CLOSE)
        self.ranges += kind is Branching.RANGE
        body = self.body()
        self.ranges -= kind is Branching.RANGE
        otherwise = self.otherwise(kind)
        del self.variables[known:]
        self.depth -= 1
        return Branch(kind, pipe, body, otherwise)

    def otherwise(self, kind: Branching) -> tuple[Node, ...]:
        """Read from the word that ended the body of a branch to the branch's own end."""
        if self.ended():
            msg = f"{kind} is not closed with <<end>>"
            raise ValueError(msg)
        if self.next().text == "end":
            self.close("end")
            return ()
        self.skip_space()
        word = self.peek().text
        if word == kind and kind is not Branching.RANGE:
            self.next()
            return (self.branch(kind),)
        self.close("else")
        nodes = self.body()
        if self.ended() or self.next().text != "end":
            msg = f"the else of {kind} is not closed with <<end>>"
            raise ValueError(msg)
        self.close("end")
        return nodes

    def close(self, word: str) -> None:
        self.skip_space()
        if self.next().kind is not Kind.CLOSE:
            msg = f"unexpected {self.stream[self.position - 1].text} after {word}"
            raise ValueError(msg)
