"""Whatever stands in a body, the reader gives its values or one of our errors."""

import json
from collections.abc import Callable
from contextlib import nullcontext, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.errors import PrometheusDown, QueryRefused, SourceError
from adapter.sources import prometheus_answers as answers
from adapter.sources.prometheus_answers import Answer

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
anything = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)
elements = st.fixed_dictionaries(
    {"metric": anything | st.dictionaries(st.text(), st.text())},
    optional={
        "value": anything | st.tuples(st.floats(), st.text() | st.sampled_from(["1", "NaN"]))
    },
)
results = st.fixed_dictionaries(
    {"resultType": st.sampled_from(["vector", "scalar"]) | anything},
    optional={"result": anything | st.lists(elements, max_size=3)},
)
envelopes = st.fixed_dictionaries(
    {"status": st.sampled_from(["success", "error"]) | anything},
    optional={
        "data": anything | results | st.lists(st.text(), max_size=2),
        "errorType": anything,
        "error": anything,
        "warnings": anything | st.lists(st.text(), max_size=2),
        "isPartial": anything,
    },
)
bodies = st.binary() | (anything | envelopes).map(lambda value: json.dumps(value).encode())
readers = st.sampled_from(
    [answers.vector, answers.names, answers.series, answers.moments, answers.kinds]
)


@given(body=bodies, read=readers)
def test_any_body_gives_values_or_our_error(
    body: bytes, read: Callable[[bytes], Answer[list[object]]]
) -> None:
    with suppress(SourceError):
        assert isinstance(read(body).values, list)


@given(status=st.integers(100, 599), body=bodies)
def test_any_status_is_a_success_or_our_error(status: int, body: bytes) -> None:
    refusal = QueryRefused if status in {400, 422} else PrometheusDown
    with nullcontext() if 200 <= status < 300 else pytest.raises(refusal):
        answers.check(status, body)


def test_nesting_without_end_is_our_error() -> None:
    body = b'{"status":"success","data":{"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    with pytest.raises(PrometheusDown):
        answers.vector(body)


def test_null_where_a_list_belongs_is_an_empty_list() -> None:
    assert answers.names(b'{"status":"success","data":null}').values == []
    assert answers.series(b'{"status":"success"}').values == []


@pytest.mark.parametrize(
    ("more", "partial"),
    [
        ({}, ""),
        ({"warnings": []}, ""),
        ({"warnings": None, "isPartial": None}, ""),
        ({"isPartial": False}, ""),
        ({"infos": ["PromQL info: metric might not be a counter"]}, ""),
        ({"warnings": ["PromQL info: metric might not be a counter"]}, ""),
        ({"warnings": ["store a:\n no route", "store b"]}, "store a: no route; store b"),
        ({"warnings": [""]}, "a warning without words"),
        ({"isPartial": True}, "it says isPartial"),
    ],
)
def test_an_answer_is_partial_when_it_warns_or_says_so(
    more: dict[str, object], partial: str
) -> None:
    body = json.dumps({"status": "success", "data": ["up"], **more}).encode()
    assert answers.names(body) == Answer(values=["up"], partial=partial)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"status":"error","errorType":"bad_data","error":"no:\\n )"}', "bad_data: no: )"),
        (b'{"status":"error","errorType":"bad_data"}', "bad_data"),
        (b'{"status":"error","errorType":"422","error":"too long"}', "too long"),
        (b'unsupported path requested: "/p"\n', 'unsupported path requested: "/p"'),
        (b"<html>no</html>", "Prometheus answered 400"),
        (b'{"message":"no"}', '{"message":"no"}'),
        (b"\xff" * 5, "\ufffd" * 5),
        (b"", "Prometheus answered 400"),
    ],
)
def test_a_refusal_is_told_in_the_words_of_whoever_refused(body: bytes, words: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        answers.check(400, body)
    assert str(caught.value) == words


def test_the_words_of_victoriametrics_are_the_same_whenever_it_is_asked() -> None:
    where = 'error when executing query="f(\\"a\\")" for (time=17961426, step=300): '
    error = where + 'cannot evaluate "f(\\"a\\")": cannot compile regex "(": missing )'
    body = json.dumps({"status": "error", "errorType": "422", "error": error}).encode()
    with pytest.raises(QueryRefused) as caught:
        answers.check(422, body)
    assert str(caught.value) == 'cannot compile regex "(": missing )'


@pytest.mark.parametrize(
    ("kind", "error"),
    [("bad_data", QueryRefused), ("execution", QueryRefused), ("timeout", PrometheusDown)],
)
def test_an_error_under_200_is_judged_by_its_kind(kind: str, error: type[SourceError]) -> None:
    with pytest.raises(error, match=f"{kind}: words"):
        answers.vector(
            json.dumps({"status": "error", "errorType": kind, "error": "words"}).encode()
        )


def test_the_times_of_a_range_are_those_of_its_samples() -> None:
    rows = [{"metric": {"a": "b"}, "values": [[10, "1"], [25.5, "NaN"]]}, {"metric": {}}]
    body = {"status": "success", "data": {"resultType": "matrix", "result": rows}}

    assert answers.moments(json.dumps(body).encode()).values == [[10, 25.5], []]


def test_a_vector_where_a_range_was_asked_for_is_refused() -> None:
    with pytest.raises(QueryRefused, match="gives a vector, not a range"):
        answers.moments(b'{"status": "success", "data": {"resultType": "vector", "result": []}}')


def test_the_types_told_for_a_metric_are_given_once_each_and_unknown_is_none() -> None:
    told = [{"type": kind, "help": kind} for kind in ("gauge", "unknown", "counter", "gauge")]
    body = {"status": "success", "data": {"up": told}}

    assert answers.kinds(json.dumps(body).encode()).values == ["counter", "gauge"]
