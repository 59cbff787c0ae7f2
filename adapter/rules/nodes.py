"""YAML read by place: each value knows its line, and scalars keep their source text.

The standard loaders turn `as: yes` into a boolean and forget lines and duplicate keys; here the
tree of nodes is walked instead, and whatever is wrong is collected, not raised.
"""

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import yaml

from adapter.errors import Problem

_SURROGATE = re.compile("[\ud800-\udfff]")
_TAG = "tag:yaml.org,2002:"
_SPELLED = {yaml.MappingNode: "a mapping", yaml.SequenceNode: "a list", yaml.ScalarNode: "a text"}


@dataclass(slots=True)
class Findings:
    """What was found wrong, and what is only worth a warning, in one file."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cursor:
    """One value of the file: its node, the path of keys to it, and the number of its rule."""

    node: yaml.Node
    findings: Findings
    key: str = ""
    rule: int = 0

    @property
    def line(self) -> int:
        """Give the line, from 1."""
        return int(self.node.start_mark.line) + 1

    @property
    def is_null(self) -> bool:
        """Tell whether nothing is given: an absent, empty or `null` value."""
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag == f"{_TAG}null"

    @property
    def is_empty(self) -> bool:
        """Tell whether it is null, an empty text, an empty list or an empty mapping."""
        return self.is_null or not self.node.value

    @property
    def is_text(self) -> bool:
        """Tell whether it is a scalar, null included."""
        return isinstance(self.node, yaml.ScalarNode)

    @property
    def is_mapping(self) -> bool:
        """Tell whether it is a mapping."""
        return isinstance(self.node, yaml.MappingNode)

    def problem(self, fault: str, cure: str) -> None:
        """Note that the file cannot be used because of this value."""
        self.findings.problems.append(self._told(fault, cure))

    def warn(self, fault: str, cure: str) -> None:
        """Note that this value may not do what its author expects."""
        self.findings.warnings.append(self._told(fault, cure))

    def in_rule(self, number: int, key: str = "") -> "Cursor":
        """Give the same value as rule `number`; keys inside it begin with `key`."""
        return replace(self, rule=number, key=key)

    def below(self, name: str, node: yaml.Node) -> "Cursor":
        """Give the value under the key `name` of this one."""
        return replace(self, node=node, key=f"{self.key}.{name}" if self.key else name)

    def text(self) -> str:
        """Give a scalar as it is written, empty for null; a problem for anything else."""
        if not isinstance(self.node, yaml.ScalarNode):
            self._is_not("a text", "if it is meant as text, put it between single quotes")
            return ""
        if not self.node.tag.startswith(_TAG):
            self.problem(f"the tag {self.node.tag} has no meaning here", "remove it")
        value = str(self.node.value)
        if _SURROGATE.search(value):
            self.problem("an escape stands for half a character", "write the character itself")
        return "" if self.is_null else _SURROGATE.sub("\ufffd", value)

    def items(self) -> tuple["Cursor", ...]:
        """Give the values of a list, none for null; a problem for anything else."""
        if not isinstance(self.node, yaml.SequenceNode):
            if not self.is_null:
                self._is_not("a list", "begin each element with '- '")
            return ()
        return tuple(
            replace(self, node=node, key=f"{self.key}[{number}]")
            for number, node in enumerate(self.node.value, 1)
        )

    def mapping(self, *known: str, unread: Collection[str] = ()) -> dict[str, "Cursor"]:
        """Give the values by key; a problem for each unknown or repeated key and non-mapping.

        Keys in `unread` are no problem either, and not suggested.
        """
        found = dict(self.entries())
        for name, cursor in found.items():
            if name not in known and name not in unread:
                cursor.problem("unknown key", _suggestion(name, known))
        return {name: cursor for name, cursor in found.items() if name in {*known, *unread}}

    def entries(self) -> list[tuple[str, "Cursor"]]:
        """Give keys and values in order, none for null; merge keys (`<<`) count last.

        A problem for a repeated key (the first one counts) and for anything but a mapping.
        """
        if not isinstance(self.node, yaml.MappingNode):
            if not self.is_null:
                self._is_not("a mapping", "write it as 'key: value' lines")
            return []
        found: dict[str, Cursor] = {}
        for key, node in self._pairs(self.node):
            cursor = self.below(key.value, node)
            if key.value in found:
                where = found[key.value].line
                told = replace(cursor, node=key)
                told.problem(f"the key is given twice, first in line {where}", "keep one of them")
            found.setdefault(key.value, cursor)
        for key, node in self._merged(self.node, {id(self.node)}):
            found.setdefault(key.value, self.below(key.value, node))
        return list(found.items())

    def _pairs(self, node: yaml.MappingNode) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                replace(self, node=key).problem("a key is not a text", "write a plain key")
            elif key.tag != f"{_TAG}merge":
                yield key, value

    def _merged(
        self, node: yaml.MappingNode, seen: set[int]
    ) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
        merges = [value for key, value in node.value if key.tag == f"{_TAG}merge"]
        for value in merges:
            sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for source in sources:
                yield from self._merged_from(source, seen)

    def _merged_from(
        self, source: yaml.Node, seen: set[int]
    ) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
        if not isinstance(source, yaml.MappingNode):
            told = replace(self, node=source)
            told.problem("<< merges something that is no mapping", "merge an anchored mapping")
        elif id(source) not in seen:  # an anchor may contain itself
            seen.add(id(source))
            yield from self._pairs(source)
            yield from self._merged(source, seen)

    def _is_not(self, wanted: str, cure: str) -> None:
        self.problem(f"{_SPELLED[type(self.node)]} where {wanted} belongs", cure)

    def _told(self, fault: str, cure: str) -> Problem:
        return Problem(
            file=self.findings.file,
            line=self.line,
            rule=self.rule,
            key=self.key,
            fault=fault,
            cure=cure,
        )


def _suggestion(name: str, known: Sequence[str]) -> str:
    lowered = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), lowered, n=1)
    if close:
        return f"write {lowered[close[0]]}"
    return f"remove it; known here: {', '.join(known)}"


def compose(text: str, findings: Findings) -> Cursor | None:
    """Give the only document of `text`, None when it is empty or, with a problem, no YAML."""
    try:
        node = _only(text)
    except yaml.MarkedYAMLError as error:
        _note(findings, _fault(error), _line(error))
    except yaml.YAMLError as error:
        _note(findings, " ".join(str(error).split()))
    except (ValueError, OverflowError):  # from Python's chr and int, inside the parser
        _note(findings, "an escape or a number is too large")
    except RecursionError:
        _note(findings, "lists or mappings are nested too deeply")
    else:
        return None if node is None else Cursor(node, findings)
    return None


def _only(text: str) -> yaml.Node | None:
    """Give the first document; empty ones behind it, which a last `---` makes, are no fault."""
    documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    for other in documents[1:]:
        if other.tag != f"{_TAG}null":
            raise yaml.MarkedYAMLError(
                problem="expected a single document in the stream, but found another document",
                problem_mark=other.start_mark,
            )
    return documents[0] if documents else None


def _fault(error: yaml.MarkedYAMLError) -> str:
    fault = error.problem or str(error)
    return f"{error.context}, {fault}" if fault.startswith("but ") else fault


def _line(error: yaml.MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return int(mark.line) + 1 if mark else 0


_CURES = (
    ("another document", "keep one, without the --- between them"),
    ("\\t", "indent with spaces, not with tabs"),
    ("alias", "define the anchor (&) above, or put the text in single quotes"),
    ("<block end>", "align the keys of one mapping, and the dashes of one list"),
    ("'{'", "put a text that contains { or } between double quotes"),
)


def _note(findings: Findings, fault: str, line: int = 0) -> None:
    cures = (cure for words, cure in _CURES if words in fault)
    cure = next(cures, "mend it here or just above; quote a text with any of { } [ ] : # in it")
    findings.problems.append(
        Problem(file=findings.file, line=line, fault=f"not YAML: {fault}", cure=cure)
    )
