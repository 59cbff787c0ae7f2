"""What Prometheus's bodies say: samples, names, series, or why not. No I/O."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from adapter.errors import EndpointMissing, PrometheusDown, QueryRefused, SourceError
from adapter.model.objects import Sample

Body = TypeVar("Body", bound="_Answer")
_LONGEST_WORDS = 300
# The kinds of error for which the query is to blame; all others may pass.
_REFUSALS = frozenset({"bad_data", "execution", "422"})


class _Answer(msgspec.Struct, rename="camel"):
    status: str
    error_type: str = ""
    error: str = ""


class _Element(msgspec.Struct):
    metric: dict[str, str]
    # Absent for a native histogram, which has no single value.
    value: tuple[float, str] | None = None


class _Result(msgspec.Struct, rename="camel"):
    result_type: str = ""
    result: msgspec.Raw = msgspec.Raw(b"[]")


class _Vector(_Answer):
    data: _Result | None = None


class _Names(_Answer):
    data: list[str] | None = None


class _Series(_Answer):
    data: list[dict[str, str]] | None = None


def check(status: int, body: bytes) -> None:
    """Return when `status` is a success; else raise QueryRefused or PrometheusDown."""
    if 200 <= status < 300:
        return
    words = _words(body)
    if status in {400, 422}:
        raise QueryRefused(words or f"Prometheus answered {status}")
    raise PrometheusDown(f"Prometheus answered {status}" + (f": {words}" if words else ""))


def vector(body: bytes) -> list[Sample]:
    """Give the samples of an instant vector; native histograms are left out.

    Raises QueryRefused for another type of result, PrometheusDown for what is not understood.
    """
    data = _decoded(body, _Vector).data or _Result()
    if data.result_type != "vector":
        message = f"the query gives a {data.result_type or 'nameless result'}, not a vector"
        raise QueryRefused(message)
    return _understood(lambda: _samples(data.result))


def names(body: bytes) -> list[str]:
    """Give the names listed; raises as `vector`."""
    return _decoded(body, _Names).data or []


def series(body: bytes) -> list[dict[str, str]]:
    """Give the label sets listed; raises as `vector`."""
    return _decoded(body, _Series).data or []


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


def _words(body: bytes) -> str:
    try:
        return _told(msgspec.json.decode(body, type=_Answer))
    except (ValueError, RecursionError):
        return ""


def _told(answer: _Answer) -> str:
    words = f"{answer.error_type}: {answer.error}" if answer.error else answer.error_type
    return " ".join(words.split())[:_LONGEST_WORDS]
