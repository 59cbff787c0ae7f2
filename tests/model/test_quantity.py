"""Canonical quantities: the table of the contract, and the laws behind it."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.model.quantity import binary_quantity, quantity

SUFFIX = {"m": Decimal("0.001")} | {
    suffix: Decimal(1000) ** power
    for power, suffix in enumerate(("", "k", "M", "G", "T", "P", "E"))
}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.5, "500m"),
        (1.0, "1"),
        (97.25, "97250m"),
        (0.0016, "2m"),
        (0.0004, "0"),
        (0.0005, "1m"),
        (-0.0005, "-1m"),
        (1.005, "1005m"),
        (-0.25, "-250m"),
        (999.9994, "999999m"),
        (1000.0, "1k"),
        (1234.567, "1234567m"),
        (1500.0, "1500"),
        (19.6, "19600m"),
        (12000.0, "12k"),
        (5000000.0, "5M"),
        (73400320000.0, "73400320k"),
        (16106127360.0, "16106127360"),
        (1e15, "1P"),
    ],
)
def test_the_contract_spells_it_so(value: float, text: str) -> None:
    assert text == quantity(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e19, -1e19, 9.3e15])
def test_what_no_quantity_holds_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="quantity"):
        quantity(value)


@given(st.floats(min_value=-9e15, max_value=9e15))
def test_the_text_is_the_nearest_milli(value: float) -> None:
    number, suffix = _split(quantity(value))

    assert abs(number * SUFFIX[suffix] - Decimal(repr(value))) <= Decimal("0.0005")


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_no_larger_suffix_would_be_exact(whole: int) -> None:
    number, suffix = _split(quantity(float(whole)))

    assert suffix != "m"
    assert number == 0 or number % 1000 != 0


def _split(text: str) -> tuple[int, str]:
    suffix = text.lstrip("-0123456789")
    return int(text.removesuffix(suffix)), suffix


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.5, "500m"),
        (1000.0, "1k"),
        (1023.0, "1023"),
        (1024.0, "1Ki"),
        (1025.0, "1025"),
        (1536.0, "1536"),
        (2048.0, "2Ki"),
        (1024.5, "1024500m"),
        (35389440.0, "34560Ki"),
        (1000000.0, "1000000"),
        (2.0**20, "1Mi"),
        (2.0**30 * 3, "3Gi"),
        (2.0**50, "1Pi"),
        (-1024.0, "-1Ki"),
    ],
)
def test_bytes_are_binary_where_that_is_exact(value: float, text: str) -> None:
    """apimachinery: decimal below 1024 and for fractions, else the largest exact suffix."""
    assert binary_quantity(value) == text
