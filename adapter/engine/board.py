"""Readings for everybody who asks: one evaluation serves all whom it can."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from adapter.engine.asking import Ask, Question, Scopes, metric_matchers, question_of, scopes_of
from adapter.engine.clock import Clock
from adapter.engine.entry import DEMAND, Entry, Outcome, Reading, Verdict
from adapter.engine.fold import Alive, Folded, Vectors, fold
from adapter.engine.journal import Journal
from adapter.engine.labels import Binding
from adapter.errors import AdapterError, InternalError, PrometheusDown
from adapter.model.objects import Sample
from adapter.settings import ReadingSettings
from adapter.telemetry import Telemetry

__all__ = ["Ask", "Board", "Evaluator", "Reading"]

_MOST_ENTRIES = 4096
_log = logging.getLogger(__name__)


class Evaluator(Protocol):
    """Who evaluates queries."""

    async def query(self, promql: str) -> Sequence[Sample]:
        """Give the instant vector; raises PrometheusDown or QueryRefused."""
        ...


@dataclass(slots=True, eq=False)
class _Flight:
    entry: Entry
    landed: anyio.Event = field(default_factory=anyio.Event)
    outcome: Outcome | None = None


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
    ) -> None:
        """Hold nothing; `alive` tells whether a pod's sample is of the pod that lives."""
        self._prometheus = prometheus
        self._settings = settings
        self._telemetry = telemetry
        self._clock = clock
        self._alive = alive
        self._entries: OrderedDict[Question, Entry] = OrderedDict()
        self._flights: dict[Question, _Flight] = {}
        self._departures: asyncio.Queue[_Flight] = asyncio.Queue()
        self._journal = Journal()

    async def read(self, ask: Ask) -> Reading:
        """Give a reading that covers `ask`; it may hold other objects too.

        Raises PrometheusDown when nothing younger than `max_staleness` is to be had, QueryRefused
        with Prometheus's words, InternalError when the rule gives no query, BadRequest when
        PromQL cannot carry the selector.
        """
        metric_matchers(ask.selector)
        scopes = scopes_of(ask)
        entry = self._entry(question_of(ask))
        entry.want(scopes, self._clock.monotonic())
        while True:
            if reading := await self._attempt(entry, scopes):
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

    async def _attempt(self, entry: Entry, scopes: frozenset[str]) -> Reading | None:
        now = self._clock.monotonic()
        verdict = entry.judge(scopes, now)
        if verdict is Verdict.FAIL and entry.last and entry.last.failure:
            raise entry.last.failure.with_traceback(None)
        if verdict is Verdict.WAIT:
            return await self._wait(entry, scopes, self._departed(entry))
        if verdict is Verdict.ANSWER_AND_REFRESH and not entry.resting(now):
            self._departed(entry)
        return entry.reading(scopes)

    async def _wait(self, entry: Entry, scopes: frozenset[str], flight: _Flight) -> Reading | None:
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

    async def _landing(self, flight: _Flight, patience: float | None) -> None:
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

    def _departed(self, entry: Entry) -> _Flight:
        flight = self._flights.get(entry.question)
        if flight is None:
            flight = self._flights[entry.question] = _Flight(entry)
            self._departures.put_nowait(flight)
        return flight

    async def _fly(self, flight: _Flight) -> None:
        entry, began = flight.entry, self._clock.monotonic()
        entry.flying_since = began
        scopes = entry.scopes(began)
        result = await self._result(entry.question, scopes)
        ended = self._clock.monotonic()
        reading = result if isinstance(result, Reading) else None
        failure = result if isinstance(result, AdapterError) else None
        self._land(flight, Outcome(scopes, began, ended, reading, failure))

    async def _result(self, question: Question, scopes: Scopes) -> Reading | AdapterError:
        try:
            return await self._evaluate(question, scopes)
        except AdapterError as error:
            return error
        except Exception:  # noqa: BLE001  (a fault in here ends no other metric; the asker is told)
            _log.exception("evaluation raised", extra={"metric": question.offer.metric})
            return InternalError("the evaluation raised an error of this program, see its log")

    def _land(self, flight: _Flight, outcome: Outcome) -> None:
        entry = flight.entry
        entry.flying_since = None
        entry.note(outcome)
        flight.outcome = outcome
        self._flights.pop(entry.question, None)
        self._journal.note(entry.question, outcome)
        flight.landed.set()

    async def _evaluate(self, question: Question, scopes: Scopes) -> Reading:
        sent = self._clock.wall()
        vectors: list[tuple[Binding, Sequence[Sample]]] = []
        for binding, promql in question.queries(scopes):
            vectors.append((binding, await self._prometheus.query(promql)))
        folded = fold(
            vectors,
            question.offer,
            alive=self._alive,
            wanted=question.wanted,
            namespace=question.home,
        )
        self._count(folded)
        return _reading(question, vectors, folded, sent)

    def _count(self, folded: Folded) -> None:
        for cause, count in folded.counts.items():
            self._telemetry.dropped.labels(cause.label).inc(count)
        self._journal.warn(folded.warnings)

    def _entry(self, question: Question) -> Entry:
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


def _reading(question: Question, vectors: Vectors, folded: Folded, sent: float) -> Reading:
    told = [sample.timestamp for _, samples in vectors for sample in samples]
    return Reading(
        values=folded.values,
        dropped=folded.dropped,
        # An empty vector has no time: then it is when it was asked for.
        timestamp=min(told, default=sent),
        window=question.offer.window,
        samples=len(told),
        unlabelled=folded.unlabelled,
    )


def _stopped(now: float) -> Outcome:
    failure = PrometheusDown("the adapter is stopping")
    return Outcome(frozenset(), now, now, None, failure)
