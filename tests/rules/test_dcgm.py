"""GPUs: the built-in rules, the fields and their marks for "no value", the exporter's own pod."""

import pytest

from adapter.model.kinds import NAMESPACES, NODES, PODS, Kinds
from adapter.rules.dcgm import builtin_rules, field_of, is_blank, names_exporter
from adapter.rules.matchers import Matcher
from adapter.rules.promql import Spread, spread

_UTIL = field_of("DCGM_FI_DEV_GPU_UTIL")
_ENERGY = field_of("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")
_RATIO = field_of("DCGM_FI_PROF_GR_ENGINE_ACTIVE")
_KINDS = Kinds()


def test_each_dcgm_series_is_served_now_and_over_time() -> None:
    names = [rule.metric_name("DCGM_FI_DEV_GPU_UTIL") for rule in builtin_rules()]
    assert names == ["DEV_GPU_UTIL_current", "DEV_GPU_UTIL_over_time"]
    assert [rule.metric_name("node_load1") for rule in builtin_rules()] == [None, None]


def test_the_built_in_queries_are_the_walk_throughs() -> None:
    pod = (Matcher("exported_pod", "=", "ray-worker-0"),)
    series = "DCGM_FI_DEV_GPU_UTIL"
    assert [rule.render(series, pod, ("exported_pod",)) for rule in builtin_rules()] == [
        'DCGM_FI_DEV_GPU_UTIL{exported_pod="ray-worker-0"}',
        'ceil(avg_over_time(DCGM_FI_DEV_GPU_UTIL{exported_pod="ray-worker-0"}[3m]))',
    ]


def test_one_built_in_query_answers_for_the_whole_cluster() -> None:
    for rule in builtin_rules():
        found = spread(rule, "DCGM_FI_DEV_GPU_UTIL", "exported_pod", "exported_namespace")
        assert found is Spread.CLUSTER


def test_the_workloads_labels_are_preferred_to_the_scrape_targets() -> None:
    rule = builtin_rules()[0]
    present = {"pod", "namespace", "exported_namespace", "exported_pod", "pod_name", "UUID"}
    assert rule.labels_for(PODS, present, _KINDS) == ("exported_pod", "pod_name", "pod")
    assert rule.labels_for(NAMESPACES, present, _KINDS) == ("exported_namespace", "namespace")


def test_a_node_is_named_by_node_then_by_either_spelling_of_hostname() -> None:
    rule = builtin_rules()[0]
    present = ["hostname", "Hostname", "node", "instance"]
    assert rule.labels_for(NODES, present, _KINDS) == ("node", "Hostname", "hostname")


@pytest.mark.parametrize(
    ("series", "low", "high", "combine"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", 0, 100, "mean"),
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0, 1, "mean"),
        ("DCGM_FI_DEV_FB_USED_PERCENT", 0, 1, "mean"),
    ],
)
def test_the_possible_range_of_a_field_is_its_units(
    series: str, low: float, high: float, combine: str
) -> None:
    field = field_of(series)
    assert field is not None
    assert (field.low, field.high, field.combine) == (low, high, combine)


@pytest.mark.parametrize(
    ("series", "combine"),
    [
        ("DCGM_FI_DEV_GPU_TEMP", "mean"),
        ("DCGM_FI_DEV_SM_CLOCK", "mean"),
        ("DCGM_FI_DEV_FB_USED", "sum"),
        ("DCGM_FI_DEV_POWER_USAGE", "sum"),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "sum"),
        ("DCGM_FI_PROF_PCIE_TX_BYTES", "sum"),
        ("DCGM_FI_DEV_XID_ERRORS", "max"),
    ],
)
def test_devices_combine_as_their_quantity_does(series: str, combine: str) -> None:
    field = field_of(series)
    assert field is not None
    assert field.combine == combine


def test_every_field_of_the_exporters_default_list_is_known() -> None:
    defaults = (
        "DEV_SM_CLOCK DEV_MEM_CLOCK DEV_MEMORY_TEMP DEV_GPU_TEMP DEV_POWER_USAGE"
        " DEV_TOTAL_ENERGY_CONSUMPTION DEV_PCIE_REPLAY_COUNTER DEV_GPU_UTIL DEV_MEM_COPY_UTIL"
        " DEV_ENC_UTIL DEV_DEC_UTIL DEV_XID_ERRORS DEV_FB_FREE DEV_FB_USED DEV_FB_RESERVED"
        " DEV_NVLINK_BANDWIDTH_TOTAL DEV_VGPU_LICENSE_STATUS DEV_UNCORRECTABLE_REMAPPED_ROWS"
        " DEV_CORRECTABLE_REMAPPED_ROWS DEV_ROW_REMAP_FAILURE PROF_GR_ENGINE_ACTIVE"
        " PROF_PIPE_TENSOR_ACTIVE PROF_DRAM_ACTIVE PROF_PCIE_TX_BYTES PROF_PCIE_RX_BYTES"
    )
    assert [name for name in defaults.split() if field_of(f"DCGM_FI_{name}") is None] == []


@pytest.mark.parametrize("series", ["DCGM_FI_NEW_FIELD", "DEV_GPU_UTIL", "node_load1"])
def test_nothing_is_claimed_of_other_series(series: str) -> None:
    assert field_of(series) is None


@pytest.mark.parametrize("value", [9223372036854775792.0, 140737488355331.0])
def test_the_wide_marks_are_blank_in_any_field(value: float) -> None:
    assert is_blank(value, None)
    assert is_blank(value, _ENERGY)
    assert is_blank(value, _RATIO)


def test_the_narrow_mark_is_blank_only_where_no_such_value_can_be() -> None:
    assert is_blank(2147483634.0, _UTIL)
    assert not is_blank(2147483634.0, _ENERGY)
    assert not is_blank(2147483634.0, None)


@pytest.mark.parametrize("value", [0.0, 100.0, 4294967295.0])
def test_readings_and_other_nonsense_are_no_blanks_of_a_counter(value: float) -> None:
    assert not is_blank(value, _ENERGY)


@pytest.mark.parametrize("value", [2147483632.0, 140737488355328.0, 140737488355328.5, 9.3e18])
def test_a_sum_with_a_mark_in_it_is_blank(value: float) -> None:
    assert is_blank(value, _UTIL, summed=True)


@pytest.mark.parametrize("value", [0.0, 800.0, 1e6])
def test_a_sum_of_readings_of_many_devices_is_no_blank(value: float) -> None:
    assert not is_blank(value, _UTIL, summed=True)


def test_a_large_sum_of_memory_is_no_blank() -> None:
    """100,000 GPUs with 80,000 MiB each."""
    assert not is_blank(8e9, field_of("DCGM_FI_DEV_FB_USED"), summed=True)


@pytest.mark.parametrize(
    ("value", "alone", "summed"),
    [(-1.0, False, False), (0.0, True, True), (100.0, True, True), (800.0, False, True)],
)
def test_a_sum_may_be_larger_than_one_reading_but_not_smaller(
    value: float, alone: bool, summed: bool
) -> None:
    assert _UTIL is not None
    assert (_UTIL.allows(value), _UTIL.allows(value, summed=True)) == (alone, summed)


def test_a_sum_of_more_than_all_devices_is_impossible() -> None:
    assert _UTIL is not None
    assert not _UTIL.allows(4294967295.0, summed=True)


_EXPORTER = "nvidia-dcgm-exporter-x7k2p"


@pytest.mark.parametrize(
    "labels",
    [
        {"pod": _EXPORTER},
        {"pod": "gpu-mon-x7k2p", "service": "gpu-mon", "namespace": "ops"},
        {"pod": "gpu-mon-x7k2p", "job": "ops/gpu-mon"},
        {"pod": "gpu-mon", "service": "gpu-mon"},
        {"pod": "mon-x7k2p", "container": "nvidia-dcgm-exporter"},
        {"pod": _EXPORTER, "exported_pod": ""},
        {"pod": "monitor-0", "exported_pod": "train-0"},
        {"pod": "monitor-0", "exported_namespace": "ml"},
        {"pod": "dcgm-exp-a", "job": "gpus"},
        {"pod": "mon-x7k2p", "Hostname": "mon-x7k2p"},
        {"pod": "mon-x7k2p", "hostname": "mon-x7k2p", "Hostname": ""},
    ],
)
def test_the_scrape_targets_own_pod_is_known(labels: dict[str, str]) -> None:
    assert names_exporter(labels)


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {"pod": ""},
        {"pod": "train-0", "service": "nvidia-dcgm-exporter", "container": "server"},
        {"pod": "gpu-monitor-0", "service": "gpu-mon", "job": ""},
        {"pod": "dcgmproftester-0", "Hostname": "gpu-a"},
    ],
)
def test_a_workloads_pod_is_not_taken_for_the_exporter(labels: dict[str, str]) -> None:
    assert not names_exporter(labels)
