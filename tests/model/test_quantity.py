"""Canonical quantities: the table of the contract, and the laws behind it."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.model.quantity import quantity

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
