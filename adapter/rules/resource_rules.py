"""`resourceRules`: read and checked, so that all problems of a file are told together."""

import re
from collections.abc import Mapping

from adapter.rules.nodes import Cursor
from adapter.rules.reading import read_query, read_resources

_DURATION = re.compile(r"0|(?=.)(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?", re.ASCII)


def read_resource_rules(cursor: Cursor, given: Mapping[str, Cursor]) -> None:
    """Note every problem of the section at `cursor`, whose values are `given`."""
    cursor.mapping("cpu", "memory", "window")
    for name in ("cpu", "memory"):
        if name in given:
            _check_rule(given[name])
    window = given.get("window")
    if window and not _DURATION.fullmatch(window.text()):
        window.problem("not a duration of Prometheus", "write one such as 3m or 1h30m")


def _check_rule(cursor: Cursor) -> None:
    given = cursor.mapping("containerQuery", "nodeQuery", "resources", "containerLabel")
    for name in ("containerQuery", "nodeQuery"):
        read_query(cursor, given, name)
    read_resources(given.get("resources"))
    if "containerLabel" in given:
        given["containerLabel"].text()
