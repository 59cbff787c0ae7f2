"""Figures, their budgets, and the table of both. No I/O."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

HEAD = ("figure", "measured", "budget", "holds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Something measured that must stay below its budget, both in the unit given."""

    name: str
    measured: float
    budget: float
    unit: str

    @property
    def holds(self) -> bool:
        """Whether it is below the budget."""
        return self.measured < self.budget

    @property
    def row(self) -> tuple[str, str, str, str]:
        """The cells, in the order of HEAD."""
        measured = f"{self.measured:.2f} {self.unit}"
        return (
            self.name,
            measured,
            f"< {self.budget:g} {self.unit}",
            "yes" if self.holds else "NO",
        )


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of all do not exceed (nearest rank).

    Raises ValueError when there are no values.
    """
    if not values:
        raise ValueError("nothing was measured")
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(rank, 1) - 1]
