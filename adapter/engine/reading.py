"""What one evaluation says of objects."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapter.model.objects import ObjectRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The outcome of one evaluation.

    `values` are finite, `dropped` has the objects without a value whose samples were left out,
    with the reason. `timestamp` is the evaluation's, Unix seconds. `window` is the range in the
    query in seconds. `samples` counts all that Prometheus sent, `unlabelled` those that name no
    object.
    """

    values: Mapping[ObjectRef, float]
    dropped: Mapping[ObjectRef, str]
    timestamp: float
    window: int | None
    samples: int
    unlabelled: int

    def lacks(self, ref: ObjectRef) -> bool:
        """Tell whether Prometheus sent nothing about an object."""
        return ref not in self.values and ref not in self.dropped

    def filled(self, other: "Reading") -> "Reading":
        """Give this reading with what `other` has of objects that this one lacks.

        The older of the two timestamps and the longer window are told of all.
        """
        return Reading(
            values={ref: v for ref, v in other.values.items() if self.lacks(ref)} | {**self.values},
            dropped={ref: w for ref, w in other.dropped.items() if self.lacks(ref)}
            | {**self.dropped},
            timestamp=min(self.timestamp, other.timestamp),
            window=max((w for w in (self.window, other.window) if w is not None), default=None),
            samples=self.samples + other.samples,
            unlabelled=self.unlabelled + other.unlabelled,
        )
