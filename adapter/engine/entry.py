"""One shared evaluation: what is held, who wants it, and whether it is time to ask again."""

import math
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Generic

from adapter.engine.question import Question, Scopes, Told, limited
from adapter.errors import AdapterError
from adapter.settings import ReadingSettings

DEMAND = 120.0
"""Seconds for which somebody who has asked is expected to ask again."""

_REST = 4
"""Pause after an evaluation, in its own lengths: so it takes at most a fifth of the time."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Told]):
    """How an evaluation of `scopes` ended: with a reading, or with the error to tell.

    `began` and `ended` are on the monotonic clock.
    """

    scopes: Scopes
    began: float
    ended: float
    reading: Told | None = None
    failure: AdapterError | None = None


class Verdict(Enum):
    """What to do for somebody who asks now."""

    ANSWER = auto()
    ANSWER_AND_REFRESH = auto()
    WAIT = auto()
    FAIL = auto()


@dataclass(slots=True, kw_only=True)
class Entry(Generic[Told]):
    """What is known of one question; `settings` and all times in seconds, monotonic.

    `flying_since` is when the evaluation that runs now began, None when none runs.
    """

    question: Question[Told]
    settings: ReadingSettings
    asked: float
    demand: dict[str, float] = field(default_factory=dict)
    held: Outcome[Told] | None = None
    last: Outcome[Told] | None = None
    flying_since: float | None = None

    def want(self, scopes: frozenset[str], now: float) -> None:
        """Note that somebody wants `scopes` now; past the limit of a query new ones are not kept."""
        self.asked = now
        known = scopes if limited(self.demand) is not None else scopes & self.demand.keys()
        self.demand.update(dict.fromkeys(known, now))

    def idle(self, now: float) -> bool:
        """Tell whether nobody has asked for so long that the entry may go."""
        return now - self.asked > DEMAND and self.flying_since is None

    def scopes(self, now: float) -> Scopes:
        """Give what an evaluation that begins now must cover; demand that is over is forgotten."""
        self.demand = {scope: at for scope, at in self.demand.items() if now - at <= DEMAND}
        return limited(self.demand)

    @property
    def failed(self) -> bool:
        """Tell whether the last evaluation failed."""
        return self.last is not None and self.last.failure is not None

    def note(self, outcome: Outcome[Told]) -> None:
        """Take the outcome of an evaluation; a failure leaves the reading that is held."""
        self.last = outcome
        if outcome.failure is None:
            self.held = outcome

    def reading(self, scopes: frozenset[str]) -> Told | None:
        """Give the reading that is held when it covers `scopes`."""
        return self.held.reading if self.held and _covers(self.held, scopes) else None

    def age(self, scopes: frozenset[str], now: float) -> float:
        """Give the seconds since the query behind the reading was sent; infinite without one."""
        return now - self.held.began if self.held and _covers(self.held, scopes) else math.inf

    def usable(self, scopes: frozenset[str], now: float) -> bool:
        """Tell whether the reading may still be shown when there is nothing newer."""
        return self.age(scopes, now) < self.settings.max_staleness

    def judge(self, scopes: frozenset[str], now: float) -> Verdict:
        """Tell what to do for somebody who wants `scopes` now.

        Young readings answer; older ones while Prometheus rests or fails; else the asker waits,
        unless an evaluation has just failed, whose error then answers.
        """
        age = self.age(scopes, now)
        if age < self.settings.freshness / 2:
            return Verdict.ANSWER
        if age < self.settings.freshness:
            return Verdict.ANSWER_AND_REFRESH
        if self.usable(scopes, now) and (self.resting(now) or self._failing(now)):
            return Verdict.ANSWER_AND_REFRESH
        if self.failed and self.resting(now) and self.flying_since is None:
            return Verdict.FAIL
        return Verdict.WAIT

    def resting(self, now: float) -> bool:
        """Tell whether the last evaluation was so long, or failed so lately, that none is due."""
        return self.last is not None and now < self.last.ended + self._rest(self.last)

    def _rest(self, last: Outcome[Told]) -> float:
        took = last.ended - last.began
        if last.failure is None:
            return _REST * took
        # An outage is looked at often enough to notice its end while a reading is usable.
        freshness = self.settings.freshness
        return max(freshness / 2 - took, min(_REST * took, freshness))

    def _failing(self, now: float) -> bool:
        if self.flying_since is not None and now - self.flying_since > self.settings.freshness:
            return True
        return self.failed


def _covers(outcome: Outcome[Told], scopes: frozenset[str]) -> bool:
    return outcome.scopes is None or scopes <= outcome.scopes
