"""Templates of rules: Go's text/template between `<<` and `>>`, rendered as Go renders it."""

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from adapter.rules.syntax import Field, Index, Literal, Node, Text, fields, parse_nodes

Value = str | int | Mapping[str, str] | tuple[str, ...] | None


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

    def uses(self, name: str) -> bool:
        """Tell whether the template reads the variable `name` (without its dot)."""
        return any(read.path[0] == name for read in fields(self.nodes))

    def render(self, variables: Named) -> str:
        """Give the text, printed as Go prints: `map[k1:v1 k2:v2]` by key, `[a b]`.

        Raises ValueError when a value cannot be indexed as the template wants it.
        """
        named = variables.named()
        return "".join(_printed(_evaluated(node, named)) for node in self.nodes)

    def __str__(self) -> str:
        """Give the source."""
        return self.source


def parse(text: str, names: Collection[str] = QUERY_FIELDS) -> Template:
    """Read a template whose variables are `names`.

    Raises ValueError, one line that names the construct, for what is no template, for what this
    program does not serve, and for a variable that does not exist.
    """
    nodes = parse_nodes(text)
    for read in fields(nodes):
        if read.path[0] not in names:
            known = ", ".join(f".{name}" for name in names)
            msg = f"there is no variable .{read.path[0]}; there are {known}"
            raise ValueError(msg)
    return Template(text, nodes)


def _evaluated(node: Node, named: Mapping[str, Value]) -> Value:
    match node:
        case Text(text):
            return text
        case Literal(value):
            return value
        case Field(path):
            return _followed(path, named)
        case Index(subject, keys):
            steps = (_evaluated(key, named) for key in keys)
            return functools.reduce(_indexed, steps, _evaluated(subject, named))


def _followed(path: tuple[str, ...], named: Mapping[str, Value]) -> Value:
    return functools.reduce(_keyed, path[1:], named[path[0]])


def _keyed(value: Value, key: str) -> Value:
    if isinstance(value, Mapping):
        return value.get(key)
    msg = f".{key} cannot be read of {_printed(value)!r}: only .LabelValuesByName has keys"
    raise ValueError(msg)


def _indexed(value: Value, key: Value) -> Value:
    if isinstance(value, Mapping) and isinstance(key, str):
        return value.get(key, "")
    if isinstance(value, tuple) and isinstance(key, int):
        if 0 <= key < len(value):
            return value[key]
        msg = f"index {key} is out of range: the list has {len(value)}"
        raise ValueError(msg)
    msg = f"{_printed(value)!r} cannot be indexed with {_printed(key)!r}"
    raise ValueError(msg)


def _printed(value: Value) -> str:
    if value is None:
        return "<no value>"
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{key}:{value[key]}' for key in sorted(value))}]"
    if isinstance(value, tuple):
        return f"[{' '.join(value)}]"
    return str(value)
