"""What a check says of a rule beside the warnings of its file, without asking Prometheus.

These are worth a look, and not worth a line in the log of each start.
"""

from collections.abc import Callable, Iterator

from adapter.errors import Problem
from adapter.rules.external import ExternalRule
from adapter.rules.promql import aggregates
from adapter.rules.query import external_sample, sample
from adapter.rules.rule import Rule, SeriesRule
from adapter.rules.types import misread

UNNAMABLE = frozenset("/%")
NAME_CURE = "an HPA takes no name that is empty or has / or % in it: write another name.as"


def told(rule: SeriesRule, key: str, fault: str, cure: str) -> Problem:
    """Give a problem of `rule`, under the name that the file has for its list."""
    listed = f"externalRules.{key}" if isinstance(rule, ExternalRule) else key
    return Problem(
        file=rule.file, line=rule.line, rule=rule.number, key=listed, fault=fault, cure=cure
    )


def scrutinise(rule: SeriesRule) -> Iterator[Problem]:
    """Give what is in doubt about the names and the aggregation of `rule`."""
    if found := unnamable(rule):
        yield told(rule, "name.as", f"every name has {' and '.join(found)} in it", NAME_CURE)
    query = example(rule)
    if isinstance(rule, Rule) and query and not aggregates(query):
        yield told(
            rule,
            "metricsQuery",
            "it does not aggregate: several series of one object, such as the GPUs of a pod, become"
            " one value by the adapter's choice, not the rule's",
            "say which: avg(...) by (<<.GroupBy>>), or sum, or max",
        )


def unnamable(rule: SeriesRule) -> list[str]:
    """Give the characters that stand in every name of the rule and that an HPA does not take."""
    parts = [part for part in rule.naming.expansion.parts if isinstance(part, str)]
    return sorted(UNNAMABLE & set("".join(parts)))


def misreadings(rule: SeriesRule, query: str, kind_of: Callable[[str], str]) -> Iterator[Problem]:
    """Give the counters of `query` that are read as gauges, and the gauges read as counters."""
    for fault, cure in misread(query, kind_of):
        yield told(rule, "metricsQuery", fault, cure)


def example(rule: SeriesRule) -> str:
    """Give the query of `rule` for a series such as there may be; empty when it cannot be made."""
    try:
        return external_sample(rule) if isinstance(rule, ExternalRule) else _sample(rule)
    except ValueError:
        return ""


def _sample(rule: SeriesRule) -> str:
    return sample(rule) if isinstance(rule, Rule) else ""
