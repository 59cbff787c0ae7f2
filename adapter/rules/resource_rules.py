"""What containers and nodes use now: `resourceRules` of the file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adapter.model.kinds import NAMESPACES, NODES, PODS, Kinds
from adapter.model.objects import Resource
from adapter.rules.matchers import Matcher, one_of
from adapter.rules.rule import Labelled, filled, variables_of
from adapter.rules.template import Template


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResourceRule(Labelled):
    """How one resource, cpu or memory, is asked for.

    `container_label` tells the containers of a pod apart; the labels of pods, namespaces and nodes
    are those of `overrides` and `template`. `name` is `cpu` or `memory`.
    """

    name: str
    file: str
    line: int
    container_query: Template
    node_query: Template
    container_label: str

    def __str__(self) -> str:
        """Give `FILE:LINE: resourceRules.NAME`, as messages name it."""
        return f"{self.file}:{self.line}: resourceRules.{self.name}"

    def label_of(self, resource: Resource, kinds: Kinds) -> str:
        """Give the label that means `resource`; raises ValueError when none does."""
        label = self.label_for(resource, kinds)
        if label is None:
            msg = f"{self}: no label means {resource.plural}"
            raise ValueError(msg)
        return label

    def pod_matchers(
        self, namespace: str, names: Iterable[str], kinds: Kinds
    ) -> tuple[Matcher, ...]:
        """Give the matchers for pods, at least one, of a namespace: the namespace's, the pods'.

        Raises ValueError when no label means one of the two.
        """
        home = Matcher(self.label_of(NAMESPACES, kinds), "=", namespace)
        return home, one_of(self.label_of(PODS, kinds), names)

    def node_matchers(self, names: Iterable[str], kinds: Kinds) -> tuple[Matcher, ...]:
        """Give the matcher for nodes, at least one; raises ValueError when no label means them."""
        return (one_of(self.label_of(NODES, kinds), names),)

    def render_containers(self, matchers: Sequence[Matcher], kinds: Kinds) -> str:
        """Give the query for containers, grouped by the pods' label and the containers'.

        Its series have no name. Raises ValueError when no label means pods, when a variable cannot
        be used as the template does, or when nothing is left.
        """
        group_by = (self.label_of(PODS, kinds), self.container_label)
        return filled(self.container_query, variables_of("", matchers, group_by))

    def render_nodes(self, matchers: Sequence[Matcher], kinds: Kinds) -> str:
        """Give the query for nodes, grouped by their label; raises ValueError likewise."""
        group_by = (self.label_of(NODES, kinds),)
        return filled(self.node_query, variables_of("", matchers, group_by))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResourceRules:
    """The section as a whole; `window` is the range of its queries in seconds, 0 when not said."""

    cpu: ResourceRule | None = None
    memory: ResourceRule | None = None
    window: float = 0.0
