"""What a check asks of Prometheus, within one span of time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Protocol

from adapter.engine.survey import NamesByLabel, SeriesIndex, Survey
from adapter.errors import EndpointMissing, QueryRefused
from adapter.model.objects import Sample
from adapter.rules.matchers import Matcher
from adapter.rules.types import family_of, kind_in_family

_LOOK_BACK = "15m"


class Backend(SeriesIndex, Protocol):
    """Prometheus; each method raises a SourceError."""

    async def query(self, promql: str) -> Sequence[Sample]:
        """Give the instant vector of `promql`."""
        ...

    async def kind_of(self, metric: str) -> str:
        """Give the type that exporters tell for `metric`, empty when none is known."""
        ...

    async def moments(self, selector: str) -> Sequence[Sequence[float]]:
        """Give when each series of a range selector was scraped."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at Prometheus, between two Unix times; every method raises a SourceError."""

    backend: Backend
    start: float
    end: float

    @property
    def survey(self) -> Survey:
        """Give the same look as discovery takes it."""
        return Survey(index=self.backend, start=self.start, end=self.end)

    async def names(self, selector: str) -> list[str]:
        """Give the names of the series that `selector` selects, sorted."""
        try:
            found = await self.backend.metric_names(selector, start=self.start, end=self.end)
        except EndpointMissing:
            found = [labels.get("__name__", "") for labels in await self._series(selector)]
        return sorted(set(found) - {""})

    async def labels(self, selector: str) -> list[str]:
        """Give the label names of the series that `selector` selects, sorted."""
        try:
            found = await self.backend.label_names(selector, start=self.start, end=self.end)
        except EndpointMissing:
            found = [label for labels in await self._series(selector) for label in labels]
        return sorted(set(found) - {"__name__"})

    async def names_by_label(
        self, selector: str, meaningful: Callable[[str], bool]
    ) -> NamesByLabel:
        """Give for each `meaningful` label the names of the series that carry it."""
        return await self.survey.names_by_label(selector, meaningful)

    async def count(self, selector: str) -> int:
        """Give how many series `selector` selects now."""
        samples = await self.backend.query(f"count({selector})")
        return int(samples[0].value) if samples else 0

    async def one(self, selector: str) -> Sample | None:
        """Give one of the series that `selector` selects now, None when there is none."""
        samples = await self.backend.query(f"topk(1, {selector})")
        return samples[0] if samples else None

    async def interval(self, sample: Sample) -> float | None:
        """Give the seconds between two scrapes of the series of `sample`, as they mostly were.

        To a tenth, as scrapes come a little early or late; None before the third.
        """
        matchers = ",".join(str(Matcher(*one)) for one in _exactly(sample.labels))
        [times, *_] = [*await self.backend.moments(f"{{{matchers}}}[{_LOOK_BACK}]"), []]
        pauses = [later - earlier for earlier, later in pairwise(times)]
        return round(median(pauses), 1) if len(pauses) > 1 else None

    async def kind(self, series: str) -> str:
        """Give `counter` or `gauge`, as exporters or else the name tell, empty when unknown."""
        family = family_of(series)
        told = await self._told(series)
        if not told and family != series:
            told = await self._told(family)
        return kind_in_family(series, told)

    async def _told(self, metric: str) -> str:
        try:
            return await self.backend.kind_of(metric)
        except (EndpointMissing, QueryRefused):
            return ""

    async def _series(self, selector: str) -> Sequence[Mapping[str, str]]:
        return await self.backend.series(selector, start=self.start, end=self.end)


def _exactly(labels: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return [(label, "=", value) for label, value in sorted(labels.items())]
