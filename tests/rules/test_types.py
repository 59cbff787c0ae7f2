"""Counters and gauges: by name, by what exporters tell, and queries that mix them up."""

import pytest

from adapter.rules.types import family_of, kind_by_name, kind_in_family, misread


@pytest.mark.parametrize(
    ("series", "kind"),
    [
        ("http_requests_total", "counter"),
        ("latency_seconds_bucket", "counter"),
        ("queue_length", ""),
        ("rabbitmq_messages_count", ""),
        ("DCGM_FI_DEV_GPU_UTIL", "gauge"),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter"),
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", ""),
    ],
)
def test_a_name_tells_the_kind_where_it_is_certain(series: str, kind: str) -> None:
    assert kind_by_name(series) == kind


@pytest.mark.parametrize(
    ("series", "told", "kind"),
    [
        ("latency_seconds_sum", "histogram", "counter"),
        ("latency_seconds", "summary", "gauge"),
        ("jobs_total", "gauge", "gauge"),
        ("jobs_total", "", "counter"),
        ("jobs", "info", ""),
    ],
)
def test_what_exporters_tell_counts_more_than_the_name(series: str, told: str, kind: str) -> None:
    assert kind_in_family(series, told) == kind


def test_the_parts_of_a_histogram_have_one_family() -> None:
    assert {family_of(f"x{end}") for end in ("", "_bucket", "_count", "_sum")} == {"x"}


@pytest.mark.parametrize(
    ("query", "beginnings"),
    [
        ("sum(rate(jobs_total[5m]))", []),
        ("avg_over_time(DCGM_FI_DEV_GPU_UTIL[5m])", []),
        ("jobs_total", ["jobs_total is a counter and is read as it stands"]),
        (
            "rate(DCGM_FI_DEV_GPU_UTIL[5m])",
            ["rate takes DCGM_FI_DEV_GPU_UTIL for a counter, but it is a gauge"],
        ),
        ("jobs_total / jobs_total", ["jobs_total is a counter and is read as it stands"]),
        ("rate(queue_length[5m])", []),
    ],
)
def test_a_series_taken_for_another_kind_is_told_once(query: str, beginnings: list[str]) -> None:
    faults = [fault.partition(":")[0] for fault, _ in misread(query, kind_by_name)]
    assert faults == beginnings
