"""Kubernetes quantities in canonical form, with milli precision."""

from decimal import ROUND_HALF_UP, Decimal

LARGEST_MILLI = 2**63 - 1
_SUFFIXES = ("", "k", "M", "G", "T", "P", "E")
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


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
    return _scaled(rounded // 1000, 1000, _SUFFIXES)


def binary_quantity(value: float) -> str:
    """Give the canonical text of a number of bytes: `34560Ki`, in decimal form where it must be.

    2048 is `2Ki`, 1000 is `1k`, 1536.5 is `1536500m`. Source: apimachinery's resource.Quantity,
    BinarySI. Raises ValueError as `milli` does.
    """
    rounded = milli(value)
    if rounded % 1000 or abs(rounded) < 1_024_000:
        return quantity(value)
    return _scaled(rounded // 1000, 1024, _BINARY_SUFFIXES)


def _scaled(mantissa: int, step: int, suffixes: tuple[str, ...]) -> str:
    power = 0
    while mantissa and mantissa % step == 0 and power < len(suffixes) - 1:
        mantissa, power = mantissa // step, power + 1
    return f"{mantissa}{suffixes[power]}"
