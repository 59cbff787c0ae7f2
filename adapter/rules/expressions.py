"""Expressions of PromQL as syntax trees."""

from collections.abc import Mapping
from typing import TypeAlias

import promql_parser as promql

from adapter.rules.matchers import Matcher

_AGGREGATIONS = frozenset({"sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"})
_ELEMENTWISE_WORDS = """
    abs ceil floor round sqrt exp ln log2 log10 sgn clamp clamp_min clamp_max deg rad acos acosh
    asin asinh atan atanh cos cosh sin sinh tan tanh
"""
_ELEMENTWISE = frozenset(_ELEMENTWISE_WORDS.split())
_OVER_RANGE_WORDS = """
    avg_over_time min_over_time max_over_time sum_over_time count_over_time last_over_time
    present_over_time quantile_over_time stddev_over_time stdvar_over_time mad_over_time rate
    irate increase delta idelta deriv changes resets predict_linear
"""
_OVER_RANGE = frozenset(_OVER_RANGE_WORDS.split())
_ARITHMETIC = frozenset(["+", "-", "*", "/", "%", "^", "==", "!=", ">", "<", ">=", "<="])

_OPERATORS = (
    (promql.MatchOp.Equal, "="),
    (promql.MatchOp.NotEqual, "!="),
    (promql.MatchOp.Re, "=~"),
    (promql.MatchOp.NotRe, "!~"),
)
_TYPES = (
    (promql.ValueType.Vector, "vector"),
    (promql.ValueType.Scalar, "scalar"),
    (promql.ValueType.Matrix, "range"),
    (promql.ValueType.String, "string"),
)

_LEAVES: Mapping[type, str] = {
    promql.MatrixSelector: "range",
    promql.SubqueryExpr: "range",
    promql.StringLiteral: "string",
    promql.NumberLiteral: "scalar",
}

# The labels that are kept; None for all of them.
Labels: TypeAlias = frozenset[str] | None


def parse(query: str) -> promql.Expr:
    """Read `query`.

    Raises ValueError with the parser's words.
    """
    return promql.parse(query)


def walked(query: str) -> list[promql.Expr]:
    """Give every part of `query`, outermost first; none when it is not PromQL."""
    try:
        return _parts(parse(query))
    except ValueError:
        return []


def selectors(expression: promql.Expr) -> list[promql.VectorSelector]:
    """Give every series selector in `expression`, from left to right."""
    return [part for part in _parts(expression) if isinstance(part, promql.VectorSelector)]


def alternatives_of(selector: promql.VectorSelector) -> list[tuple[Matcher, ...]]:
    """Give the matchers of a selector: one tuple, or several where it says `or` between them."""
    groups = selector.matchers.or_matchers or [selector.matchers.matchers]
    return [tuple(map(_matcher, group)) for group in groups]


def result_type(expression: promql.Expr) -> str:
    """Give what it evaluates to: `vector`, `scalar`, `range` or `string`."""
    match expression:
        case promql.ParenExpr() | promql.UnaryExpr():
            return result_type(expression.expr)
        case promql.BinaryExpr():
            sides = {result_type(expression.lhs), result_type(expression.rhs)}
            return "scalar" if sides == {"scalar"} else "vector"
        case promql.Call():
            return next(text for kind, text in _TYPES if kind == expression.func.return_type)
        case _:
            return _LEAVES.get(type(expression), "vector")


def is_number(expression: promql.Expr) -> bool:
    """Tell whether it is a constant: numbers, signs, brackets and arithmetic only."""
    match expression:
        case promql.NumberLiteral():
            return True
        case promql.ParenExpr() | promql.UnaryExpr():
            return is_number(expression.expr)
        case promql.BinaryExpr():
            return is_number(expression.lhs) and is_number(expression.rhs)
        case _:
            return False


def vectors_of(call: promql.Call) -> list[promql.Expr]:
    """Give the arguments of a function that are no constants."""
    return [argument for argument in call.args if not is_number(argument)]


def kept_labels(expression: promql.Expr) -> Labels:
    """Give the labels that every sample keeps, its series' own values; None for all.

    Raises ValueError when the simple test cannot tell: anything but selectors, functions over
    ranges and of single values, arithmetic with numbers, and aggregation to all or `by` labels.
    """
    match expression:
        case promql.VectorSelector() | promql.MatrixSelector():
            return None
        case promql.ParenExpr() | promql.UnaryExpr():
            return kept_labels(expression.expr)
        case promql.Call():
            return _kept_by_call(expression)
        case promql.BinaryExpr():
            return _kept_by_arithmetic(expression)
        case promql.AggregateExpr():
            return _kept_by_aggregation(expression)
        case _:
            raise _unclear(expression)


def _kept_by_call(call: promql.Call) -> Labels:
    vectors = vectors_of(call)
    if call.func.name not in _ELEMENTWISE | _OVER_RANGE or len(vectors) != 1:
        raise _unclear(call)
    return kept_labels(vectors[0])


def _kept_by_arithmetic(expression: promql.BinaryExpr) -> Labels:
    sides = [side for side in (expression.lhs, expression.rhs) if not is_number(side)]
    if str(expression.op) not in _ARITHMETIC or len(sides) != 1:
        raise _unclear(expression)
    return kept_labels(sides[0])


def _kept_by_aggregation(expression: promql.AggregateExpr) -> Labels:
    by = expression.modifier
    if str(expression.op) not in _AGGREGATIONS or expression.param is not None:
        raise _unclear(expression)
    if by is not None and by.type != promql.AggModifierType.By:
        raise _unclear(expression)
    inner = kept_labels(expression.expr)
    if by is None:
        return frozenset()
    return frozenset(by.labels) if inner is None else inner & frozenset(by.labels)


def _matcher(parsed: promql.Matcher) -> Matcher:
    operator = next(text for operator, text in _OPERATORS if operator == parsed.op)
    return Matcher(parsed.name, operator, parsed.value)


def _parts(expression: promql.Expr) -> list[promql.Expr]:
    found: list[promql.Expr] = []
    promql.walk(expression, found.append)
    return found


def _unclear(expression: promql.Expr) -> ValueError:
    return ValueError(f"it is not certain which labels {expression} keeps")
