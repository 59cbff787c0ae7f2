"""Waits grow, are spread, and start over."""

from adapter.sources.backoff import Backoff


def test_waits_double_up_to_the_longest() -> None:
    backoff = Backoff(first=1, most=5, chance=lambda: 1.0)
    assert [backoff.next() for _ in range(5)] == [1, 2, 4, 5, 5]
    backoff.reset()
    assert backoff.next() == 1


def test_a_wait_is_at_least_half_its_step() -> None:
    assert Backoff(first=1, chance=lambda: 0.0).next() == 0.5
