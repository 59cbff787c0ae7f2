"""Durations as Go prints them."""

import pytest

from adapter.model.duration import go_duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.001, "1ms"),
        (0.5, "500ms"),
        (1, "1s"),
        (1.5, "1.5s"),
        (59, "59s"),
        (60, "1m0s"),
        (90, "1m30s"),
        (300, "5m0s"),
        (300.25, "5m0.25s"),
        (3600, "1h0m0s"),
        (5400, "1h30m0s"),
        (86400, "24h0m0s"),
    ],
)
def test_it_is_gos_own_text(seconds: float, text: str) -> None:
    assert go_duration(seconds) == text
