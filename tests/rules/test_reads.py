"""Which series a query reads, and what stands around them."""

import pytest

from adapter.rules.reads import Read, reads_of


def test_each_selector_is_told_with_what_stands_around_it() -> None:
    query = 'sum(rate(a_total{x="1"}[5m])) by (pod) / -max_over_time({__name__="b"}[10m:1m])'

    assert reads_of(query) == [
        Read(series="a_total", around=frozenset({"sum", "rate"}), window=300),
        Read(series="b", around=frozenset({"max_over_time"})),
    ]


@pytest.mark.parametrize("query", ["sum(x", "{job='x'}"])
def test_what_has_no_name_or_no_sense_names_nothing(query: str) -> None:
    assert [read.series for read in reads_of(query)] in ([], [""])


@pytest.mark.parametrize(
    ("query", "grows"),
    [
        ("x_total", True),
        ("sum(max_over_time(x_total[5m]))", True),
        ("sum(rate(x_total[5m]))", False),
        ("rate(x_total[5m]) * 60", False),
        ("changes(x_total[5m])", False),
        ("count(x_total) by (pod)", False),
        ("absent(x_total)", False),
    ],
)
def test_a_counter_grows_unless_something_makes_sense_of_it(query: str, grows: bool) -> None:
    assert [read.as_it_grows for read in reads_of(query)] == [grows]


@pytest.mark.parametrize(
    ("query", "function"),
    [("sum(increase(x[5m]))", "increase"), ("avg_over_time(x[5m])", ""), ("deriv(x[5m])", "")],
)
def test_what_takes_a_series_for_a_counter_is_named(query: str, function: str) -> None:
    assert [read.rated for read in reads_of(query)] == [function]
