"""How far one query goes: whom it answers at once, and the matchers that limit it to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapter.engine.labels import Binding
from adapter.engine.question import Scopes
from adapter.rules.matchers import Matcher, one_of
from adapter.rules.promql import Spread


@dataclass(frozen=True, slots=True)
class Reach:
    """What an evaluation is bound to.

    `namespace` is empty when it is not bound to one, `names` when it is not bound to objects.
    """

    namespace: str = ""
    names: tuple[str, ...] = ()

    def limits(self, binding: Binding, scopes: Scopes) -> list[Matcher]:
        """Give the matchers for the namespace and the objects, in this order."""
        label = binding.object_label
        object_limit = one_of(label, self.names) if self.names else Matcher(label, "!=", "")
        if self.namespace:
            return [Matcher(binding.namespace_label, "=", self.namespace), object_limit]
        if self.names or not scopes:
            return [object_limit]
        if not binding.namespace_label:
            return [one_of(label, sorted(scopes))]
        return [one_of(binding.namespace_label, sorted(scopes)), object_limit]


def reach_of(spread: Spread, namespace: str, names: tuple[str, ...]) -> Reach:
    """Give how far a query goes that is asked for `names` in `namespace`, as far as it spreads.

    `namespace` is empty for cluster-scoped kinds.
    """
    match spread:
        case Spread.CLUSTER:
            return Reach()
        case Spread.NAMESPACE:
            return Reach(namespace)
        case Spread.REQUEST:
            return Reach(namespace, names)


def covered(spread: Spread, namespace: str, names: Sequence[str]) -> frozenset[str]:
    """Give what a shared evaluation must cover for `names` in `namespace`; empty: it always does."""
    if spread is not Spread.CLUSTER:
        return frozenset()
    return frozenset({namespace}) if namespace else frozenset(names)
