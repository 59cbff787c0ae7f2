"""Small parts the tests of the engine are made with: a clock, a Prometheus, rules and samples."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel

from adapter.engine.asking import Ask
from adapter.engine.board import Board
from adapter.engine.catalogue import Offer, offers_of
from adapter.errors import SourceError
from adapter.model.kinds import NAMESPACES, NODES, PODS, Kinds
from adapter.model.objects import ObjectRef, Resource, Sample
from adapter.rules.dcgm import builtin_rules
from adapter.rules.naming import parse_naming
from adapter.rules.rule import Override, Rule
from adapter.rules.template import parse
from adapter.settings import ReadingSettings
from adapter.telemetry import Telemetry

UTIL = "DCGM_FI_DEV_GPU_UTIL"
PLAIN = "<<.Series>>{<<.LabelMatchers>>}"
POD_AND_NAMESPACE = (("exported_pod", "", "pod"), ("exported_namespace", "", "namespace"))
BY_POD = "avg(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
UNSPREADABLE = "topk(9, <<.Series>>{<<.LabelMatchers>>})"
EVALUATED = 1_750_000_000.0
"""The evaluation time of samples; the clock's wall starts elsewhere, so the two cannot be mixed."""


class ManualClock:
    """A clock that stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return 1_700_000_000.0 + self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        due = asyncio.Event()
        self._sleepers.append((self.now + seconds, due))
        await due.wait()

    async def advance(self, seconds: float) -> None:
        """Move on, waking each sleeper at its own moment."""
        end = self.now + seconds
        await settle()
        while due := [at for at, _ in self._sleepers if at <= end]:
            self.now = max(self.now, min(due))
            woken = [event for at, event in self._sleepers if at <= self.now]
            self._sleepers = [(at, event) for at, event in self._sleepers if at > self.now]
            for event in woken:
                event.set()
            await settle()
        self.now = end


async def settle() -> None:
    """Let every task that can go on do so."""
    for _ in range(30):
        await anyio.lowlevel.checkpoint()


class FakePrometheus:
    """Answers instant queries with `samples`, after `delay` seconds of `clock`, or with `error`."""

    def __init__(self, clock: ManualClock, *samples: Sample) -> None:
        self._clock = clock
        self.samples: Sequence[Sample] = samples
        self.by_query: Callable[[str], Sequence[Sample]] = lambda _: self.samples
        self.delay = 0.0
        self.error: SourceError | None = None
        self.queries: list[str] = []
        self.asked_at: list[float] = []

    async def query(self, promql: str) -> Sequence[Sample]:
        self.queries.append(promql)
        self.asked_at.append(self._clock.now)
        if self.delay:
            await self._clock.sleep(self.delay)
        if self.error:
            raise self.error
        return self.by_query(promql)


def rule(
    metrics_query: str = PLAIN,
    *,
    overrides: Sequence[Override] = POD_AND_NAMESPACE,
    series_query: str = '{UUID!=""}',
    matches: str = "",
    name: str = "",
    number: int = 1,
) -> Rule:
    """Give a rule; without `matches` a metric is called like its series."""
    return Rule(
        number=number,
        file="rules.yaml",
        line=3,
        series_query=series_query,
        overrides=tuple(overrides),
        naming=parse_naming(matches, name),
        metrics_query=parse(metrics_query),
    )


def offer(
    one: Rule | None = None,
    resource: Resource = PODS,
    *,
    series: str = UTIL,
    labels: Collection[str] = ("exported_pod", "exported_namespace"),
) -> Offer:
    """Give what a rule offers on `resource` when `series` carries `labels`."""
    found = offers_of(one or rule(), dict.fromkeys(labels, frozenset({series})), Kinds())
    return next(o for o in found if o.resource == resource)


def builtin_offer(
    metric: str, resource: Resource, labels: Collection[str], series: str = UTIL
) -> Offer:
    """Give an offer of the built-in rules."""
    names = dict.fromkeys(labels, frozenset({series}))
    found = [o for one in builtin_rules() for o in offers_of(one, names, Kinds())]
    return next(o for o in found if (o.metric, o.resource) == (metric, resource))


def gpu(
    value: float, pod: str = "llm-0", uuid: str = "GPU-1", *, namespace: str = "ml", **more: str
) -> Sample:
    """Give a sample of a GPU of a pod, as Prometheus stores it without honorLabels."""
    labels = {"exported_pod": pod, "exported_namespace": namespace, "UUID": uuid, **more}
    return sample(value, labels)


def sample(value: float, labels: Mapping[str, str], timestamp: float = EVALUATED) -> Sample:
    """Give a sample with exactly these labels; empty ones are absent, as in Prometheus."""
    carried = {label: text for label, text in labels.items() if text}
    return Sample(labels=carried, value=value, timestamp=timestamp)


def pod_ref(name: str, namespace: str = "ml") -> ObjectRef:
    """Give a pod."""
    return ObjectRef(namespace, name)


def everyone(ref: ObjectRef, labels: Mapping[str, str]) -> bool:
    """Say that each pod lives."""
    return True


def ask(
    one: Offer | None = None, *names: str, namespace: str = "ml", resource: Resource = PODS
) -> Ask:
    """Give what a request for `names` wants, llm-0 by default."""
    chosen = one or offer(resource=resource)
    return Ask(chosen, namespace if chosen.resource.namespaced else "", names or ("llm-0",))


@asynccontextmanager
async def running(
    prometheus: FakePrometheus,
    clock: ManualClock,
    *,
    settings: ReadingSettings | None = None,
    telemetry: Telemetry | None = None,
    alive: Callable[[ObjectRef, Mapping[str, str]], bool] = everyone,
) -> AsyncIterator[Board]:
    """Give a board that runs until the end of the block."""
    board = Board(prometheus, settings or ReadingSettings(), telemetry or Telemetry(), clock, alive)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(board.run)
        yield board
        tasks.cancel_scope.cancel()


__all__ = ["NAMESPACES", "NODES", "PODS"]
