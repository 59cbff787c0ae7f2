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
