"""The loop that finds out what can be offered, rule by rule."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

import anyio

from adapter.engine.clock import Clock
from adapter.engine.standings import Offering, Ruling, Standing, Standings
from adapter.engine.subject import Catalogued, Published, Subject
from adapter.engine.survey import SeriesIndex, Survey
from adapter.errors import PrometheusDown, SourceError
from adapter.model.kinds import Kinds
from adapter.settings import DiscoverySettings
from adapter.telemetry import Telemetry

_PATIENCE = 10.0
_LOOK_FOR_KINDS = 1.0
_FIRST_RETRY = 0.5
_LONGEST_RETRY_OF_NOTHING = 15.0
# An instant query still sees a sample five minutes old, so its metric must be listed that long.
_SHORTEST_LOOK_BACK = 300.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Group(Generic[Ruling]):
    """Rules with the same series query, which is asked once for all of them."""

    query: str
    rules: list[Ruling] = field(default_factory=list)


class Discovery(Generic[Ruling, Offering, Catalogued]):
    """Keeps the catalogue of what is offered.

    A pass asks Prometheus which series each rule's query finds and which labels they carry. A
    rule that fails keeps what it offered last and harms no other; what it finds is offered as
    soon as it is known. Passes follow each other `settings.relist_interval` seconds from end to
    start; after one in which a rule failed, or nothing at all was found, the next comes sooner,
    at first within a second, and when `kinds` gives others it comes within another.
    """

    def __init__(  # noqa: PLR0917  (made once, from parts of different types)
        self,
        subject: Subject[Ruling, Offering, Catalogued],
        rules: Sequence[Ruling],
        prometheus: SeriesIndex,
        kinds: Callable[[], Kinds],
        settings: DiscoverySettings,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        """Offer nothing yet; `kinds` is asked anew in each pass."""
        self._subject = subject
        self._standings: Standings[Ruling, Offering] = Standings.begin(rules)
        self._next: Sequence[Ruling] | None = None
        self._postponed = False
        self._woken = anyio.Event()
        self._prometheus = prometheus
        self._kinds = kinds
        self._settings = settings
        self._telemetry = telemetry
        self._clock = clock
        self._started = clock.monotonic()
        self._told: frozenset[str] = frozenset()
        self._reminded: tuple[float, list[str]] = clock.monotonic(), []
        # The kinds that all rules were last looked for with, and those that were last looked at.
        self._passed_with: Kinds | None = None
        self._seen_kinds: Kinds | None = None
        self._retry = _FIRST_RETRY
        self._basis: tuple[Sequence[Offering], Sequence[Ruling]] = [], []
        self.catalogue = subject.catalogue(self._standings)
        self.succeeded = not self._standings.rules

    @property
    def settled(self) -> bool:
        """Tell whether a pass has succeeded for a rule, or ten seconds have gone by without."""
        return self.succeeded or self._clock.monotonic() - self._started >= _PATIENCE

    def use(self, rules: Sequence[Ruling]) -> None:
        """Offer what `rules` find, in place of those before, from the next pass on, which is now.

        Of rules that say the same as one before, what is known stays. Until the others have been
        looked for once, with a Prometheus that answers, everything offered before stays.
        """
        self._next = tuple(rules)
        self._woken.set()

    async def run(self) -> None:
        """Make one pass after the other, until cancelled."""
        while True:
            self._woken = anyio.Event()
            await self.discover()
            await self._wait(self._pause())

    async def discover(self) -> None:
        """Make one pass; all series queries are asked side by side.

        With other rules to use, it is over those of them that are new.
        """
        wanted, kinds = self._next, self._kinds()
        self._seen_kinds = kinds
        if wanted is None:
            self._passed_with = kinds
            await self._pass(self._standings, self._standings.rules, kinds)
            self._standings.unseen = ()
        else:
            await self._take(wanted, kinds)
        self._conclude(kinds)

    async def _take(self, rules: Sequence[Ruling], kinds: Kinds) -> None:
        standings = self._standings.passed_on(rules)
        await self._pass(standings, standings.unseen, kinds)
        if standings.unreachable and await self._is_down(kinds):
            self._postponed = True
            return
        standings.unseen = ()
        self._standings, self._postponed = standings, False
        self._seen_kinds = self._passed_with
        if self._next is rules:
            self._next = None

    async def _is_down(self, kinds: Kinds) -> bool:
        """Tell whether Prometheus answers for none of the rules before; looks for them anew."""
        before = self._standings
        await self._pass(before, before.rules, kinds)
        return bool(before.rules) and all(one.down for one in before.by_rule.values())

    async def _pass(
        self, standings: Standings[Ruling, Offering], asked: Sequence[Ruling], kinds: Kinds
    ) -> None:
        now = self._clock.wall()
        survey = Survey(index=self._prometheus, start=now - look_back(self._settings), end=now)
        async with anyio.create_task_group() as tasks:
            for group in _grouped(asked):
                tasks.start_soon(self._discover_group, standings, survey, group, kinds)

    async def _wait(self, seconds: float) -> None:
        """Wait, but no longer than until there are other rules to use, or other kinds."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._wake, seconds)
            tasks.start_soon(self._wake_for_kinds)
            await self._woken.wait()
            tasks.cancel_scope.cancel()

    async def _wake(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._woken.set()

    async def _wake_for_kinds(self) -> None:
        while self._kinds() == self._seen_kinds:
            await self._clock.sleep(_LOOK_FOR_KINDS)
        self._woken.set()

    async def _discover_group(
        self,
        standings: Standings[Ruling, Offering],
        survey: Survey,
        group: _Group[Ruling],
        kinds: Kinds,
    ) -> None:
        try:
            found = await self._subject.find(survey, group.query, group.rules, kinds)
        except (SourceError, ValueError) as error:
            down = isinstance(error, PrometheusDown)
            self._fail(standings, group, str(error), down=down)
            return
        except Exception as error:  # noqa: BLE001  (no fault in a rule may end the other rules)
            _log.exception("discovery raised", extra={"query": group.query})
            self._fail(standings, group, repr(error))
            return
        self._stand(standings, found)

    def _stand(
        self, standings: Standings[Ruling, Offering], found: Mapping[Ruling, Standing[Offering]]
    ) -> None:
        for rule in found:
            if standings.by_rule[rule].fault:
                _log.warning("rule discovered again", extra={"rule": str(rule)})
        standings.by_rule.update(found)
        self._publish()

    def _fail(
        self,
        standings: Standings[Ruling, Offering],
        group: _Group[Ruling],
        fault: str,
        *,
        down: bool = False,
    ) -> None:
        for rule in group.rules:
            standing = standings.by_rule[rule]
            self._telemetry.rule_failures.labels(self._subject.name, str(rule.number)).inc()
            if not standing.fault:
                extra = {"rule": str(rule), "query": group.query, "cause": fault}
                _log.warning("rule not discovered", extra=extra)
            standing.fault, standing.down = fault, down

    def _publish(self) -> None:
        basis = self._standings.offers, self._standings.failed
        if basis == self._basis:
            return
        self._basis = basis
        catalogue = self._subject.catalogue(self._standings)
        if _content(catalogue) != _content(self.catalogue):
            self.catalogue = catalogue
            self._telemetry.metrics_offered.labels(self._subject.name).set(len(catalogue.offers))

    def _conclude(self, kinds: Kinds) -> None:
        self._publish()
        self._warn(kinds)
        self._remind(kinds)
        rules, failed = self._standings.rules, self._standings.failed
        if len(failed) < len(rules) or not rules:
            self.succeeded = True
            self._telemetry.discovered.labels(self._subject.name).set(self._clock.wall())

    def _warn(self, kinds: Kinds) -> None:
        warnings = self._subject.doubts(self._standings, kinds)
        for warning in dict.fromkeys(warnings):
            if warning not in self._told:
                _log.warning("rule in doubt", extra={"warning": warning})
        self._told = frozenset(warnings)

    def _remind(self, kinds: Kinds) -> None:
        lines = self._subject.reminders(self._standings, kinds)
        now, (before, told) = self._clock.monotonic(), self._reminded
        if lines == told and now - before < self._settings.relist_interval:
            return
        for line in lines:
            _log.warning("rule is off", extra={"warning": line})
        self._reminded = now, lines

    def _pause(self) -> float:
        offers, failed = self._standings.offers, self._standings.failed
        if offers and not failed and not self._postponed:
            self._retry = _FIRST_RETRY
            return self._settings.relist_interval
        pause = min(self._retry, self._settings.relist_interval)
        self._retry = 2 * pause
        # Before the first series is scraped there is nothing to offer, and users are waiting.
        return pause if offers else min(pause, _LONGEST_RETRY_OF_NOTHING)


def look_back(settings: DiscoverySettings) -> float:
    """Give how far back series are looked for, seconds."""
    return max(settings.max_age, settings.relist_interval, _SHORTEST_LOOK_BACK)


def _content(catalogue: Published) -> tuple[Collection[object], ...]:
    return catalogue.offers, catalogue.withheld, catalogue.failed


def _grouped(rules: Sequence[Ruling]) -> list[_Group[Ruling]]:
    groups: dict[str, _Group[Ruling]] = {}
    for rule in rules:
        groups.setdefault(rule.series_query, _Group(rule.series_query)).rules.append(rule)
    return list(groups.values())
