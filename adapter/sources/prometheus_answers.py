"""What Prometheus's bodies say: samples, names, series, or why not. No I/O."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from adapter.errors import EndpointMissing, PrometheusDown, QueryRefused, SourceError
from adapter.model.objects import Sample

Body = TypeVar("Body", bound="_Answer")
_LONGEST_WORDS = 300
# The kinds of error for which the query is to blame; all others may pass.
_REFUSALS = frozenset({"bad_data", "execution", "422"})
# VictoriaMetrics begins with the query, which we know, and the time, which makes each text new.
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PREAMBLE = re.compile(
    rf"(?:error when executing query={_QUOTED} for \(time=\d+, step=\d+\): )?"
    rf"(?:cannot evaluate {_QUOTED}: )*"
)
# Remarks on how a query is written; some versions put them among the warnings.
_REMARK = "PromQL info"

Values = TypeVar("Values")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[Values]):
    """What was told, and in `partial` why that is not all; empty when it is all."""

    values: Values
    partial: str = ""


class _Answer(msgspec.Struct, rename="camel"):
    status: str
    error_type: str = ""
    error: str = ""
    warnings: list[str] | None = None
    # VictoriaMetrics as a cluster says so when a storage node did not answer.
    is_partial: bool | None = None


class _Element(msgspec.Struct):
    metric: dict[str, str]
    # Absent for a native histogram, which has no single value.
    value: tuple[float, str] | None = None


class _Result(msgspec.Struct, rename="camel"):
    result_type: str = ""
    result: msgspec.Raw = msgspec.Raw(b"[]")


class _Vector(_Answer):
    data: _Result | None = None


class _Row(msgspec.Struct):
    values: list[tuple[float, str]] = []


class _Described(msgspec.Struct):
    type: str = ""


class _Metadata(_Answer):
    data: dict[str, list[_Described]] | None = None


class _Names(_Answer):
    data: list[str] | None = None


class _Series(_Answer):
    data: list[dict[str, str]] | None = None


def check(status: int, body: bytes) -> None:
    """Return when `status` is a success; else raise QueryRefused or PrometheusDown."""
    if 200 <= status < 300:
        return
    told = words(body)
    if status in {400, 422}:
        raise QueryRefused(told or f"Prometheus answered {status}")
    raise PrometheusDown(f"Prometheus answered {status}" + (f": {told}" if told else ""))


def vector(body: bytes) -> Answer[list[Sample]]:
    """Give the samples of an instant vector; native histograms are left out.

    Raises QueryRefused for another type of result, PrometheusDown for what is not understood.
    """
    answer = _decoded(body, _Vector)
    data = answer.data or _Result()
    if data.result_type != "vector":
        message = f"the query gives a {data.result_type or 'nameless result'}, not a vector"
        raise QueryRefused(message)
    samples = _understood(lambda: _samples(data.result))
    return Answer(values=samples, partial=_partial(answer))


def moments(body: bytes) -> Answer[list[list[float]]]:
    """Give the times of the samples of each series of a range; raises as `vector`."""
    answer = _decoded(body, _Vector)
    data = answer.data or _Result()
    if data.result_type != "matrix":
        message = f"the query gives a {data.result_type or 'nameless result'}, not a range"
        raise QueryRefused(message)
    rows = _understood(lambda: msgspec.json.decode(data.result, type=list[_Row]))
    times = [[time for time, _ in row.values] for row in rows]
    return Answer(values=times, partial=_partial(answer))


def kinds(body: bytes) -> Answer[list[str]]:
    """Give the types that are told for the one metric asked for, each once; raises as `vector`."""
    answer = _decoded(body, _Metadata)
    told = {one.type for listed in (answer.data or {}).values() for one in listed}
    return Answer(values=sorted(told - {"", "unknown"}), partial=_partial(answer))


def names(body: bytes) -> Answer[list[str]]:
    """Give the names listed; raises as `vector`."""
    answer = _decoded(body, _Names)
    return Answer(values=answer.data or [], partial=_partial(answer))


def series(body: bytes) -> Answer[list[dict[str, str]]]:
    """Give the label sets listed; raises as `vector`."""
    answer = _decoded(body, _Series)
    return Answer(values=answer.data or [], partial=_partial(answer))


def outcome(error: SourceError) -> str:
    """Give the word under which an error is counted."""
    match error:
        case QueryRefused():
            return "refused"
        case EndpointMissing():
            return "missing"
        case _:
            return "down"


def _samples(result: msgspec.Raw) -> list[Sample]:
    return [
        Sample(labels=element.metric, value=float(element.value[1]), timestamp=element.value[0])
        for element in msgspec.json.decode(result, type=list[_Element])
        if element.value is not None
    ]


def _decoded(body: bytes, kind: type[Body]) -> Body:
    answer = _understood(lambda: msgspec.json.decode(body, type=kind))
    if answer.status == "success":
        return answer
    words = _told(answer) or "Prometheus answered without success"
    raise QueryRefused(words) if answer.error_type in _REFUSALS else PrometheusDown(words)


Read = TypeVar("Read")


def _understood(read: Callable[[], Read]) -> Read:
    try:
        return read()
    except (ValueError, RecursionError) as error:
        message = f"Prometheus's answer is not understood: {error}"
        raise PrometheusDown(message) from error


def words(body: bytes) -> str:
    """Give what an answer that is no success says, on one line; empty when it says nothing."""
    try:
        return _told(msgspec.json.decode(body, type=_Answer))
    except (ValueError, RecursionError):
        # A proxy's page says less than its status does.
        page = body.lstrip().startswith(b"<")
        return "" if page else _line(body[:2000].decode("utf-8", "replace"))


def _told(answer: _Answer) -> str:
    error = _PREAMBLE.sub("", answer.error, count=1)
    # VictoriaMetrics gives the status once more where Prometheus names the kind.
    kind = "" if answer.error_type.isdigit() else answer.error_type
    return _line(": ".join(filter(None, (kind, error))))


def _partial(answer: _Answer) -> str:
    warnings = [one for one in answer.warnings or () if not one.startswith(_REMARK)]
    if warnings:
        return _line("; ".join(warnings)) or "a warning without words"
    return "it says isPartial" if answer.is_partial else ""


def _line(words: str) -> str:
    return " ".join(words.split())[:_LONGEST_WORDS]
