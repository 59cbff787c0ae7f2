"""Kubernetes quantities in canonical decimal form, with milli precision."""

from decimal import ROUND_HALF_UP, Decimal

LARGEST_MILLI = 2**63 - 1
_SUFFIXES = ("", "k", "M", "G", "T", "P", "E")


def milli(value: float) -> int:
    """Give a thousand times `value`, rounded to the nearest integer, halves away from zero.

    Raises ValueError for what a quantity cannot hold: NaN, infinities, beyond 64 bits of milli.
    """
    exact = Decimal(repr(value))
    if not exact.is_finite():
        msg = f"{value} has no quantity form"
        raise ValueError(msg)
    rounded = int((exact * 1000).to_integral_value(ROUND_HALF_UP))
    if abs(rounded) > LARGEST_MILLI:
        msg = f"{value} is beyond what a quantity holds"
        raise ValueError(msg)
    return rounded


def quantity(value: float) -> str:
    """Give the canonical text: integer mantissa, the largest suffix that keeps it exact.

    0.5 is `500m`, 1000 is `1k`, 1500 is `1500`, 0 is `0`. Source: apimachinery's
    resource.Quantity, DecimalSI. Raises ValueError as `milli` does.
    """
    rounded = milli(value)
    if rounded % 1000:
        return f"{rounded}m"
    mantissa, power = rounded // 1000, 0
    while mantissa and mantissa % 1000 == 0 and power < len(_SUFFIXES) - 1:
        mantissa, power = mantissa // 1000, power + 1
    return f"{mantissa}{_SUFFIXES[power]}"
