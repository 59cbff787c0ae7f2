"""One reading completed by another."""

from adapter.engine.reading import Reading
from tests.engine.parts import pod_ref

A, B, C, D = (pod_ref(name) for name in "abcd")
FIRST = Reading(
    values={A: 1.0}, dropped={B: "NaN"}, timestamp=20.0, window=None, samples=2, unlabelled=1
)
SECOND = Reading(
    values={A: 9.0, B: 9.0, C: 3.0},
    dropped={A: "blank", D: "blank"},
    timestamp=10.0,
    window=180,
    samples=3,
    unlabelled=0,
)


def test_only_what_is_lacking_is_filled_in() -> None:
    """A value of the second does not take the place of one that the first left out."""
    assert FIRST.filled(SECOND) == Reading(
        values={A: 1.0, C: 3.0},
        dropped={B: "NaN", D: "blank"},
        timestamp=10.0,
        window=180,
        samples=5,
        unlabelled=1,
    )


def test_without_a_range_in_either_there_is_no_window() -> None:
    assert FIRST.filled(FIRST) == Reading(
        values={A: 1.0}, dropped={B: "NaN"}, timestamp=20.0, window=None, samples=4, unlabelled=2
    )


def test_nothing_is_known_of_an_object_that_is_neither_a_value_nor_left_out() -> None:
    assert [FIRST.lacks(ref) for ref in (A, B, C)] == [False, False, True]
