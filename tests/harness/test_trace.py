"""The recorded trace is replayed as it was recorded."""

import pytest

from tests.cluster.errors import HarnessError
from tests.cluster.fleet import Binding, Gpu, Slot
from tests.cluster.trace import Replay, read_trace

UTIL = "DCGM_FI_DEV_GPU_UTIL"
GPU = Gpu(slot=Slot(node="gpu-node-1", index=0), uuid="GPU-1")
WORKER = Binding(namespace="ml", pod="infer-0", container="server")


def test_second_sixty_reads_as_the_files_row_says() -> None:
    """The row is `60,matmul,100,25,3699,139458,59,691.04,1515,3201`."""
    assert read_trace().at(60) == {
        UTIL: 100,
        "DCGM_FI_DEV_MEM_COPY_UTIL": 25,
        "DCGM_FI_DEV_FB_USED": 3699,
        "DCGM_FI_DEV_FB_FREE": 139_458,
        "DCGM_FI_DEV_GPU_TEMP": 59,
        "DCGM_FI_DEV_POWER_USAGE": 691.04,
        "DCGM_FI_DEV_SM_CLOCK": 1515,
        "DCGM_FI_DEV_MEM_CLOCK": 3201,
    }


def test_before_the_start_and_after_the_end_the_trace_stands_still() -> None:
    trace = read_trace()
    assert trace.at(-5) == trace.at(0)
    assert trace.at(10_000) == trace.at(469)


def test_chosen_phases_follow_one_another() -> None:
    """40 s idle, then 120 s matmul, 40 s idle, ... 30 s idle: 110 rows of idle in all."""
    idle = read_trace().only("idle")
    assert len(idle.rows) == 110
    assert {row.phase for row in idle.rows} == {"idle"}


def test_an_unknown_phase_is_named() -> None:
    with pytest.raises(HarnessError, match="no phase training"):
        read_trace().only("training")


def test_a_replay_goes_on_with_time_speed_and_offset() -> None:
    trace = read_trace()
    replay = Replay(trace=trace, elapsed=lambda: 15, speed=4, offsets={GPU.slot: 5})
    assert replay(GPU, WORKER) == trace.at(65)


def test_a_gpu_that_nobody_has_stays_idle() -> None:
    trace = read_trace()
    assert Replay(trace=trace, elapsed=lambda: 60)(GPU, None) == trace.at(0)
