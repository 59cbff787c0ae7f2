"""Readings for everybody who asks: one evaluation serves all whom it can."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

import anyio

from adapter.engine.clock import Clock
from adapter.engine.entry import DEMAND, Entry, Outcome, Verdict
from adapter.engine.journal import Journal
from adapter.engine.question import Alive, Asking, Evaluation, IsExporter, Question, Scopes, Told
from adapter.errors import AdapterError, InternalError, PrometheusDown
from adapter.model.objects import Sample
from adapter.rules.dcgm import names_exporter
from adapter.settings import ReadingSettings
from adapter.telemetry import Telemetry

_MOST_ENTRIES = 4096
_log = logging.getLogger(__name__)


class Evaluator(Protocol):
    """Who evaluates queries."""

    async def query(self, promql: str) -> Sequence[Sample]:
        """Give the instant vector; raises PrometheusDown or QueryRefused."""
        ...


@dataclass(slots=True, eq=False)
class _Flight(Generic[Told]):
    entry: Entry[Told]
    landed: anyio.Event = field(default_factory=anyio.Event)
    outcome: Outcome[Told] | None = None


class Board:
    """Keeps the latest reading of everything that is in demand, and of nothing else.

    A reading younger than half of `settings.freshness` answers from memory; up to `freshness` it
    answers and is refreshed behind; older than that, the asker waits for one evaluation together
    with all others. While Prometheus fails or is slow a reading younger than
    `settings.max_staleness` goes on answering, with its true timestamp. Evaluations happen only in
    `run`, so a request that is cancelled takes nothing from the others.
    """

    def __init__(
        self,
        prometheus: Evaluator,
        settings: ReadingSettings,
        telemetry: Telemetry,
        clock: Clock,
        alive: Alive,
        *,
        is_exporter: IsExporter = names_exporter,
    ) -> None:
        """Hold nothing; `alive` and `is_exporter` judge samples, as `Evaluation` says."""
        self._prometheus = prometheus
        self._settings = settings
        self._telemetry = telemetry
        self._clock = clock
        self._alive = alive
        self._is_exporter = is_exporter
        self._entries: OrderedDict[Question[Any], Entry[Any]] = OrderedDict()
        self._flights: dict[Question[Any], _Flight[Any]] = {}
        self._departures: asyncio.Queue[_Flight[Any]] = asyncio.Queue()
        self._journal = Journal()

    async def read(self, ask: Asking[Told]) -> Told:
        """Give a reading that covers `ask`; it may hold more than that.

        Raises PrometheusDown when nothing younger than `max_staleness` is to be had, QueryRefused
        with Prometheus's words, InternalError when the rule gives no query, BadRequest when
        PromQL cannot carry the selector.
        """
        entry, scopes = self._entry(ask.question), ask.scopes
        entry.want(scopes, self._clock.monotonic())
        while True:
            reading = await self._attempt(entry, scopes)
            if reading is not None:
                return reading

    async def run(self) -> None:
        """Evaluate what is asked for and forget what is not, until cancelled."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._forget)
                while True:
                    tasks.start_soon(self._fly, await self._departures.get())
        finally:
            for flight in list(self._flights.values()):
                self._land(flight, _stopped(self._clock.monotonic()))

    async def _attempt(self, entry: Entry[Told], scopes: frozenset[str]) -> Told | None:
        now = self._clock.monotonic()
        verdict = entry.judge(scopes, now)
        if verdict is Verdict.FAIL and entry.last and entry.last.failure:
            raise entry.last.failure.with_traceback(None)
        if verdict is Verdict.WAIT:
            return await self._wait(entry, scopes, self._departed(entry))
        if verdict is Verdict.ANSWER_AND_REFRESH and not entry.resting(now):
            self._departed(entry)
        return entry.reading(scopes)

    async def _wait(
        self, entry: Entry[Told], scopes: frozenset[str], flight: _Flight[Told]
    ) -> Told | None:
        hurried = entry.failed or entry.usable(scopes, self._clock.monotonic())
        # Who has something to show or to tell does not wait for a Prometheus that hangs.
        await self._landing(flight, self._settings.freshness if hurried else None)
        outcome = flight.outcome
        succeeded = outcome is not None and outcome.failure is None
        if succeeded or entry.usable(scopes, self._clock.monotonic()):
            return entry.reading(scopes)
        told = outcome or entry.last
        if told and told.failure:
            raise told.failure.with_traceback(None)
        return None

    async def _landing(self, flight: _Flight[Any], patience: float | None) -> None:
        if patience is None:
            await flight.landed.wait()
            return
        async with anyio.create_task_group() as race:

            async def give_up() -> None:
                await self._clock.sleep(patience)
                race.cancel_scope.cancel()

            race.start_soon(give_up)
            await flight.landed.wait()
            race.cancel_scope.cancel()

    def _departed(self, entry: Entry[Told]) -> _Flight[Told]:
        flight = self._flights.get(entry.question)
        if flight is None:
            flight = self._flights[entry.question] = _Flight(entry)
            self._departures.put_nowait(flight)
        return flight

    async def _fly(self, flight: _Flight[Any]) -> None:
        entry, began = flight.entry, self._clock.monotonic()
        entry.flying_since = began
        scopes = entry.scopes(began)
        reading, failure = None, None
        try:
            reading = await self._evaluate(entry.question, scopes)
        except AdapterError as error:
            failure = error
        except Exception:  # noqa: BLE001  (a fault in here ends no other metric; the asker is told)
            _log.exception("evaluation raised", extra={"metric": entry.question.metric})
            failure = InternalError("the evaluation raised an error of this program, see its log")
        self._land(flight, Outcome(scopes, began, self._clock.monotonic(), reading, failure))

    def _land(self, flight: _Flight[Told], outcome: Outcome[Told]) -> None:
        entry = flight.entry
        entry.flying_since = None
        entry.note(outcome)
        flight.outcome = outcome
        self._flights.pop(entry.question, None)
        self._journal.note(entry.question, outcome)
        flight.landed.set()

    async def _evaluate(self, question: Question[Told], scopes: Scopes) -> Told:
        sent = self._clock.wall()
        vectors = [await self._prometheus.query(promql) for promql in question.queries(scopes)]
        answer = question.fold(
            Evaluation(vectors=vectors, sent=sent, alive=self._alive, is_exporter=self._is_exporter)
        )
        for cause, count in answer.left_out.items():
            self._telemetry.dropped.labels(cause).inc(count)
        self._journal.warn(answer.warnings)
        return answer.reading

    def _entry(self, question: Question[Told]) -> Entry[Told]:
        entry = self._entries.get(question)
        if entry is None:
            now = self._clock.monotonic()
            entry = Entry(question=question, settings=self._settings, asked=now)
            self._entries[question] = entry
            while len(self._entries) > _MOST_ENTRIES:
                self._entries.popitem(last=False)
            self._telemetry.readings.set(len(self._entries))
        self._entries.move_to_end(question)
        return entry

    async def _forget(self) -> None:
        while True:
            await self._clock.sleep(DEMAND / 4)
            now = self._clock.monotonic()
            for question in [q for q, entry in self._entries.items() if entry.idle(now)]:
                del self._entries[question]
            self._telemetry.readings.set(len(self._entries))


def _stopped(now: float) -> Outcome[Any]:
    failure = PrometheusDown("the adapter is stopping")
    return Outcome(frozenset(), now, now, None, failure)
