"""The command: measure, print the table, say by the exit code whether every budget holds."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from bench.figures import HEAD, Figure
from bench.measure import measure
from bench.stack import stack
from tests.cluster.binaries import ready_control_plane, ready_prometheus_program
from tests.cluster.errors import HarnessError
from tests.cluster.interrupts import run_cleanly
from tests.cluster.place import Place

PIPE_WIDTH = 110


def main() -> int:
    """Run the measurements; 0 when all budgets hold, 1 when one does not or nothing was measured."""
    # Bytecode is kept, as in an image; without it each start compiles everything again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    folder = Path(tempfile.mkdtemp(prefix="gpu-metrics-bench-"))
    try:
        return run_cleanly(_bench(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _bench(folder: Path) -> int:
    place, busy = Place.here(), os.getloadavg()[0]
    print(
        "Starting a control plane, Prometheus and the adapter, then measuring: half a minute.",
        flush=True,
    )
    try:
        binaries, prometheus = ready_control_plane(place), ready_prometheus_program(place)
        async with stack(binaries=binaries, prometheus=prometheus, folder=folder) as running:
            figures = await measure(running)
    except HarnessError as error:
        print(f"error: {error}")
        return 1
    _show(figures, busy)
    return 0 if all(figure.holds for figure in figures) else 1


def _show(figures: Sequence[Figure], load: float) -> None:
    table = Table(*HEAD, box=box.SIMPLE_HEAD, pad_edge=False)
    for figure in figures:
        table.add_row(*figure.row)
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    Console(highlight=False, markup=False, width=width).print(table)
    print(f"{os.cpu_count()} cores, shared with the control plane, Prometheus and the client;")
    print(f"load average when it began: {load:.1f}. On a busy machine times say little.")
    print("Measured by: make bench")
