"""Queries whose result cannot carry a label, whatever the series."""

import promql_parser as promql

from adapter.rules.expressions import is_number

# They keep the whole series that they choose.
_CHOOSING = frozenset({"topk", "bottomk", "limitk", "limit_ratio"})
# They can give a label that their argument does not have.
_WRITING = frozenset({"label_replace", "label_join", "info", "absent", "absent_over_time"})


def surely_drops(expression: promql.Expr, label: str) -> bool:
    """Tell whether no sample of `expression` can carry `label`; False when that is not certain."""
    match expression:
        case promql.NumberLiteral() | promql.StringLiteral():
            return True
        case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
            return surely_drops(expression.expr, label)
        case promql.Call():
            return _call_drops(expression, label)
        case promql.AggregateExpr():
            return _aggregation_drops(expression, label)
        case promql.BinaryExpr():
            return _operator_drops(expression, label)
        case _:
            return False


def _call_drops(call: promql.Call, label: str) -> bool:
    if call.func.name in _WRITING:
        return False
    return all(surely_drops(argument, label) for argument in call.args)


def _aggregation_drops(expression: promql.AggregateExpr, label: str) -> bool:
    operation, grouping = str(expression.op), expression.modifier
    if operation == "count_values":
        return False
    if operation in _CHOOSING:
        return surely_drops(expression.expr, label)
    if grouping is None:
        return True
    listed = label in grouping.labels
    kept = listed if grouping.type == promql.AggModifierType.By else not listed
    return not kept or surely_drops(expression.expr, label)


def _operator_drops(expression: promql.BinaryExpr, label: str) -> bool:
    left, right = (surely_drops(side, label) for side in (expression.lhs, expression.rhs))
    if is_number(expression.lhs) or is_number(expression.rhs):
        return left and right
    match str(expression.op):
        case "or":
            return left and right
        case "and" | "unless":
            return left
        case _:
            return _matching_drops(expression, label) or (left and right)


def _matching_drops(expression: promql.BinaryExpr, label: str) -> bool:
    """Tell it of one-to-one matching, whose result has the labels that were matched on."""
    modifier = expression.modifier
    if modifier is None or modifier.card != promql.VectorMatchCardinality.OneToOne:
        return False
    if modifier.matching is None:
        return False
    listed = label in modifier.matching.labels
    matched = listed if modifier.matching.type == promql.LabelModifierType.Include else not listed
    return not matched
