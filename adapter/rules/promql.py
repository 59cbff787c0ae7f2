"""What a query of PromQL does, read from its syntax tree."""

import math
from enum import StrEnum

import promql_parser as promql

from adapter.rules.matchers import Matcher
from adapter.rules.rule import Rule


class Spread(StrEnum):
    """For how many objects one query may answer and give each the answer of its own query."""

    CLUSTER = "cluster"
    NAMESPACE = "namespace"
    REQUEST = "request"


_AGGREGATIONS = frozenset({"sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"})
_UNIT_AGGREGATIONS = frozenset({"avg", "min", "max"})
_ELEMENTWISE = frozenset(
    [
        "abs",
        "ceil",
        "floor",
        "round",
        "sqrt",
        "exp",
        "ln",
        "log2",
        "log10",
        "sgn",
        "clamp",
        "clamp_min",
        "clamp_max",
        "deg",
        "rad",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cos",
        "cosh",
        "sin",
        "sinh",
        "tan",
        "tanh",
    ]
)
_OVER_RANGE = frozenset(
    [
        "avg_over_time",
        "min_over_time",
        "max_over_time",
        "sum_over_time",
        "count_over_time",
        "last_over_time",
        "present_over_time",
        "quantile_over_time",
        "stddev_over_time",
        "stdvar_over_time",
        "mad_over_time",
        "rate",
        "irate",
        "increase",
        "delta",
        "idelta",
        "deriv",
        "changes",
        "resets",
        "predict_linear",
    ]
)
_UNIT_FUNCTIONS = frozenset(
    [
        "ceil",
        "floor",
        "round",
        "avg_over_time",
        "min_over_time",
        "max_over_time",
        "last_over_time",
        "quantile_over_time",
    ]
)
_ARITHMETIC = frozenset(["+", "-", "*", "/", "%", "^", "==", "!=", ">", "<", ">=", "<="])

Labels = frozenset[str] | None
"""The labels that are kept; None for all of them."""


def parse(query: str) -> promql.Expr:
    """Read `query`.

    Raises ValueError with the parser's words.
    """
    return promql.parse(query)


def spread(rule: Rule, series: str, object_label: str, namespace_label: str) -> Spread:
    """Tell for how many objects one query of `rule` may answer.

    `namespace_label` is empty for kinds without namespace, and for namespaces themselves, whose
    own label is `object_label`. CLUSTER: every sample keeps both labels and comes from series with
    the same ones. NAMESPACE: the same within one namespace, for the object's label. REQUEST
    whenever this is not certain.
    """
    if rule.metrics_query.uses("LabelValuesByName"):
        return Spread.REQUEST
    try:
        kept = _kept_when_limited(rule, series, object_label)
    except ValueError:
        return Spread.REQUEST
    if kept is not None and object_label not in kept:
        return Spread.REQUEST
    if not namespace_label or kept is None or namespace_label in kept:
        return Spread.CLUSTER
    return Spread.NAMESPACE


def window(query: str) -> int | None:
    """Give the longest range in `query`, in whole seconds rounded up; None without a range."""
    ranges = [
        expression.range
        for expression in _all(query)
        if isinstance(expression, promql.MatrixSelector | promql.SubqueryExpr)
    ]
    seconds = [math.ceil(length.total_seconds()) for length in ranges if length]
    return max(seconds, default=None)


def keeps_unit(query: str) -> bool:
    """Tell whether the values of `query` have the unit and the possible range of its series."""
    try:
        return _keeps_unit(parse(query))
    except ValueError:
        return False


def aggregates(query: str) -> bool:
    """Tell whether `query` aggregates over labels anywhere."""
    return any(isinstance(expression, promql.AggregateExpr) for expression in _all(query))


def with_matcher(selector: str, matcher: Matcher) -> str:
    """Give the series selector with `matcher` added, in each alternative if it has some.

    Raises ValueError when `selector` is not a series selector.
    """
    parsed = parse(selector)
    if not isinstance(parsed, promql.VectorSelector) or parsed.offset or parsed.at:
        msg = f"{selector!r} is not a series selector"
        raise ValueError(msg)
    alternatives = parsed.matchers.or_matchers or [parsed.matchers.matchers]
    listed = [
        ",".join([*(str(_matcher(old)) for old in matchers), str(matcher)])
        for matchers in alternatives
    ]
    return f"{parsed.name or ''}{{{' or '.join(listed)}}}"


_PROBE = Matcher("spread_probe", "=", "1")
_OPERATORS = (
    (promql.MatchOp.Equal, "="),
    (promql.MatchOp.NotEqual, "!="),
    (promql.MatchOp.Re, "=~"),
    (promql.MatchOp.NotRe, "!~"),
)


def matchers_of(selector: promql.VectorSelector) -> tuple[Matcher, ...]:
    """Give the matchers of a selector without alternatives, in their order."""
    return tuple(_matcher(parsed) for parsed in selector.matchers.matchers)


def selectors(expression: promql.Expr) -> list[promql.VectorSelector]:
    """Give every series selector in `expression`, from left to right."""
    return [part for part in _walked(expression) if isinstance(part, promql.VectorSelector)]


def kept_labels(expression: promql.Expr) -> Labels:
    """Give the labels that every sample keeps, its series' own values; None for all.

    Raises ValueError when the simple test cannot tell: anything but selectors, functions over
    ranges and of single values, arithmetic with numbers, and aggregation `by`.
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


def _kept_when_limited(rule: Rule, series: str, object_label: str) -> Labels:
    query = rule.render(series, (_PROBE,), (object_label,))
    expression = parse(query)
    found = selectors(expression)
    if query.count(_PROBE.label) != len(found) or not all(map(_is_probed, found)):
        msg = "the matchers do not stand in each selector, and only there"
        raise ValueError(msg)
    return kept_labels(expression)


def _is_probed(selector: promql.VectorSelector) -> bool:
    matchers = matchers_of(selector)
    # Several names could give two series with the same labels once a function drops the name:
    # one pod's clash would then fail the query for all.
    named = bool(selector.name) or any(
        matcher.label == "__name__" and matcher.operator == "=" for matcher in matchers
    )
    return named and not selector.matchers.or_matchers and _PROBE in matchers


def _kept_by_call(call: promql.Call) -> Labels:
    vectors = [argument for argument in call.args if not _is_number(argument)]
    if call.func.name not in _ELEMENTWISE | _OVER_RANGE or len(vectors) != 1:
        raise _unclear(call)
    return kept_labels(vectors[0])


def _kept_by_arithmetic(expression: promql.BinaryExpr) -> Labels:
    sides = [side for side in (expression.lhs, expression.rhs) if not _is_number(side)]
    if str(expression.op) not in _ARITHMETIC or len(sides) != 1:
        raise _unclear(expression)
    return kept_labels(sides[0])


def _kept_by_aggregation(expression: promql.AggregateExpr) -> Labels:
    by = expression.modifier
    if str(expression.op) not in _AGGREGATIONS or expression.param is not None:
        raise _unclear(expression)
    if by is None or by.type != promql.AggModifierType.By:
        raise _unclear(expression)
    inner = kept_labels(expression.expr)
    return frozenset(by.labels) if inner is None else inner & frozenset(by.labels)


def _is_number(expression: promql.Expr) -> bool:
    match expression:
        case promql.NumberLiteral():
            return True
        case promql.ParenExpr() | promql.UnaryExpr():
            return _is_number(expression.expr)
        case promql.BinaryExpr():
            return _is_number(expression.lhs) and _is_number(expression.rhs)
        case _:
            return False


def _keeps_unit(expression: promql.Expr) -> bool:
    match expression:
        case promql.VectorSelector() | promql.MatrixSelector():
            return True
        case promql.ParenExpr():
            return _keeps_unit(expression.expr)
        case promql.Call():
            vectors = [argument for argument in expression.args if not _is_number(argument)]
            served = expression.func.name in _UNIT_FUNCTIONS and len(vectors) == 1
            return served and _keeps_unit(vectors[0])
        case promql.AggregateExpr():
            served = str(expression.op) in _UNIT_AGGREGATIONS
            return served and _keeps_unit(expression.expr)
        case _:
            return False


def _matcher(parsed: promql.Matcher) -> Matcher:
    operator = next(text for operator, text in _OPERATORS if operator == parsed.op)
    return Matcher(parsed.name, operator, parsed.value)


def _all(query: str) -> list[promql.Expr]:
    try:
        return _walked(parse(query))
    except ValueError:
        return []


def _walked(expression: promql.Expr) -> list[promql.Expr]:
    found: list[promql.Expr] = []
    promql.walk(expression, found.append)
    return found


def _unclear(expression: promql.Expr) -> ValueError:
    return ValueError(f"it is not certain which labels {expression} keeps")
