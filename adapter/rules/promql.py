"""What a query of PromQL does, and for how many objects it may answer at once."""

import math
import re
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum

import promql_parser as promql

from adapter.rules.expressions import (
    Labels,
    alternatives_of,
    kept_labels,
    parse,
    result_type,
    selectors,
    vectors_of,
    walked,
)
from adapter.rules.matchers import Matcher
from adapter.rules.rule import Rule
from adapter.rules.template import Template


class Spread(StrEnum):
    """For how many objects one query may answer and give each the answer of its own query."""

    CLUSTER = "cluster"
    NAMESPACE = "namespace"
    REQUEST = "request"


_UNIT_AGGREGATIONS = frozenset({"avg", "min", "max"})
_SUMS = _UNIT_AGGREGATIONS | {"sum"}
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
_PROBE = Matcher("spread_probe", "=", "1")
_PROBED = re.compile(rf"\{{{_PROBE}\}}|, *{_PROBE}|{_PROBE}, *")


def spread(rule: Rule, series: str, object_label: str, namespace_label: str) -> Spread:
    """Tell for how many objects one query of `rule` may answer.

    `namespace_label` is empty for kinds without namespace, and for namespaces themselves, whose
    own label is `object_label`. CLUSTER: every sample keeps both labels and comes from series with
    the same ones. NAMESPACE: the same within one namespace, for the object's label. REQUEST
    whenever this is not certain.
    """
    return spread_of(
        rule.metrics_query,
        lambda matchers: rule.render(series, matchers, (object_label,)),
        (object_label,),
        namespace_label,
    )


def spread_of(
    template: Template,
    render: Callable[[Sequence[Matcher]], str],
    object_labels: Collection[str],
    namespace_label: str,
) -> Spread:
    """Tell it as `spread` does, of what `render` makes of `template` with some matchers.

    All of `object_labels` must be kept.
    """
    return spread_and_reason(template, render, object_labels, namespace_label)[0]


def spread_and_reason(
    template: Template,
    render: Callable[[Sequence[Matcher]], str],
    object_labels: Collection[str],
    namespace_label: str,
) -> tuple[Spread, str]:
    """Give what `spread_of` tells, and why it is no wider; the reason for CLUSTER is empty."""
    if template.uses("LabelValuesByName"):
        return Spread.REQUEST, ".LabelValuesByName holds the objects of one request"
    if not template.only_prints("LabelMatchers"):
        return Spread.REQUEST, ".LabelMatchers decides what the query is, or is changed in it"
    try:
        kept = _kept(render((_PROBE,)))
    except ValueError as error:
        return Spread.REQUEST, _PROBED.sub("", str(error))
    if kept is not None and not kept.issuperset(object_labels):
        lost = ", ".join(label for label in object_labels if label not in kept)
        return Spread.REQUEST, f"the result does not keep {lost}"
    if not namespace_label or kept is None or namespace_label in kept:
        return Spread.CLUSTER, ""
    return Spread.NAMESPACE, f"the result does not keep {namespace_label}"


def window(query: str) -> int | None:
    """Give the longest range in `query`, in whole seconds rounded up; None without a range."""
    ranges = [
        expression.range
        for expression in walked(query)
        if isinstance(expression, promql.MatrixSelector | promql.SubqueryExpr)
    ]
    seconds = [math.ceil(length.total_seconds()) for length in ranges if length]
    return max(seconds, default=None)


def keeps_unit(query: str) -> bool:
    """Tell whether the values of `query` have the unit and the possible range of its series."""
    try:
        return _keeps_unit(parse(query), _UNIT_AGGREGATIONS)
    except ValueError:
        return False


def sums_unit(query: str) -> bool:
    """Tell whether the values of `query` are such values as `keeps_unit` says, or sums of them."""
    try:
        return _keeps_unit(parse(query), _SUMS)
    except ValueError:
        return False


def aggregates(query: str) -> bool:
    """Tell whether `query` aggregates over labels anywhere."""
    return any(isinstance(expression, promql.AggregateExpr) for expression in walked(query))


def with_matcher(selector: str, matcher: Matcher) -> str:
    """Give the series selector with `matcher` added, in each alternative if it has some.

    Raises ValueError when `selector` is not a series selector.
    """
    parsed = parse(selector)
    if not isinstance(parsed, promql.VectorSelector) or parsed.offset or parsed.at:
        msg = f"{selector!r} is not a series selector"
        raise ValueError(msg)
    listed = [",".join(map(str, (*group, matcher))) for group in alternatives_of(parsed)]
    return f"{parsed.name or ''}{{{' or '.join(listed)}}}"


def _kept(query: str) -> Labels:
    expression = parse(query)
    found = selectors(expression)
    if query.count(_PROBE.label) != len(found) or not all(map(_is_probed, found)):
        msg = "the matchers do not stand in each selector, and only there"
        raise ValueError(msg)
    if result_type(expression) != "vector":
        msg = "it does not give one value for each series"
        raise ValueError(msg)
    return kept_labels(expression)


def _is_probed(selector: promql.VectorSelector) -> bool:
    matchers, *others = alternatives_of(selector)
    # Several names could give two series with the same labels once a function drops the name:
    # one pod's clash would then fail the query for all.
    named = bool(selector.name) or any(
        matcher.label == "__name__" and matcher.operator == "=" for matcher in matchers
    )
    return named and not others and _PROBE in matchers


def _keeps_unit(expression: promql.Expr, aggregations: frozenset[str]) -> bool:
    match expression:
        case promql.VectorSelector() | promql.MatrixSelector():
            return True
        case promql.ParenExpr():
            return _keeps_unit(expression.expr, aggregations)
        case promql.Call():
            vectors = vectors_of(expression)
            served = expression.func.name in _UNIT_FUNCTIONS and len(vectors) == 1
            return served and _keeps_unit(vectors[0], aggregations)
        case promql.AggregateExpr():
            served = str(expression.op) in aggregations
            return served and _keeps_unit(expression.expr, aggregations)
        case _:
            return False
