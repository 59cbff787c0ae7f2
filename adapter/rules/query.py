"""What can be told about a rule's queries before Prometheus is asked."""

import re
from collections.abc import Callable

import promql_parser as promql

from adapter.rules.expressions import parse, result_type
from adapter.rules.external import ExternalRule
from adapter.rules.matchers import Matcher
from adapter.rules.nodes import Cursor
from adapter.rules.rule import Rule, SeriesRule
from adapter.rules.template import Template
from adapter.rules.values import Unserved

SELECTOR_CURE = """write a selector such as '{__name__=~"DCGM_FI_.*",UUID!=""}'"""
_UNKNOWN_FUNCTION = re.compile(r"unknown function with name '(.*)'")


def check_series_query(text: str, cursor: Cursor) -> None:
    """Note a problem when `text` is not a series selector, as `match[]` takes it."""
    try:
        parsed = parse(text)
    except ValueError as error:
        cursor.problem(f"not a series selector: {error}", SELECTOR_CURE)
        return
    if not isinstance(parsed, promql.VectorSelector):
        cursor.problem(
            "not a series selector: a function or an operator stands in it", SELECTOR_CURE
        )
    elif parsed.offset or parsed.at:
        cursor.problem("a series selector takes neither offset nor @", "remove it")


def check_query(
    template: Template, sample_of: Callable[[], str], cursor: Cursor, *, scalars: bool = False
) -> None:
    """Note a problem when what `sample_of` makes of `template` is not PromQL, or gives no vector.

    A function that the parser does not know is only a warning, for the backend may have it; so is
    a fault of a query that depends on `.LabelValuesByName`, whose values are not known yet. With
    `scalars` a query may give one number as well.
    """
    try:
        query = sample_of()
    except ValueError as error:
        _tell_unfilled(template, cursor, error)
        return
    try:
        kind = result_type(parse(query))
    except ValueError as error:
        _tell(template, cursor, str(error))
        return
    if kind not in ({"vector", "scalar"} if scalars else {"vector"}):
        cursor.problem(
            f"it gives a {kind}, not one value for each series now",
            "wrap a range in a function such as avg_over_time(...[3m])",
        )


def sample(rule: Rule, group_by: str = "") -> str:
    """Give the query of `rule` for a series and objects such as there may be.

    Raises ValueError as `Rule.render` does.
    """
    label = group_by or next((name for name, _, _ in rule.overrides), "sample_label")
    return rule.render(_sample_series(rule), (Matcher(label, "=", "sample-name"),), (label,))


def external_sample(rule: ExternalRule) -> str:
    """Give the query of `rule` for a series such as there may be, asked with a selector.

    Raises ValueError as `ExternalRule.render` does.
    """
    return rule.render(_sample_series(rule), (Matcher("sample_label", "=", "sample-name"),))


def _sample_series(rule: SeriesRule) -> str:
    named = re.match(r"[a-zA-Z_:][a-zA-Z0-9_:]*", rule.series_query.strip())
    return named[0] if named else "sample_series"


def _tell_unfilled(template: Template, cursor: Cursor, error: ValueError) -> None:
    fault, cure = f"it cannot be filled in: {error}", "correct the text between << and >>"
    if template.uses("LabelValuesByName") and not isinstance(error, Unserved):
        cursor.warn(f"with sample values {fault}", "check what it becomes")
    else:
        cursor.problem(f"with sample values {fault}", cure)


def _tell(template: Template, cursor: Cursor, words: str) -> None:
    if found := _UNKNOWN_FUNCTION.fullmatch(words):
        fault = f"{found[1]} is no function of Prometheus that is known here"
        cursor.warn(fault, "check that your backend has it, or correct the name")
    elif template.uses("LabelValuesByName"):
        cursor.warn(f"with sample values it is not PromQL: {words}", "check what it becomes")
    else:
        cursor.problem(f"with sample values it is not PromQL: {words}", "correct the query")
