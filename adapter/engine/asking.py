"""What a request for a metric on objects wants, and the question that answers it."""

from dataclasses import dataclass

from adapter.engine.catalogue import Offer
from adapter.engine.fold import fold
from adapter.engine.labels import Binding
from adapter.engine.question import Answer, Evaluation, Scopes
from adapter.engine.reach import Reach, covered, reach_of
from adapter.engine.reading import Reading
from adapter.errors import BadRequest, InternalError
from adapter.model.objects import ObjectRef
from adapter.model.selector import EVERYTHING, Selector
from adapter.rules.matchers import Matcher, from_selector


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
        reach = reach_of(self.offer.spread, self._home, self.names)
        return ObjectsQuestion(self.offer, self.selector, reach)

    @property
    def scopes(self) -> frozenset[str]:
        """Give what a shared evaluation must cover to answer it; empty when it always does."""
        return covered(self.offer.spread, self._home, self.names)

    @property
    def _home(self) -> str:
        return self.namespace if self.offer.resource.namespaced else ""


@dataclass(frozen=True, slots=True)
class ObjectsQuestion:
    """What one evaluation says of a metric on objects of one kind."""

    offer: Offer
    selector: Selector
    reach: Reach

    @property
    def metric(self) -> str:
        """Give the metric's name."""
        return self.offer.metric

    @property
    def source(self) -> str:
        """Give the rule with its place."""
        return str(self.offer.rule)

    @property
    def wanted(self) -> tuple[ObjectRef, ...] | None:
        """Give the objects that the evaluation is limited to, None when it is to none."""
        reach = self.reach
        return tuple(ObjectRef(reach.namespace, name) for name in reach.names) or None

    def queries(self, scopes: Scopes) -> list[str]:
        """Give the query of each binding, in their order.

        Raises InternalError when the rule cannot be rendered and BadRequest when PromQL cannot
        carry the selector.
        """
        return [self._query(binding, scopes) for binding in self.offer.bindings]

    def fold(self, evaluation: Evaluation) -> Answer[Reading]:
        """Give one value an object, from the samples of all bindings."""
        folded = fold(
            list(zip(self.offer.bindings, evaluation.vectors, strict=True)),
            self.offer,
            alive=evaluation.alive,
            is_exporter=evaluation.is_exporter,
            wanted=self.wanted,
            namespace=self.reach.namespace or None,
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
        earlier = self.offer.bindings[: self.offer.bindings.index(binding)]
        matchers = [
            *metric_matchers(self.selector),
            *self.reach.limits(binding, scopes),
            *(Matcher(one.object_label, "=", "") for one in earlier),
        ]
        rule = self.offer.rule
        try:
            return rule.render(self.offer.series, matchers, (binding.object_label,))
        except ValueError as error:
            raise unmade(f"{rule}: the query for {self.offer.series}", rule, error) from error


def unmade(what: str, rule: object, error: ValueError) -> InternalError:
    """Give the error that says why `what`, a query of `rule`, cannot be made."""
    return InternalError(f"{what} cannot be made: {str(error).removeprefix(f'{rule}: ')}")


def metric_matchers(selector: Selector) -> tuple[Matcher, ...]:
    """Give the matchers for a selector on series; raises BadRequest naming the requirement."""
    try:
        return from_selector(selector)
    except ValueError as error:
        message = f"metricLabelSelector: {error}"
        raise BadRequest(message) from error
