"""The series that a rule finds: which there are, how often they are scraped, of which kind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapter.check.absence import why_none
from adapter.check.backend import Look
from adapter.check.report import Finding, Matched, Offered, Severity
from adapter.rules.expressions import parse, selectors
from adapter.rules.matchers import Matcher
from adapter.rules.promql import with_matcher
from adapter.rules.reads import reads_of
from adapter.rules.rule import SeriesRule
from adapter.rules.scrutiny import example, misreadings, told
from adapter.rules.types import kind_by_name

# Of a rule that takes many series the values of a few say enough about the rule.
MOST_LOOKED_AT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Names and labels of the series that a rule's query selects, sorted."""

    names: Sequence[str] = ()
    labels: Sequence[str] = ()


class Inspection:
    """Looks at the series of one rule; `findings` grow meanwhile. Raises SourceErrors."""

    def __init__(self, rule: SeriesRule, look: Look) -> None:
        """Look at nothing yet."""
        self._rule = rule
        self._look = look
        self.findings: list[Finding] = []

    async def found(self) -> Series:
        """Give the series; why there are none is a finding."""
        query = self._rule.series_query
        if names := await self._look.names(query):
            return Series(names=names, labels=await self._look.labels(query))
        await self._tell_of_none()
        return Series()

    async def matched(self, found: Series, metrics: Sequence[Offered]) -> Matched:
        """Give all that is known, with the metrics that come of the series that were found."""
        if not found.names:
            return Matched(series=0)
        interval = await self._interval(found.names[0])
        self.findings += _short_windows(self._rule, metrics, interval or 0)
        await self._doubt_kinds(metrics)
        return Matched(
            series=await self._look.count(self._rule.series_query),
            names=tuple(found.names),
            labels=tuple(found.labels),
            interval=interval,
            metrics=tuple(metrics),
        )

    async def _interval(self, name: str) -> float | None:
        sample = await self._look.one(named(self._rule.series_query, name))
        return await self._look.interval(sample) if sample else None

    async def _doubt_kinds(self, metrics: Sequence[Offered]) -> None:
        looked_at = [metric.query for metric in metrics if metric.objects is not None]
        queries = list(dict.fromkeys(looked_at))
        read = dict.fromkeys(read.series for query in queries for read in reads_of(query))
        kinds = {series: await self._look.kind(series) for series in read if series}
        # A rule for many series is not written with one of them in mind.
        severity = Severity.WARNING if len(kinds) == 1 else Severity.NOTE
        for query in queries:
            problems = misreadings(self._rule, query, lambda name: kinds.get(name, ""))
            self.findings += [Finding.of(severity, problem) for problem in problems]

    async def _tell_of_none(self) -> None:
        fault = await why_none(self._look, self._rule.series_query)
        cure = "see that the target is scraped, and how name and labels are spelled"
        problems = [
            told(self._rule, "seriesQuery", fault, cure),
            # Of what is not there only the name can tell.
            *misreadings(self._rule, example(self._rule), kind_by_name),
        ]
        self.findings += [Finding.of(Severity.WARNING, problem) for problem in problems]


def _short_windows(
    rule: SeriesRule, metrics: Sequence[Offered], interval: float
) -> Iterator[Finding]:
    windows = {metric.window for metric in metrics if metric.window}
    for window in sorted(one for one in windows if one < 2 * interval):
        fault = (
            f"a window of {window} s is shorter than two scrapes, which are {interval:g} s apart: it"
            " often holds too few samples"
        )
        problem = told(rule, "metricsQuery", fault, f"make it {4 * interval:g} s or longer")
        yield Finding.of(Severity.WARNING, problem)


def named(selector: str, name: str) -> str:
    """Give `selector` for the series that are called `name` only."""
    [parsed, *_] = selectors(parse(selector))
    return selector if parsed.name else with_matcher(selector, Matcher("__name__", "=", name))
