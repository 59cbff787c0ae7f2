"""One rule of the file, read into a Rule; whatever is wrong with it is noted, not raised."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from adapter.rules.external import ExternalRule
from adapter.rules.naming import Filter, Naming, Pattern, compiled, parse_naming
from adapter.rules.nodes import Cursor
from adapter.rules.query import (
    SELECTOR_CURE,
    check_query,
    check_series_query,
    external_sample,
    sample,
)
from adapter.rules.resources import ResourceTemplate, parse_resource_template
from adapter.rules.rule import Override, Rule, SeriesRule
from adapter.rules.template import Template, parse

RULE_KEYS = ("seriesQuery", "seriesFilters", "resources", "name", "metricsQuery")
BOOLEANS = {
    **dict.fromkeys(("y", "yes", "on", "true"), True),
    **dict.fromkeys(("n", "no", "off", "false", ""), False),
}
Read = TypeVar("Read", bound=SeriesRule)
_WORD = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.IGNORECASE)
_GROUP = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?")


def read_rule(cursor: Cursor) -> Rule | None:
    """Give the rule at `cursor`, which carries its number; None when there is a problem in it."""
    before = len(cursor.findings.problems)
    rule = _read(cursor, Rule)
    if rule is None:
        return None
    check_query(rule.metrics_query, lambda: sample(rule), dict(cursor.entries())["metricsQuery"])
    return rule if len(cursor.findings.problems) == before else None


def read_external_rule(cursor: Cursor) -> ExternalRule | None:
    """Give the rule of external metrics at `cursor`, as read_rule does."""
    before = len(cursor.findings.problems)
    read = _read(cursor, ExternalRule)
    if read is None:
        return None
    given = dict(cursor.entries())
    rule = replace(read, namespaced=_namespaced(given.get("resources")))
    check_query(
        rule.metrics_query, lambda: external_sample(rule), given["metricsQuery"], scalars=True
    )
    return rule if len(cursor.findings.problems) == before else None


def _read(cursor: Cursor, make: type[Read]) -> Read | None:
    given = cursor.mapping(*RULE_KEYS)
    if not cursor.is_mapping and not cursor.is_null:
        return None
    series_query = _series_query(cursor, given)
    filters = _filters(given.get("seriesFilters"))
    overrides, template = read_resources(given.get("resources"))
    naming = _naming(given.get("name")) or parse_naming("", "")
    query = read_query(cursor, given, "metricsQuery")
    if query is None:
        return None
    return make(
        number=cursor.rule,
        file=cursor.findings.file,
        line=cursor.line,
        series_query=series_query,
        filters=filters,
        overrides=overrides,
        template=template,
        naming=naming,
        metrics_query=query,
    )


def read_query(parent: Cursor, given: Mapping[str, Cursor], name: str) -> Template | None:
    """Give the template of the query under the key `name` of `parent`."""
    where, text = _required(
        parent, given, name, "write one such as <<.Series>>{<<.LabelMatchers>>}"
    )
    try:
        return parse(text) if text.strip() else None
    except ValueError as error:
        where.problem(f"not a template: {error}", "correct the text between << and >>")
        return None


def read_resources(cursor: Cursor | None) -> tuple[tuple[Override, ...], ResourceTemplate | None]:
    """Give the overrides, in order, and the template of a `resources` section."""
    given = cursor.mapping("template", "overrides", "namespaced") if cursor else {}
    if "namespaced" in given:
        _boolean(given["namespaced"])
    overrides = given["overrides"].entries() if "overrides" in given else []
    read = (_override(label, override) for label, override in overrides)
    return tuple(filter(None, read)), _template(given.get("template"))


def _series_query(parent: Cursor, given: Mapping[str, Cursor]) -> str:
    where, text = _required(parent, given, "seriesQuery", SELECTOR_CURE)
    if text.strip():
        check_series_query(text, where)
    return text


def _required(
    parent: Cursor, given: Mapping[str, Cursor], name: str, cure: str
) -> tuple[Cursor, str]:
    where = given.get(name) or parent.below(name, parent.node)
    text = where.text() if name in given else ""
    if not text.strip() and (name not in given or where.is_text):
        where.problem("missing or empty", cure)
    return where, text


def _filters(cursor: Cursor | None) -> tuple[Filter, ...]:
    read = (_filter(item) for item in cursor.items()) if cursor else ()
    return tuple(filter(None, read))


def _filter(cursor: Cursor) -> Filter | None:
    given = cursor.mapping("is", "isNot")
    patterns = [(key, value) for key, value in given.items() if value.text()]
    if len(patterns) != 1:
        fault = "both is and isNot are given" if patterns else "neither is nor isNot is given"
        cursor.problem(fault, "give exactly one of them; two conditions are two elements")
        return None
    key, value = patterns[0]
    pattern = _pattern(value)
    return Filter(pattern, negated=key == "isNot") if pattern else None


def _naming(cursor: Cursor | None) -> Naming | None:
    given = cursor.mapping("matches", "as") if cursor else {}
    matches = given["matches"].text() if "matches" in given else ""
    expansion = given["as"].text() if "as" in given else ""
    if matches and _pattern(given["matches"]) is None:
        return None
    try:
        naming = parse_naming(matches, expansion)
    except ValueError as error:
        given["matches"].problem(str(error), 'write name.as, for example "${1}"')
        return None
    if "as" in given:
        _check_references(naming, given["as"])
    return naming


def _check_references(naming: Naming, cursor: Cursor) -> None:
    for reference in naming.expansion.references:
        if reference.exists_in(naming.pattern):
            continue
        fault = f"{reference.text} means a group that name.matches does not have: always empty"
        number = re.match(r"[$]([1-9])_?", reference.text)
        rest = reference.text[2:]
        cure = f"write ${{{number[1]}}}{rest}" if number and rest else "name a group of the pattern"
        cursor.warn(fault, cure)


def _template(cursor: Cursor | None) -> ResourceTemplate | None:
    text = cursor.text() if cursor else ""
    if cursor is None or not text:
        return None
    try:
        return parse_resource_template(text)
    except ValueError as error:
        cursor.problem(f"not a template of labels: {error}", 'write one such as "<<.Resource>>"')
        return None


def _override(label: str, cursor: Cursor) -> Override | None:
    given = cursor.mapping("group", "resource")
    if not cursor.is_mapping and not cursor.is_null:
        return None
    group = given["group"].text() if "group" in given else ""
    word = given["resource"].text() if "resource" in given else ""
    cure = f"write {label}: {{resource: pod}}, with the kind that the label names"
    if not label:
        cursor.problem("the label has no name", "write the name of a label of the series")
    elif not word:
        cursor.problem("it names no resource", cure)
    elif not _WORD.fullmatch(word):
        cursor.problem(f"{word!r} is not a resource", _word_cure(word, cure))
    elif not _GROUP.fullmatch(group):
        cursor.problem(f"{group!r} is not an API group", "write one such as apps, or leave it out")
    else:
        return label, group, word
    return None


def _word_cure(word: str, cure: str) -> str:
    plural, _, group = word.partition(".")
    if _WORD.fullmatch(plural) and group and _GROUP.fullmatch(group):
        return f"write {{group: {group}, resource: {plural}}}"
    return cure


def _pattern(cursor: Cursor) -> Pattern | None:
    try:
        return compiled(cursor.text())
    except ValueError as error:
        cursor.problem(
            f"not a regular expression of RE2: {error}",
            "correct it; RE2 has no look-around and no back-references",
        )
        return None


def _namespaced(resources: Cursor | None) -> bool:
    given = dict(resources.entries()) if resources and resources.is_mapping else {}
    word = given["namespaced"].text().lower() if "namespaced" in given else ""
    # Empty is absent, and absent is true, as go-yaml leaves a pointer to a boolean alone.
    return BOOLEANS.get(word, True) if word else True


def _boolean(cursor: Cursor) -> None:
    if cursor.text().lower() not in BOOLEANS:
        cursor.problem("neither true nor false", "write true or false")
