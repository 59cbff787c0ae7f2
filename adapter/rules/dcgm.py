"""GPUs as dcgm-exporter tells of them: the built-in rules and the catalogue of fields.

Field names, units and blank values are those of NVIDIA's DCGM and of the exporter's own lists of
counters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from adapter.rules.naming import parse_naming
from adapter.rules.rule import Rule
from adapter.rules.template import parse

Combine = Literal["mean", "sum", "max"]

PREFIX = "DCGM_FI_"
SERIES_QUERY = '{__name__=~"DCGM_FI_.*",UUID!=""}'

# The later of two labels for one resource is the preferred one. `exported_*` are the workload's
# own labels where Prometheus keeps the exporter's; `pod_name` and `pod_namespace` those of
# exporters in the old namespace, beside which `pod` and `namespace` are the exporter's.
OVERRIDES = (
    ("pod", "", "pod"),
    ("pod_name", "", "pod"),
    ("exported_pod", "", "pod"),
    ("namespace", "", "namespace"),
    ("pod_namespace", "", "namespace"),
    ("exported_namespace", "", "namespace"),
    ("hostname", "", "node"),
    ("Hostname", "", "node"),
    ("node", "", "node"),
)
_QUERIES = (
    ("${1}_current", "<<.Series>>{<<.LabelMatchers>>}"),
    ("${1}_over_time", "ceil(avg_over_time(<<.Series>>{<<.LabelMatchers>>}[3m]))"),
)


def builtin_rules() -> tuple[Rule, ...]:
    """Give the rules that are served without a file.

    Every `DCGM_FI_<NAME>` series is `<NAME>_current`, its value now, and `<NAME>_over_time`, the
    ceiling of its mean over 3 minutes, on pods, nodes and namespaces.
    """
    return tuple(
        Rule(
            number=number,
            file="built in",
            line=0,
            series_query=SERIES_QUERY,
            overrides=OVERRIDES,
            naming=parse_naming(f"^{PREFIX}(.*)$", name),
            metrics_query=parse(query),
        )
        for number, (name, query) in enumerate(_QUERIES, 1)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What is known of one DCGM field.

    A value below `low` or above `high` (inclusive bounds, in the field's own unit) is impossible.
    `combine` makes one value of several devices of one object.
    """

    name: str
    low: float
    high: float
    combine: Combine

    def allows(self, value: float, *, summed: bool = False) -> bool:
        """Tell whether `value` is possible; `summed`: as a sum over the devices of an object."""
        if not summed:
            return self.low <= value <= self.high
        return value <= _MANY * self.high and (value >= self.low or self.low < 0)


_INT32_BLANK = 2147483632
_INT32_RANGE = range(_INT32_BLANK, 2**31)
_INT64_BLANK = 9223372036854775792
_FLOAT_BLANKS = range(140737488355328, 140737488355332)
# More devices than any object has whose values a query sums.
_MANY = 10_000

# Each group: how devices combine, the lowest and highest possible value, the names without prefix.
_PERCENT: tuple[Combine, float, float] = ("mean", 0, 100)
_RATIO: tuple[Combine, float, float] = ("mean", 0, 1)
_CELSIUS: tuple[Combine, float, float] = ("mean", -100, 300)
_MEGAHERTZ: tuple[Combine, float, float] = ("mean", 0, 100_000)
_WATT: tuple[Combine, float, float] = ("sum", 0, 100_000)
_MEBIBYTE: tuple[Combine, float, float] = ("sum", 0, 2**28)
_BYTES_PER_SECOND: tuple[Combine, float, float] = ("sum", 0, 1e14)
_COUNTED: tuple[Combine, float, float] = ("sum", 0, _INT64_BLANK)
_CODE: tuple[Combine, float, float] = ("max", 0, _INT32_BLANK)
_FLAG: tuple[Combine, float, float] = ("max", 0, 1)

_NAMES = (
    (_PERCENT, "DEV_GPU_UTIL DEV_MEM_COPY_UTIL DEV_ENC_UTIL DEV_DEC_UTIL"),
    # The newer names of DCGM 4.6; whether they are percent or ratios depends on the exporter.
    (_PERCENT, "DEV_GPU_UTIL_RATIO DEV_MEM_COPY_UTIL_RATIO DEV_ENC_UTIL_RATIO DEV_DEC_UTIL_RATIO"),
    (_RATIO, "PROF_GR_ENGINE_ACTIVE PROF_SM_ACTIVE PROF_SM_OCCUPANCY PROF_DRAM_ACTIVE"),
    (_RATIO, "PROF_PIPE_TENSOR_ACTIVE PROF_PIPE_TENSOR_IMMA_ACTIVE PROF_PIPE_TENSOR_HMMA_ACTIVE"),
    (_RATIO, "PROF_PIPE_FP64_ACTIVE PROF_PIPE_FP32_ACTIVE PROF_PIPE_FP16_ACTIVE"),
    (_RATIO, "PROF_GR_ENGINE_UTIL_RATIO PROF_SM_UTIL_RATIO PROF_TENSOR_UTIL_RATIO"),
    (_RATIO, "PROF_DRAM_UTIL_RATIO DEV_FB_USED_PERCENT DEV_FB_USED_RATIO"),
    (_CELSIUS, "DEV_GPU_TEMP DEV_MEMORY_TEMP DEV_GPU_TEMP_CELSIUS DEV_MEMORY_TEMP_CELSIUS"),
    (_MEGAHERTZ, "DEV_SM_CLOCK DEV_MEM_CLOCK DEV_VIDEO_CLOCK DEV_APP_SM_CLOCK DEV_APP_MEM_CLOCK"),
    (_WATT, "DEV_POWER_USAGE DEV_POWER_USAGE_INSTANT DEV_BOARD_POWER_WATTS"),
    (_WATT, "DEV_POWER_MGMT_LIMIT DEV_ENFORCED_POWER_LIMIT"),
    (_MEBIBYTE, "DEV_FB_FREE DEV_FB_USED DEV_FB_RESERVED DEV_FB_TOTAL"),
    (_MEBIBYTE, "DEV_BAR1_FREE DEV_BAR1_USED DEV_BAR1_TOTAL"),
    (_BYTES_PER_SECOND, "PROF_PCIE_TX_BYTES PROF_PCIE_RX_BYTES"),
    (_BYTES_PER_SECOND, "PROF_NVLINK_TX_BYTES PROF_NVLINK_RX_BYTES"),
    (_COUNTED, "DEV_TOTAL_ENERGY_CONSUMPTION DEV_PCIE_REPLAY_COUNTER"),
    (_COUNTED, "DEV_NVLINK_BANDWIDTH_TOTAL DEV_NVLINK_THROUGHPUT_TOTAL"),
    (_COUNTED, "DEV_UNCORRECTABLE_REMAPPED_ROWS DEV_CORRECTABLE_REMAPPED_ROWS"),
    (_COUNTED, "DEV_POWER_VIOLATION DEV_THERMAL_VIOLATION DEV_SYNC_BOOST_VIOLATION"),
    (_COUNTED, "DEV_BOARD_LIMIT_VIOLATION DEV_LOW_UTIL_VIOLATION DEV_RELIABILITY_VIOLATION"),
    (_COUNTED, "DEV_ECC_SBE_VOL_TOTAL DEV_ECC_DBE_VOL_TOTAL"),
    (_COUNTED, "DEV_ECC_SBE_AGG_TOTAL DEV_ECC_DBE_AGG_TOTAL"),
    (_COUNTED, "DEV_RETIRED_SBE DEV_RETIRED_DBE DEV_RETIRED_PENDING"),
    (_COUNTED, "DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL"),
    (_COUNTED, "DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL"),
    (_CODE, "DEV_XID_ERRORS DEV_PSTATE DEV_CLOCK_THROTTLE_REASONS DEV_CLOCKS_EVENT_REASONS"),
    (_FLAG, "DEV_VGPU_LICENSE_STATUS DEV_ROW_REMAP_FAILURE DEV_ROW_REMAP_PENDING"),
)


def _catalogue() -> Iterator[tuple[str, Field]]:
    for (combine, low, high), names in _NAMES:
        for name in names.split():
            series = f"{PREFIX}{name}"
            yield series, Field(name=name, low=low, high=high, combine=combine)


_FIELDS: Mapping[str, Field] = dict(_catalogue())


def is_gpu(series: str) -> bool:
    """Tell whether a series is one of DCGM's."""
    return series.startswith("DCGM_")


def field_of(series: str) -> Field | None:
    """Give the field that a series of dcgm-exporter carries, None for any other series."""
    return _FIELDS.get(series)


def is_blank(value: float, field: Field | None, *, summed: bool = False) -> bool:
    """Tell whether `value` is one of DCGM's marks for "no value", not a reading.

    The marks of 64 bit integers and of floats are marks in any field; those of 32 bit integers
    only where such a value is impossible, for a counter may well pass through them. `summed`: the
    value may be a sum with such a mark in it, told by a size that no sum of readings has.
    """
    if summed and field is not None and not field.allows(value, summed=True):
        return value >= _INT32_BLANK
    if value >= _INT64_BLANK or value in _FLOAT_BLANKS:
        return True
    narrow = field is not None and field.high <= _INT32_BLANK and value >= _INT32_BLANK
    return narrow and (value in _INT32_RANGE or not summed)


def names_exporter(labels: Mapping[str, str]) -> bool:
    """Tell whether the label `pod` is, or looks like, the scrape target's own pod.

    For series that have the workload, if any, in `pod`; see `says_exporter` and `resembles_target`.
    """
    return says_exporter(labels) or resembles_target(labels)


def says_exporter(labels: Mapping[str, str]) -> bool:
    """Tell whether the labels say that `pod` is the scrape target's own pod, not the workload's.

    So it is when the workload's labels stand beside it as `exported_*`, for Prometheus renames them
    only where the target has its own; when pod or container say that they are dcgm-exporter; and
    when the exporter's own host name is the pod's.
    """
    pod = labels.get("pod", "")
    if not pod:
        return False
    if labels.get("exported_pod") or labels.get("exported_namespace"):
        return True
    if "dcgm-exp" in pod or "dcgm-exporter" in labels.get("container", ""):
        return True
    return pod in {labels.get("Hostname"), labels.get("hostname")}


def resembles_target(labels: Mapping[str, str]) -> bool:
    """Tell whether the name in `pod` begins with that of the scraped Service or job: a guess."""
    pod = labels.get("pod", "")
    targets = (labels.get("service", ""), labels.get("job", "").rpartition("/")[2])
    return any(target and f"{pod}-".startswith(f"{target}-") for target in targets if pod)
