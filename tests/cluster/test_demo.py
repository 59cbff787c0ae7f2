"""The demo as its command: what it prints, how it ends, and that nothing stays behind."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cluster.adapter import REPOSITORY
from tests.cluster.binaries import ControlPlaneBinaries
from tests.cluster.processes import Completed, run

pytestmark = pytest.mark.anyio

COMMAND = (sys.executable, "-m", "demo")
MOST_SECONDS = 170


def environment(tmp_path: Path, **more: str) -> Mapping[str, str]:
    """This one, with a folder for temporary files in which leftovers can be seen."""
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("CLUSTER", "KEEP")
    }
    return {**inherited, "TMPDIR": str(tmp_path), "PYTHONPATH": str(REPOSITORY), **more}


def leftovers(tmp_path: Path) -> list[Path]:
    return list(tmp_path.iterdir())


async def demo(tmp_path: Path, **more: str) -> Completed:
    command: list[str | Path] = ["env", "-C", REPOSITORY, *COMMAND]
    return await run(command, environment=environment(tmp_path, **more), seconds=MOST_SECONDS)


async def test_without_a_cluster_it_reads_values_and_ends(
    prometheus_program: Path, tmp_path: Path
) -> None:
    """resnet-0's memory and ray-worker-a's use are what the recorded H200 had under matmul."""
    done = await demo(tmp_path, CLUSTER="no")

    assert done.code == 0, done.stdout
    assert re.search(r"Pod rayexperiment/ray-worker-a +DEV_GPU_UTIL_current +100 ", done.stdout)
    assert re.search(r"Pod training/resnet-0 +DEV_FB_USED_current +3699 ", done.stdout)
    assert leftovers(tmp_path) == []


async def test_the_autoscaler_goes_from_one_to_four_and_back(
    prometheus_program: Path, binaries: ControlPlaneBinaries, tmp_path: Path
) -> None:
    done = await demo(tmp_path)

    assert done.code == 0, done.stdout
    settled = re.findall(r"^\d:\d\d .* ([1-9])/\1(?:  |$)", done.stdout, re.MULTILINE)
    assert (settled[0], max(settled), settled[-1]) == ("1", "4", "1")
    assert leftovers(tmp_path) == []


async def test_an_interrupt_stops_everything_and_leaves_nothing(
    prometheus_program: Path, tmp_path: Path
) -> None:
    child = await asyncio.create_subprocess_exec(
        *COMMAND,
        cwd=REPOSITORY,
        env=environment(tmp_path, CLUSTER="no"),
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    await child.stdout.readuntil(b"1. The adapter")

    child.send_signal(signal.SIGINT)
    rest, _ = await child.communicate()

    assert (child.returncode, leftovers(tmp_path)) == (130, []), rest.decode()
