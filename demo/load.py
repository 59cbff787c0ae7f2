"""What the GPUs do: each replays a phase that was recorded on one real H200."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import dropwhile, takewhile

from tests.cluster.fleet import Binding, Gpu, Readings
from tests.cluster.trace import Row, Trace, read_trace

PHASES = ("idle", "matmul", "bursts", "light")


def first_run(trace: Trace, phase: str) -> Trace:
    """The first unbroken run of a phase, without its first row: that still shows what was before."""
    rest = dropwhile(lambda row: row.phase != phase, trace.rows)
    rows: list[Row] = list(takewhile(lambda row: row.phase == phase, rest))
    return Trace(rows=rows[1:])


def _phases() -> Mapping[str, Trace]:
    trace = read_trace()
    return {phase: first_run(trace, phase) for phase in PHASES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A load for the exporter: a GPU replays its workload's phase over and over, one row a second.

    GPUs that nobody has are idle.
    """

    phase_of: Callable[[Binding], str]
    clock: Callable[[], float]
    """Seconds, from wherever."""
    phases: Mapping[str, Trace] = field(default_factory=_phases)

    def __call__(self, gpu: Gpu, binding: Binding | None) -> Readings:
        """The GPU's readings now."""
        rows = self.phases[self.phase_of(binding) if binding else "idle"].rows
        return rows[int(self.clock()) % len(rows)].readings


@dataclass(slots=True, kw_only=True)
class Switch:
    """The GPU load of a Deployment: while it is on, each of its pods multiplies matrices."""

    deployment: str
    on: bool = False

    def phase_of(self, workload: Binding) -> str:
        """The phase that a workload's GPU replays now."""
        busy = self.on and workload.pod.startswith(f"{self.deployment}-")
        return "matmul" if busy else "idle"
