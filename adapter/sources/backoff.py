"""How long a loop waits before it tries again."""

import random
from collections.abc import Callable


class Backoff:
    """Waits that double from `first` to `most` seconds, each spread so that replicas part.

    A wait is between half of its step and the whole of it; `chance` gives numbers in [0, 1).
    """

    def __init__(
        self,
        *,
        first: float = 0.2,
        most: float = 10.0,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Start at `first`."""
        self._first = first
        self._most = most
        self._chance = chance
        self._step = first

    def next(self) -> float:
        """Give the seconds to wait now; the following wait is longer."""
        wait = self._step * (1 + self._chance()) / 2
        self._step = min(self._step * 2, self._most)
        return wait

    def reset(self) -> None:
        """Start over, after something went well."""
        self._step = self._first
