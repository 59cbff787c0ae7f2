"""GPUs replay what was recorded: matmul while the switch is on, idle otherwise."""

import pytest

from demo.load import Replayed, Switch, first_run
from tests.cluster.fleet import Binding, Gpu, Slot
from tests.cluster.trace import Row, Trace

GPU = Gpu(slot=Slot(node="n", index=0), uuid="GPU-0")
WORKER = Binding(namespace="rayexperiment", pod="ray-worker-7c-x", container="ray-worker")
USE = "DCGM_FI_DEV_GPU_UTIL"


def recorded(*rows: tuple[str, float]) -> Trace:
    return Trace(rows=[Row(phase=phase, readings={USE: use}) for phase, use in rows])


def test_a_phase_is_its_first_run_without_the_row_that_looks_back() -> None:
    trace = recorded(
        ("idle", 1), ("busy", 0), ("busy", 100), ("busy", 99), ("idle", 97), ("busy", 5)
    )

    assert [row.readings[USE] for row in first_run(trace, "busy").rows] == [100, 99]


def test_a_phase_is_replayed_from_its_start_when_it_is_over() -> None:
    now = [0.0]
    phases = {"busy": recorded(("busy", 10), ("busy", 20))}
    load = Replayed(phase_of=lambda _: "busy", clock=lambda: now[0], phases=phases)

    readings = []
    for now[0] in (0.0, 1.5, 2.0, 3.9):
        readings.append(load(GPU, WORKER)[USE])

    assert readings == [10, 20, 10, 20]


def test_a_gpu_that_nobody_has_is_idle() -> None:
    load = Replayed(phase_of=lambda _: "matmul", clock=lambda: 0.0)

    assert (load(GPU, None)[USE], load(GPU, WORKER)[USE]) == (0, 100)


@pytest.mark.parametrize(
    ("on", "pod", "phase"),
    [
        (False, "ray-worker-7c-x", "idle"),
        (True, "ray-worker-7c-x", "matmul"),
        (True, "ray-head-5d-y", "idle"),
    ],
)
def test_the_switch_loads_the_deployments_own_pods(on: bool, pod: str, phase: str) -> None:
    workload = Binding(namespace="rayexperiment", pod=pod, container="main")

    assert Switch(deployment="ray-worker", on=on).phase_of(workload) == phase
