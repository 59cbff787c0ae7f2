"""Figures are judged and printed as they were measured."""

import pytest

from bench.figures import Figure, percentile


def figure(measured: float) -> Figure:
    return Figure(name="start to ready", measured=measured, budget=2, unit="s")


@pytest.mark.parametrize(("measured", "holds"), [(1.99, True), (2.0, False), (2.5, False)])
def test_a_budget_holds_only_below_it(measured: float, holds: bool) -> None:
    assert figure(measured).holds is holds


def test_a_row_names_figure_measured_budget_and_verdict() -> None:
    assert figure(0.7512).row == ("start to ready", "0.75 s", "< 2 s", "yes")
    assert figure(2.5).row == ("start to ready", "2.50 s", "< 2 s", "NO")


def test_the_median_of_four_is_the_second() -> None:
    assert percentile([4, 1, 3, 2], 50) == 2


def test_the_99th_percentile_of_200_leaves_two_above() -> None:
    assert percentile(list(range(1, 201)), 99) == 198


def test_one_value_is_every_percentile() -> None:
    assert (percentile([7], 1), percentile([7], 99)) == (7, 7)


def test_without_values_there_is_no_percentile() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        percentile([], 50)
