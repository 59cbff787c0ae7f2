"""Which query answers whom: exactly as asked, or one for everybody where the rule allows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapter.engine.catalogue import Offer
from adapter.engine.fold import fold
from adapter.engine.labels import Binding
from adapter.engine.question import Answer, Evaluation, Scopes
from adapter.engine.reading import Reading
from adapter.errors import BadRequest, InternalError
from adapter.model.objects import ObjectRef, Sample
from adapter.model.selector import EVERYTHING, Selector
from adapter.rules.matchers import Matcher, from_selector, one_of
from adapter.rules.promql import Spread


@dataclass(frozen=True, slots=True)
class Ask:
    """What one request wants: `names`, at least one, of `offer` in `namespace`.

    `namespace` is empty for cluster-scoped kinds. `selector` is on the labels of the series.
    """

    offer: Offer
    namespace: str
    names: tuple[str, ...]
    selector: Selector = EVERYTHING

    @property
    def question(self) -> "ObjectsQuestion":
        """Give the question that answers it and as many others as its rule allows.

        Raises BadRequest when PromQL cannot carry the selector.
        """
        metric_matchers(self.selector)
        return question_of(self)

    @property
    def scopes(self) -> frozenset[str]:
        """Give what a shared evaluation must cover to answer it; empty when it always does."""
        if self.offer.spread is not Spread.CLUSTER:
            return frozenset()
        namespaced = self.offer.resource.namespaced
        return frozenset({self.namespace}) if namespaced else frozenset(self.names)


@dataclass(frozen=True, slots=True)
class ObjectsQuestion:
    """What one evaluation says of a metric on objects of one kind.

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

    @property
    def metric(self) -> str:
        """Give the metric's name."""
        return self.offer.metric

    @property
    def source(self) -> str:
        """Give the rule with its place."""
        return str(self.offer.rule)

    def queries(self, scopes: Scopes) -> list[str]:
        """Give the query of each binding, in their order.

        Raises InternalError when the rule cannot be rendered and BadRequest when PromQL cannot
        carry the selector.
        """
        return [self._query(binding, scopes) for binding in self.offer.bindings]

    def fold(self, evaluation: Evaluation) -> Answer[Reading]:
        """Give one value an object, from the samples of all bindings."""
        vectors: Sequence[tuple[Binding, Sequence[Sample]]] = [
            *zip(self.offer.bindings, evaluation.vectors, strict=True)
        ]
        folded = fold(
            vectors,
            self.offer,
            alive=evaluation.alive,
            wanted=self.wanted,
            namespace=self.home,
        )
        reading = Reading(
            values=folded.values,
            dropped=folded.dropped,
            timestamp=evaluation.timestamp,
            window=self.offer.window,
            samples=evaluation.samples,
            unlabelled=folded.unlabelled,
        )
        left_out = {cause.label: count for cause, count in folded.counts.items()}
        return Answer(reading=reading, left_out=left_out, warnings=folded.warnings)

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


def question_of(ask: Ask) -> ObjectsQuestion:
    """Give the question that answers `ask` and as many others as its rule allows."""
    offer = ask.offer
    namespace = ask.namespace if offer.resource.namespaced else ""
    match offer.spread:
        case Spread.CLUSTER:
            return ObjectsQuestion(offer, ask.selector)
        case Spread.NAMESPACE:
            return ObjectsQuestion(offer, ask.selector, namespace)
        case Spread.REQUEST:
            return ObjectsQuestion(offer, ask.selector, namespace, ask.names)


def metric_matchers(selector: Selector) -> tuple[Matcher, ...]:
    """Give the matchers for a selector on series; raises BadRequest naming the requirement."""
    try:
        return from_selector(selector)
    except ValueError as error:
        message = f"metricLabelSelector: {error}"
        raise BadRequest(message) from error
