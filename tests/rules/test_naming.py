"""Naming: RE2 anywhere in the name, Go's expansion, and no name rather than a wrong one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.rules.naming import Filter, compiled, parse_expansion, parse_naming


@pytest.mark.parametrize(
    ("matches", "expansion", "series", "name"),
    [
        ("^DCGM_FI_(.*)$", "${1}_over_time", "DCGM_FI_DEV_GPU_UTIL", "DEV_GPU_UTIL_over_time"),
        ("^(.*)_total", "${1}_per_second", "http_requests_total", "http_requests_per_second"),
        ("_total", "", "http_requests_total", "_total"),
        ("^container_(.*)", "", "container_usage", "usage"),
        ("", "", "container_usage", "container_usage"),
        ("", "gpu", "container_usage", "gpu"),
        ("^(?P<what>[a-z]+)_", "${what}$$$0", "cpu_seconds", "cpu$cpu_"),
        ("(a)(b)?", "$1-$2-", "ac", "a--"),
        ("(a)", "$1_x", "a", None),
        ("(a)", "$1_x", "b", None),
        ("^(.*)$", "", "", None),
    ],
)
def test_a_name_is_the_expansion_alone(
    matches: str, expansion: str, series: str, name: str | None
) -> None:
    assert parse_naming(matches, expansion).name(series) == name


@pytest.mark.parametrize("text", ["a$", "$", "${", "${1", "${}", "$-", "${a-b}"])
def test_a_dollar_that_begins_no_reference_is_text(text: str) -> None:
    pattern = compiled("x")
    found = pattern.search("x")
    assert found is not None
    assert parse_expansion(text).expand(found, pattern) == text


def test_several_groups_need_an_expansion() -> None:
    with pytest.raises(ValueError, match="2 groups and no name"):
        parse_naming("(a)(b)", "")


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", r"(a)\1", "a**"])
def test_what_re2_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        compiled(pattern)


def test_a_filter_searches_anywhere_and_its_negation_is_the_reverse() -> None:
    pattern = compiled("my_.*")
    assert [Filter(pattern).accepts(name) for name in ("not_my_x", "your_x")] == [True, False]
    negated = Filter(pattern, negated=True)
    assert [negated.accepts(name) for name in ("not_my_x", "your_x")] == [False, True]


@given(st.text().filter(lambda text: "$" not in text))
def test_an_expansion_without_dollar_is_a_constant(text: str) -> None:
    assert parse_naming("", text).name("series") == (text or "series")


@given(st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]*", fullmatch=True))
def test_without_name_section_a_metric_is_called_as_its_series(series: str) -> None:
    assert parse_naming("", "").name(series) == series
