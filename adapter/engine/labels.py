"""Which labels of a series name an object: the object's own and its namespace's, as a pair."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from adapter.model.kinds import Kinds
from adapter.model.objects import Resource
from adapter.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Binding:
    """The labels that name an object; `namespace_label` is empty for cluster-scoped kinds."""

    object_label: str
    namespace_label: str


def bindings_of(
    rule: Rule, resource: Resource, present: Collection[str], kinds: Kinds
) -> tuple[Binding, ...]:
    """Give the pairs of labels, of those `present`, that name a `resource`; preferred first.

    An object's label goes with the namespace label of its own sort: `exported_pod` with
    `exported_namespace`, `pod` with `namespace`, `pod_name` with `pod_namespace`; failing that
    with the rule's preferred one. Empty when a namespaced kind has no namespace label.
    """
    labels = rule.labels_for(resource, present, kinds)
    if not resource.namespaced:
        return tuple(Binding(label, "") for label in labels)
    home = kinds.find("namespaces")
    namespaces = rule.labels_for(home, present, kinds) if home else ()
    if not namespaces:
        return ()
    words = frozenset({resource.singular, resource.plural, "namespace", "name"})
    return tuple(Binding(label, _partner(label, namespaces, words)) for label in labels)


def workload_first(bindings: tuple[Binding, ...]) -> tuple[Binding, ...]:
    """Give `bindings` with those of `exported_*` labels first, whatever their rule prefers.

    Prometheus renames a label to `exported_*` where its target has one of that name: of a GPU's
    series it is the workload's then, and the other is the exporter's, which uses no GPU.
    """
    return tuple(sorted(bindings, key=lambda one: not one.object_label.startswith("exported_")))


def _partner(label: str, namespaces: Sequence[str], words: frozenset[str]) -> str:
    def distance(namespace: str) -> tuple[bool, int]:
        differs = _context(label, words) != _context(namespace, words)
        return differs, abs(len(_parts(label)) - len(_parts(namespace)))

    return min(namespaces, key=distance)


def _context(label: str, words: frozenset[str]) -> frozenset[str]:
    return frozenset(_parts(label)) - words


def _parts(label: str) -> list[str]:
    return label.lower().split("_")
