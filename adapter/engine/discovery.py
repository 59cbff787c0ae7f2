"""The loop that finds out what can be offered, rule by rule."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from adapter.engine.catalogue import Catalogue, Offer, offers_of, replaced, shared_names
from adapter.engine.clock import Clock
from adapter.engine.survey import NamesByLabel, SeriesIndex, Survey
from adapter.errors import SourceError
from adapter.model.kinds import Kinds
from adapter.rules.rule import Rule
from adapter.settings import DiscoverySettings
from adapter.telemetry import Telemetry

_PATIENCE = 10.0
_FIRST_RETRY = 0.5
# An instant query still sees a sample five minutes old, so its metric must be listed that long.
_SHORTEST_LOOK_BACK = 300.0

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class _Standing:
    """What is known of one rule; `fault` is why its last pass failed, empty when it did not."""

    offers: Sequence[Offer] = ()
    warnings: Sequence[str] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """Rules with the same series query, which is asked once for all of them."""

    query: str
    rules: list[Rule] = field(default_factory=list)


class Discovery:
    """Keeps the catalogue of what is offered.

    A pass asks Prometheus which series each rule's query finds and which labels they carry. A
    rule that fails keeps what it offered last and harms no other; what it finds is offered as
    soon as it is known. Passes follow each other `settings.relist_interval` seconds from end to
    start; after one in which a rule failed the next comes sooner, at first within a second.
    """

    def __init__(  # noqa: PLR0917  (made once, from parts of different types)
        self,
        rules: Sequence[Rule],
        prometheus: SeriesIndex,
        kinds: Callable[[], Kinds],
        settings: DiscoverySettings,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        """Offer nothing yet; `kinds` is asked anew in each pass."""
        self._rules = tuple(rules)
        self._prometheus = prometheus
        self._kinds = kinds
        self._settings = settings
        self._telemetry = telemetry
        self._clock = clock
        self._started = clock.monotonic()
        self._standings = {rule: _Standing() for rule in self._rules}
        self._told: frozenset[str] = frozenset()
        self._retry = _FIRST_RETRY
        self.catalogue = Catalogue()
        self.succeeded = not self._rules

    @property
    def settled(self) -> bool:
        """Tell whether a pass has succeeded for a rule, or ten seconds have gone by without."""
        return self.succeeded or self._clock.monotonic() - self._started >= _PATIENCE

    async def run(self) -> None:
        """Make one pass after the other, until cancelled."""
        while True:
            await self.discover()
            await self._clock.sleep(self._pause())

    async def discover(self) -> None:
        """Make one pass; all series queries are asked side by side."""
        kinds, now = self._kinds(), self._clock.wall()
        survey = Survey(index=self._prometheus, start=now - self._look_back, end=now)
        async with anyio.create_task_group() as tasks:
            for group in _grouped(self._rules):
                tasks.start_soon(self._discover_group, survey, group, kinds)
        self._conclude(kinds)

    @property
    def _look_back(self) -> float:
        return max(self._settings.max_age, self._settings.relist_interval, _SHORTEST_LOOK_BACK)

    async def _discover_group(self, survey: Survey, group: _Group, kinds: Kinds) -> None:
        def meaningful(label: str) -> bool:
            return any(rule.resource_of(label, kinds) for rule in group.rules)

        try:
            names = await survey.names_by_label(group.query, meaningful)
            standings = {rule: _standing(rule, names, kinds) for rule in group.rules}
        except (SourceError, ValueError) as error:
            self._fail(group, str(error))
            return
        except Exception as error:  # noqa: BLE001  (no fault in a rule may end the other rules)
            _log.exception("discovery raised", extra={"query": group.query})
            self._fail(group, repr(error))
            return
        self._stand(standings)

    def _stand(self, standings: Mapping[Rule, _Standing]) -> None:
        for rule in standings:
            if self._standings[rule].fault:
                _log.warning("rule discovered again", extra={"rule": str(rule)})
        self._standings.update(standings)
        self._publish()

    def _fail(self, group: _Group, fault: str) -> None:
        for rule in group.rules:
            standing = self._standings[rule]
            self._telemetry.rule_failures.labels(str(rule.number)).inc()
            if not standing.fault:
                extra = {"rule": str(rule), "query": group.query, "cause": fault}
                _log.warning("rule not discovered", extra=extra)
            standing.fault = fault

    def _publish(self) -> None:
        catalogue = Catalogue(self._offers(), self._failed())
        if (catalogue.offers, catalogue.failed) != (self.catalogue.offers, self.catalogue.failed):
            self.catalogue = catalogue
            self._telemetry.metrics_offered.set(len(catalogue.offers))

    def _conclude(self, kinds: Kinds) -> None:
        self._publish()
        self._warn(kinds)
        failed = self._failed()
        if len(failed) < len(self._rules) or not self._rules:
            self.succeeded = True
            self._telemetry.discovered.set(self._clock.wall())

    def _warn(self, kinds: Kinds) -> None:
        warnings = [
            *(line for rule in self._rules for line in _unknown_kinds(rule, kinds)),
            *(line for rule in self._rules for line in self._standings[rule].warnings),
            *map(_replacement, replaced(self._offers())),
        ]
        for warning in dict.fromkeys(warnings):
            if warning not in self._told:
                _log.warning("rule in doubt", extra={"warning": warning})
        self._told = frozenset(warnings)

    def _pause(self) -> float:
        if not self._failed():
            self._retry = _FIRST_RETRY
            return self._settings.relist_interval
        pause = min(self._retry, self._settings.relist_interval)
        self._retry = 2 * pause
        return pause

    def _offers(self) -> list[Offer]:
        return [offer for rule in self._rules for offer in self._standings[rule].offers]

    def _failed(self) -> list[Rule]:
        return [rule for rule in self._rules if self._standings[rule].fault]


def _standing(rule: Rule, names: NamesByLabel, kinds: Kinds) -> _Standing:
    found = frozenset[str]().union(*names.values())
    return _Standing(
        offers=offers_of(rule, names, kinds),
        warnings=[
            f"{rule}: {', '.join(series)} are all named {metric}, {series[-1]} is served"
            for metric, series in shared_names(rule, found).items()
        ],
    )


def _grouped(rules: Sequence[Rule]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    for rule in rules:
        groups.setdefault(rule.series_query, _Group(rule.series_query)).rules.append(rule)
    return list(groups.values())


def _unknown_kinds(rule: Rule, kinds: Kinds) -> list[str]:
    return [
        f"{rule}: label {label} means {f'{word}.{group}' if group else word}, which the cluster "
        "does not have; the rule's other labels are served"
        for label, group, word in rule.unknown_overrides(kinds)
    ]


def _replacement(pair: tuple[Offer, Offer]) -> str:
    lost, served = pair
    what = f"{served.metric} on {served.resource.qualified}"
    return f"{served.rule}: it serves {what} in place of {lost.rule}, the later rule counts"
