"""Which query answers whom: exactly as asked, or one for everybody where the rule allows it."""

from collections.abc import Collection
from dataclasses import dataclass

from adapter.engine.catalogue import Offer
from adapter.engine.labels import Binding
from adapter.errors import BadRequest, InternalError
from adapter.model.objects import ObjectRef
from adapter.model.selector import EVERYTHING, Selector
from adapter.rules.matchers import Matcher, from_selector, one_of
from adapter.rules.promql import Spread

Scopes = frozenset[str] | None
"""Namespaces, or names of cluster-scoped objects, that a query is limited to; None: all."""

_MOST_SCOPES = 64


@dataclass(frozen=True, slots=True)
class Ask:
    """What one request wants: `names`, at least one, of `offer` in `namespace`.

    `namespace` is empty for cluster-scoped kinds. `selector` is on the labels of the series.
    """

    offer: Offer
    namespace: str
    names: tuple[str, ...]
    selector: Selector = EVERYTHING


@dataclass(frozen=True, slots=True)
class Question:
    """What one evaluation answers; asks with equal questions share it.

    `namespace` is empty when the evaluation is not bound to one, `names` when it is not bound to
    objects.
    """

    offer: Offer
    selector: Selector
    namespace: str = ""
    names: tuple[str, ...] = ()

    @property
    def wanted(self) -> tuple[ObjectRef, ...] | None:
        """Give the objects that the evaluation is limited to, None when it is to none."""
        return tuple(ObjectRef(self.namespace, name) for name in self.names) or None

    @property
    def home(self) -> str | None:
        """Give the namespace of every sample, None when each sample names its own."""
        return self.namespace or None

    def queries(self, scopes: Scopes) -> list[tuple[Binding, str]]:
        """Give the query of each binding, in their order.

        Raises InternalError when the rule cannot be rendered and BadRequest when PromQL cannot
        carry the selector.
        """
        return [(binding, self._query(binding, scopes)) for binding in self.offer.bindings]

    def _query(self, binding: Binding, scopes: Scopes) -> str:
        matchers = self._matchers(binding, scopes)
        rule = self.offer.rule
        try:
            return rule.render(self.offer.series, matchers, (binding.object_label,))
        except ValueError as error:
            told = str(error).removeprefix(f"{rule}: ")
            message = f"{rule}: the query for {self.offer.series} cannot be made: {told}"
            raise InternalError(message) from error

    def _matchers(self, binding: Binding, scopes: Scopes) -> list[Matcher]:
        earlier = self.offer.bindings[: self.offer.bindings.index(binding)]
        return [
            *metric_matchers(self.selector),
            *self._limits(binding, scopes),
            *(Matcher(one.object_label, "=", "") for one in earlier),
        ]

    def _limits(self, binding: Binding, scopes: Scopes) -> list[Matcher]:
        label = binding.object_label
        object_limit = one_of(label, self.names) if self.names else Matcher(label, "!=", "")
        if self.namespace:
            return [Matcher(binding.namespace_label, "=", self.namespace), object_limit]
        if self.names or not scopes:
            return [object_limit]
        if not binding.namespace_label:
            return [one_of(label, sorted(scopes))]
        return [one_of(binding.namespace_label, sorted(scopes)), object_limit]


def question_of(ask: Ask) -> Question:
    """Give the question that answers `ask` and as many others as its rule allows."""
    offer = ask.offer
    namespace = ask.namespace if offer.resource.namespaced else ""
    match offer.spread:
        case Spread.CLUSTER:
            return Question(offer, ask.selector)
        case Spread.NAMESPACE:
            return Question(offer, ask.selector, namespace)
        case Spread.REQUEST:
            return Question(offer, ask.selector, namespace, ask.names)


def scopes_of(ask: Ask) -> frozenset[str]:
    """Give what a shared evaluation must cover to answer `ask`; empty when it always does."""
    if ask.offer.spread is not Spread.CLUSTER:
        return frozenset()
    return frozenset({ask.namespace}) if ask.offer.resource.namespaced else frozenset(ask.names)


def limited(scopes: Collection[str]) -> Scopes:
    """Give `scopes` as a query's limit: past 64 of them everything costs less than the list."""
    return frozenset(scopes) if len(scopes) <= _MOST_SCOPES else None


def metric_matchers(selector: Selector) -> tuple[Matcher, ...]:
    """Give the matchers for a selector on series; raises BadRequest naming the requirement."""
    try:
        return from_selector(selector)
    except ValueError as error:
        message = f"metricLabelSelector: {error}"
        raise BadRequest(message) from error
