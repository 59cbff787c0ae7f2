"""Values on the wire: times, windows, selectors, quantities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.api.wire import Frame, label_selector, rfc3339
from adapter.model.kinds import NODES, PODS
from adapter.model.selector import EVERYTHING, parse
from tests.api.world import P2, World, ref, values_of


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "1970-01-01T00:00:00Z"),
        (1796092200.0, "2026-12-01T02:30:00Z"),
        (1796092200.999, "2026-12-01T02:30:00Z"),
        (-0.5, "1969-12-31T23:59:59Z"),
    ],
)
def test_times_are_cut_to_the_second(seconds: float, text: str) -> None:
    assert rfc3339(seconds) == text


@given(st.floats(min_value=0, max_value=4e9))
def test_a_time_is_never_later_than_the_evaluation(seconds: float) -> None:
    assert rfc3339(seconds) <= rfc3339(seconds + 1)
    assert len(rfc3339(seconds)) == len("2026-12-01T02:30:00Z")


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_a_list_without_values_has_no_items_and_is_not_null(version: str) -> None:
    frame = Frame(
        version=version, metric="m", selector=EVERYTHING, resource=PODS, timestamp=0, window=None
    )
    assert frame.around([]).items == []


def test_a_window_of_nothing_is_not_told_and_a_window_of_zero_is() -> None:
    windows = [
        Frame(
            version="v1beta1",
            metric="m",
            selector=EVERYTHING,
            resource=NODES,
            timestamp=0,
            window=w,
        )
        .around([(ref("n", ""), "1")])
        .items[0]
        for w in (None, 0)
    ]
    assert [getattr(item, "window", None) for item in windows] == [None, 0]


def test_no_selector_is_null() -> None:
    assert label_selector(EVERYTHING) is None


def test_equalities_are_labels_and_the_second_on_a_key_an_expression() -> None:
    told = label_selector(parse("a=1,a=2"))
    assert told is not None
    assert (told.match_labels, [e.values for e in told.match_expressions]) == ({"a": "1"}, [("2",)])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.5, "500m"),
        (999.9994, "999999m"),
        (1000.0, "1k"),
        (1e6, "1M"),
        (1e15, "1P"),
        (-0.25, "-250m"),
        (85899345920.0, "85899345920"),
    ],
)
async def test_values_are_canonical_quantities(value: float, text: str) -> None:
    world = World()
    world.board.values = {ref("llm-0"): value}
    answer = await world.get(f"{P2}/namespaces/ml/pods/llm-0/gpu_util")
    assert values_of(answer) == {"llm-0": text}
