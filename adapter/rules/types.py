"""Counters and gauges: what a metric's name tells, and queries that take one for the other."""

import re
from collections.abc import Callable, Iterator

from adapter.rules.dcgm import field_of
from adapter.rules.reads import Read, reads_of

# Of the known DCGM fields these count up; whether the totals of NVLink do depends on the driver.
_DCGM_COUNTERS = re.compile(r"_(ENERGY_CONSUMPTION|REPLAY_COUNTER|REMAPPED_ROWS|VIOLATION)$")
_DCGM_UNSURE = re.compile(r"_NVLINK_\w+_TOTAL$")
_OF_HISTOGRAMS = ("_bucket", "_count", "_sum")


def kind_by_name(series: str) -> str:
    """Give `counter` or `gauge` where the name of a series alone is enough to tell, else ``."""
    if series.endswith(("_total", "_bucket")):
        return "counter"
    if field_of(series) is None or _DCGM_UNSURE.search(series):
        return ""
    return "counter" if _DCGM_COUNTERS.search(series) else "gauge"


def family_of(series: str) -> str:
    """Give the name under which exporters tell the type of `series`: histograms have one for all."""
    for ending in _OF_HISTOGRAMS:
        if series.endswith(ending):
            return series.removesuffix(ending)
    return series


def kind_in_family(series: str, told: str) -> str:
    """Give the kind of `series` when `told` is the type of its family, by its name if that says none.

    The parts of a histogram count up; so do a summary's, but for its quantiles.
    """
    if told in {"histogram", "summary"}:
        return "counter" if series.endswith(_OF_HISTOGRAMS) else "gauge"
    return told if told in {"counter", "gauge"} else kind_by_name(series)


def misread(query: str, kind_of: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Give fault and cure for each series of `query` that is taken for another kind than it is."""
    for read in dict.fromkeys(reads_of(query)):
        kind = kind_of(read.series) if read.series else ""
        if kind == "gauge" and read.rated:
            yield _rated_gauge(read)
        if kind == "counter" and read.as_it_grows:
            yield (
                f"{read.series} is a counter and is read as it stands: it only grows",
                f"say how fast it grows, such as rate({read.series}[5m])",
            )


def _rated_gauge(read: Read) -> tuple[str, str]:
    return (
        f"{read.rated} takes {read.series} for a counter, but it is a gauge",
        f"read the gauge itself, or its mean with avg_over_time, without {read.rated}",
    )
