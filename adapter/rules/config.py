"""The file of rules, in Prometheus Adapter's own form and in that of its Helm values."""

from dataclasses import dataclass

from adapter.errors import Problem
from adapter.rules.rule import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesFile:
    """What a file says; `prometheus_url` is the one of Helm values, None when there is none."""

    rules: tuple[Rule, ...] = ()
    prometheus_url: str | None = None
    warnings: tuple[Problem, ...] = ()


def load(text: str, file: str) -> RulesFile:
    """Read a file of rules; an empty one has no rules.

    Raises InputError with every problem of the file, in its order.
    """
    raise NotImplementedError
