"""Why no series matches a query."""

from collections.abc import AsyncIterator

from adapter.check.backend import Look
from adapter.check.labels import some
from adapter.errors import QueryRefused
from adapter.rules.expressions import alternatives_of, parse, selectors
from adapter.rules.matchers import Matcher


async def why_none(look: Look, selector: str) -> str:
    """Say why `selector`, a series selector, selects nothing now; raises PrometheusDown."""
    [parsed, *_] = selectors(parse(selector))
    name = parsed.name or ""
    if name and not await look.names(name):
        return f"there is no series {name} now"
    groups = alternatives_of(parsed)
    conditions = groups[0] if len(groups) == 1 else ()
    unmet = [one async for one in _unmet(look, name, conditions)]
    if not unmet:
        return "no series matches it now"
    listed = " and none has ".join(map(str, unmet))
    if not name:
        return f"of all series none has {listed}"
    return f"none of the series {name} has {listed}: they carry {some(await look.labels(name))}"


async def _unmet(look: Look, name: str, conditions: tuple[Matcher, ...]) -> AsyncIterator[Matcher]:
    for condition in conditions:
        try:
            found = await look.names(f"{name}{{{condition}}}")
        except QueryRefused:
            # Alone it would select everything, which Prometheus does not do.
            continue
        if not found:
            yield condition
