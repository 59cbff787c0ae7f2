"""Templates of rules: Go's text/template between `<<` and `>>`, rendered as Go renders it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from adapter.rules.execution import executed
from adapter.rules.parsing import parse_nodes
from adapter.rules.syntax import About, Node, Read, reads
from adapter.rules.values import Struct, Value


class Named(Protocol):
    """What a template is rendered with."""

    def named(self) -> Mapping[str, Value]:
        """Give each variable by the name that templates use."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """What `metricsQuery` may read."""

    series: str
    label_matchers: str
    label_values_by_name: Mapping[str, str] = field(default_factory=dict)
    group_by: str = ""
    group_by_slice: tuple[str, ...] = ()

    def named(self) -> Mapping[str, Value]:
        """Give each variable by the name that templates use."""
        return {
            "Series": self.series,
            "LabelMatchers": self.label_matchers,
            "LabelValuesByName": self.label_values_by_name,
            "GroupBy": self.group_by,
            "GroupBySlice": self.group_by_slice,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceWords:
    """What `resources.template` may read."""

    group: str
    resource: str

    def named(self) -> Mapping[str, Value]:
        """Give each variable by the name that templates use."""
        return {"Group": self.group, "Resource": self.resource}


QUERY_FIELDS = ("Series", "LabelMatchers", "LabelValuesByName", "GroupBy", "GroupBySlice")
RESOURCE_FIELDS = ("Group", "Resource")


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template; equal when its source is."""

    source: str
    nodes: tuple[Node, ...] = field(repr=False)
    reads: tuple[Read, ...] = field(repr=False, compare=False)

    def uses(self, name: str) -> bool:
        """Tell whether the template may read the variable `name` (without its dot)."""
        return any(not read.path or read.path[0] == name for read in self.reads)

    def only_prints(self, name: str) -> bool:
        """Tell whether `name` stands for itself wherever it is read: nothing is made of it."""
        return all(read.printed for read in self.reads if not read.path or read.path[0] == name)

    def render(self, variables: Named) -> str:
        """Give the text, printed as Go prints: `map[k1:v1 k2:v2]` by key, `[a b]`.

        Raises ValueError when a value cannot be used as the template does.
        """
        return executed(self.nodes, Struct(variables.named()))

    def __str__(self) -> str:
        """Give the source."""
        return self.source


def parse(text: str, names: Collection[str] = QUERY_FIELDS) -> Template:
    """Read a template whose variables are `names`.

    Raises ValueError, one line that names the construct, for what is no template, for what this
    program does not serve, and for a variable that does not exist.
    """
    nodes = parse_nodes(text)
    read = tuple(reads(nodes))
    _check(read, names)
    return Template(text, nodes, read)


def _check(found: Iterable[Read], names: Collection[str]) -> None:
    for read in found:
        name = read.path[0] if read.path else ""
        if read.about is About.VARIABLES and name and name not in names:
            known = ", ".join(f".{known}" for known in names)
            msg = f"there is no variable .{name}; there are {known}"
            raise ValueError(msg)
        if read.about is About.ELEMENT and name in names:
            msg = f".{name} is not there inside range, where the dot is an element: write $.{name}"
            raise ValueError(msg)
