"""Which series names carry which labels, found without fetching the series."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.engine.survey import Survey
from adapter.errors import EndpointMissing, QueryRefused
from tests.engine.indexes import FakeIndex

pytestmark = pytest.mark.anyio

QUERY = '{UUID!=""}'


def survey(index: FakeIndex) -> Survey:
    """Look at the last ten minutes before 1000."""
    return Survey(index=index, start=400, end=1000)


def pods_and_nodes(label: str) -> bool:
    """Take these labels for meaningful."""
    return label in {"pod", "node"}


SERIES = (
    {"__name__": "gpu_util", "UUID": "1", "pod": "a", "node": "n"},
    {"__name__": "gpu_util", "UUID": "2", "node": "n"},
    {"__name__": "gpu_temp", "UUID": "1", "node": "n", "modelName": "H200"},
)


async def test_each_meaningful_label_stands_with_the_names_that_carry_it() -> None:
    found = await survey(FakeIndex(SERIES)).names_by_label(QUERY, pods_and_nodes)
    assert found == {"pod": {"gpu_util"}, "node": {"gpu_util", "gpu_temp"}}


async def test_names_and_labels_are_asked_for_and_no_series() -> None:
    index = FakeIndex(SERIES)
    await survey(index).names_by_label(QUERY, pods_and_nodes)
    assert index.asked == [
        ("names", '{UUID!=""}'),
        ("labels", '{UUID!=""}'),
        ("names", '{UUID!="",node!=""}'),
        ("names", '{UUID!="",pod!=""}'),
    ]
    assert index.spans == {(400, 1000)}


async def test_a_single_name_carries_all_labels_without_a_further_question() -> None:
    index = FakeIndex(SERIES[:2])
    assert await survey(index).names_by_label(QUERY, pods_and_nodes) == {
        "pod": {"gpu_util"},
        "node": {"gpu_util"},
    }
    assert [kind for kind, _ in index.asked] == ["names", "labels"]


async def test_no_series_is_an_answer_and_no_failure() -> None:
    assert await survey(FakeIndex(())).names_by_label(QUERY, pods_and_nodes) == {}


@pytest.mark.parametrize("missing", ["names", "labels"])
async def test_where_the_backend_cannot_tell_the_series_are_fetched(missing: str) -> None:
    index = FakeIndex(SERIES, {missing: EndpointMissing("not served")})
    found = await survey(index).names_by_label(QUERY, pods_and_nodes)
    assert found == {"pod": {"gpu_util"}, "node": {"gpu_util", "gpu_temp"}}


async def test_series_without_a_name_are_no_metric() -> None:
    nameless = {"__name__": "", "UUID": "1", "pod": "a"}
    index = FakeIndex([nameless], {"names": EndpointMissing("not served")})
    assert await survey(index).names_by_label(QUERY, pods_and_nodes) == {"pod": frozenset()}


async def test_another_failure_is_no_reason_to_fetch_the_series() -> None:
    index = FakeIndex(SERIES, {"labels": QueryRefused("too many")})
    with pytest.raises(QueryRefused):
        await survey(index).names_by_label(QUERY, pods_and_nodes)
    assert ("series", QUERY) not in index.asked


LABELS = st.fixed_dictionaries(
    {"__name__": st.sampled_from(["a", "b", "c"]), "UUID": st.just("1")},
    optional={label: st.just("x") for label in ("pod", "node", "job")},
)


@given(series=st.lists(LABELS, max_size=8))
async def test_both_ways_find_the_same(series: Sequence[Mapping[str, str]]) -> None:
    fallback = FakeIndex(series, {"names": EndpointMissing("not served")})
    by_names = await survey(FakeIndex(series)).names_by_label(QUERY, pods_and_nodes)
    assert await survey(fallback).names_by_label(QUERY, pods_and_nodes) == by_names
