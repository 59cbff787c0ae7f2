"""Which series a query reads, and what it does with them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import promql_parser as promql

from adapter.rules.expressions import parse

# What makes a counter's value mean something, or only asks whether and when it changed.
_OF_COUNTERS = frozenset(
    ["rate", "irate", "increase", "delta", "idelta", "deriv", "resets", "changes", "timestamp"]
)
_OF_EXISTENCE = frozenset({"absent", "absent_over_time", "count_over_time", "present_over_time"})
_COUNTING = frozenset({"count", "group"})
_RATES = frozenset({"rate", "irate", "increase"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One series selector of a query.

    `series` is the metric's name, empty when the selector has none. `around` are the functions
    and aggregations that it stands in, `window` its range in seconds, None without one.
    """

    series: str = ""
    around: frozenset[str] = frozenset()
    window: int | None = None

    @property
    def rated(self) -> str:
        """Give the function that takes it for a counter, empty when none does."""
        return next(iter(sorted(self.around & _RATES)), "")

    @property
    def as_it_grows(self) -> bool:
        """Tell whether a counter's own, ever growing value comes through."""
        return not self.around & (_OF_COUNTERS | _OF_EXISTENCE | _COUNTING)


def reads_of(query: str) -> list[Read]:
    """Give what `query` reads, from left to right; nothing when it is not PromQL."""
    try:
        return list(_reads(parse(query), Read()))
    except ValueError:
        return []


def _reads(expression: promql.Expr, around: Read) -> Iterator[Read]:
    match expression:
        case promql.VectorSelector():
            yield replace(around, series=_name(expression))
        case promql.MatrixSelector():
            seconds = math.ceil(expression.range.total_seconds())
            yield from _reads(expression.vector_selector, replace(around, window=seconds))
        case _:
            inside = replace(around, around=around.around | _word(expression))
            for part in _parts(expression):
                yield from _reads(part, inside)


def _parts(expression: promql.Expr) -> list[promql.Expr]:
    match expression:
        case promql.Call():
            return list(expression.args)
        case promql.BinaryExpr():
            return [expression.lhs, expression.rhs]
        case promql.AggregateExpr() | promql.ParenExpr() | promql.UnaryExpr():
            return [expression.expr]
        case promql.SubqueryExpr():
            return [expression.expr]
        case _:
            return []


def _word(expression: promql.Expr) -> frozenset[str]:
    match expression:
        case promql.Call():
            return frozenset({expression.func.name})
        case promql.AggregateExpr():
            return frozenset({str(expression.op)})
        case _:
            return frozenset()


def _name(selector: promql.VectorSelector) -> str:
    if selector.name:
        return str(selector.name)
    named = [
        matcher.value
        for matcher in selector.matchers.matchers
        if matcher.name == "__name__" and matcher.op == promql.MatchOp.Equal
    ]
    return str(named[0]) if named else ""
