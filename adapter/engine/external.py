"""External metrics: what is offered, and what the board reads of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from adapter.engine.asking import unmade
from adapter.engine.causes import Cause, cause_of
from adapter.engine.question import Answer, Evaluation, Scopes
from adapter.errors import InternalError
from adapter.model.kinds import Kinds
from adapter.model.objects import Sample
from adapter.model.selector import Selector
from adapter.rules.expressions import parse, result_type
from adapter.rules.external import ExternalRule
from adapter.rules.matchers import Matcher


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalOffer:
    """One external metric, from a series by a rule; `withheld` says why it is not served, if so."""

    metric: str
    rule: ExternalRule
    series: str
    withheld: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalValue:
    """One number, with the labels of its sample; None where the query gives no labels at all."""

    labels: Mapping[str, str] | None
    value: float
    timestamp: float


@dataclass(frozen=True, slots=True)
class ExternalAsk:
    """What one request wants: the series of `offer` that `selector` selects.

    `namespace` is that of the request; it limits the series where the rule says so.
    """

    offer: ExternalOffer
    namespace: str
    selector: Selector
    kinds: Kinds

    @property
    def question(self) -> "ExternalQuestion":
        """Give the question; requests with the same matchers share it.

        Raises InternalError when the rule cannot say which series are the namespace's.
        """
        rule = self.offer.rule
        try:
            matchers = rule.matchers(self.namespace, self.selector, self.kinds)
        except ValueError as error:
            raise InternalError(str(error)) from error
        return ExternalQuestion(self.offer, matchers)

    @property
    def scopes(self) -> frozenset[str]:
        """Give nothing: the question says it all."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class ExternalQuestion:
    """What one evaluation says of an external metric, limited by `matchers`, in their order."""

    offer: ExternalOffer
    matchers: tuple[Matcher, ...]

    @property
    def metric(self) -> str:
        """Give the metric's name."""
        return self.offer.metric

    @property
    def source(self) -> str:
        """Give the rule with its place."""
        return str(self.offer.rule)

    def queries(self, scopes: Scopes) -> list[str]:
        """Give the only query; one that gives a plain number is made a vector.

        Raises InternalError when the rule cannot be rendered.
        """
        query = self._rendered()
        return [f"vector({query})" if _is_scalar(query) else query]

    def fold(self, evaluation: Evaluation) -> Answer[tuple[ExternalValue, ...]]:
        """Give the numbers in Prometheus's order; those that no quantity can hold are left out."""
        bare = _is_scalar(self._rendered())
        counts: Counter[Cause] = Counter()
        values = []
        for sample in (sample for vector in evaluation.vectors for sample in vector):
            if fault := cause_of(sample.value):
                counts[fault] += 1
            else:
                values.append(_value(sample, bare=bare))
        left_out = {cause.label: count for cause, count in counts.items()}
        return Answer(reading=tuple(values), left_out=left_out)

    def _rendered(self) -> str:
        rule = self.offer.rule
        try:
            return rule.render(self.offer.series, self.matchers)
        except ValueError as error:
            raise unmade(f"{rule}: the query for {self.offer.series}", rule, error) from error


def _is_scalar(query: str) -> bool:
    try:
        return result_type(parse(query)) == "scalar"
    except ValueError:
        # Not known here; Prometheus may know it, or else says what is wrong.
        return False


def _value(sample: Sample, *, bare: bool) -> ExternalValue:
    labels = None if bare else sample.labels
    return ExternalValue(labels=labels, value=sample.value, timestamp=sample.timestamp)
