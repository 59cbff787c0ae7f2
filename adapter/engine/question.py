"""What the board evaluates: questions that know their queries and what the answers come to."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from adapter.model.objects import ObjectRef, Sample
from adapter.rules.dcgm import names_exporter

Scopes = frozenset[str] | None
"""Namespaces, or names of cluster-scoped objects, that a query is limited to; None: all."""

Alive = Callable[[ObjectRef, Mapping[str, str]], bool]
"""Whether a pod's sample, by its labels, is of the pod that lives."""

IsExporter = Callable[[Mapping[str, str]], bool]
"""Whether a sample's plain `pod` and `namespace` are its exporter's own, not a workload's."""

Told = TypeVar("Told")
Told_co = TypeVar("Told_co", covariant=True)

_MOST_SCOPES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What Prometheus said: an instant vector for each query of a question, in their order.

    `sent` is when the first query was sent, Unix seconds.
    """

    vectors: Sequence[Sequence[Sample]]
    sent: float
    alive: Alive
    is_exporter: IsExporter = names_exporter

    @property
    def samples(self) -> int:
        """Give the number of samples that Prometheus sent."""
        return sum(map(len, self.vectors))

    @property
    def timestamp(self) -> float:
        """Give the evaluation's time: the earliest that samples have, `sent` without a sample."""
        told = [sample.timestamp for samples in self.vectors for sample in samples]
        return min(told, default=self.sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[Told_co]):
    """What an evaluation came to.

    `left_out` counts the samples that became no value, by the name of the cause; `warnings` are
    one line each, stable.
    """

    reading: Told_co
    left_out: Mapping[str, int]
    warnings: tuple[str, ...] = ()


class Question(Protocol[Told_co]):
    """What one evaluation answers; asks with equal questions share it, so it is hashable."""

    @property
    def metric(self) -> str:
        """Give the metric's name, for the log."""
        ...

    @property
    def source(self) -> str:
        """Give the rule with its place, for the log."""
        ...

    def queries(self, scopes: Scopes) -> Sequence[str]:
        """Give the queries that cover `scopes`; raises InternalError when there are none."""
        ...

    def fold(self, evaluation: Evaluation) -> Answer[Told_co]:
        """Give what the vectors come to; no sample becomes a value that is not one."""
        ...


class Asking(Protocol[Told_co]):
    """What one request wants of the board."""

    @property
    def question(self) -> Question[Told_co]:
        """Give the question that answers it and as many others as can be.

        Raises BadRequest when PromQL cannot carry what is asked.
        """
        ...

    @property
    def scopes(self) -> frozenset[str]:
        """Give what a shared evaluation must cover to answer it; empty when it always does."""
        ...


def limited(scopes: Collection[str]) -> Scopes:
    """Give `scopes` as a query's limit: past 64 of them everything costs less than the list."""
    return frozenset(scopes) if len(scopes) <= _MOST_SCOPES else None
