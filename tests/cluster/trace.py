"""The recorded trace of one real GPU, replayed as dcgm-exporter's readings."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.errors import HarnessError
from tests.cluster.fleet import Binding, Gpu, Readings, Slot

H200 = Path(__file__).parent / "traces/h200-matmul.csv"
COLUMNS: Mapping[str, str] = {
    "gpu_util_percent": "DCGM_FI_DEV_GPU_UTIL",
    "mem_copy_util_percent": "DCGM_FI_DEV_MEM_COPY_UTIL",
    "fb_used_mib": "DCGM_FI_DEV_FB_USED",
    "fb_free_mib": "DCGM_FI_DEV_FB_FREE",
    "gpu_temp_celsius": "DCGM_FI_DEV_GPU_TEMP",
    "power_watts": "DCGM_FI_DEV_POWER_USAGE",
    "sm_clock_mhz": "DCGM_FI_DEV_SM_CLOCK",
    "mem_clock_mhz": "DCGM_FI_DEV_MEM_CLOCK",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One second of the trace."""

    phase: str
    readings: Readings


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One row a second, the first at second 0."""

    rows: Sequence[Row]

    def at(self, second: float) -> Readings:
        """The readings at a second; the first row before the start, the last after the end."""
        index = min(max(int(second), 0), len(self.rows) - 1)
        return self.rows[index].readings

    def only(self, *phases: str) -> "Trace":
        """The rows of the named phases, one after another as recorded.

        Raises HarnessError for a phase that was not recorded.
        """
        unknown = set(phases) - {row.phase for row in self.rows}
        if unknown:
            raise HarnessError(f"the trace has no phase {', '.join(sorted(unknown))}")
        return Trace(rows=[row for row in self.rows if row.phase in phases])

    def between(self, first: int, last: int) -> "Trace":
        """The rows from one second up to and without another."""
        return Trace(rows=self.rows[first:last])


def read_trace(path: Path = H200) -> Trace:
    """A trace from a CSV file with the columns of the recorded one."""
    with path.open(newline="") as file:
        return Trace(rows=[_row(record) for record in csv.DictReader(file)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Gives each allocated GPU the trace's readings of the moment, each idle one the first row's."""

    trace: Trace
    elapsed: Callable[[], float]
    """Seconds since the replay began."""
    speed: float = 1.0
    offsets: Mapping[Slot, float] = field(default_factory=dict)
    """Seconds of the trace by which a GPU is ahead."""

    def __call__(self, gpu: Gpu, binding: Binding | None) -> Readings:
        """The GPU's readings now."""
        if binding is None:
            return self.trace.at(0)
        return self.trace.at(self.elapsed() * self.speed + self.offsets.get(gpu.slot, 0))


def _row(record: Mapping[str, str]) -> Row:
    readings = {name: float(record[column]) for column, name in COLUMNS.items()}
    return Row(phase=record["phase"], readings=readings)
