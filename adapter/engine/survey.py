"""Which series exist for a rule's query, and which of them carry which label."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from adapter.errors import EndpointMissing
from adapter.rules.matchers import Matcher
from adapter.rules.promql import with_matcher

NamesByLabel = Mapping[str, frozenset[str]]
"""Label to the names of the series that carry it, on some of their series at least."""


class SeriesIndex(Protocol):
    """What Prometheus knows of series between two Unix times; each raises a SourceError.

    EndpointMissing says that this backend cannot tell in this way.
    """

    async def metric_names(self, match: str, *, start: float, end: float) -> Sequence[str]:
        """Give the names of the series that `match` selects."""
        ...

    async def label_names(self, match: str, *, start: float, end: float) -> Sequence[str]:
        """Give the label names of the series that `match` selects."""
        ...

    async def series(self, match: str, *, start: float, end: float) -> Sequence[Mapping[str, str]]:
        """Give the label sets of the series that `match` selects."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """One look at the series that exist between two Unix times."""

    index: SeriesIndex
    start: float
    end: float

    async def names_by_label(self, query: str, meaningful: Callable[[str], bool]) -> NamesByLabel:
        """Tell for each `meaningful` label of the series of `query` which names carry it.

        Names and labels only are asked for, however many series there are; where the backend
        cannot tell them, the series themselves. Raises a SourceError, or ValueError when `query`
        is no series selector.
        """
        try:
            return await self._by_names(query, meaningful)
        except EndpointMissing:
            return await self._by_series(query, meaningful)

    async def names(self, query: str) -> frozenset[str]:
        """Give the names of the series of `query`; raises as `names_by_label` does."""
        try:
            return frozenset(await self._metric_names(query))
        except EndpointMissing:
            found = await self.index.series(query, start=self.start, end=self.end)
            return frozenset(labels.get("__name__", "") for labels in found) - {""}

    async def _by_names(self, query: str, meaningful: Callable[[str], bool]) -> NamesByLabel:
        names = frozenset(await self._metric_names(query))
        if not names:
            return {}
        labels = await self.index.label_names(query, start=self.start, end=self.end)
        asked = sorted(label for label in labels if meaningful(label))
        if len(names) == 1:
            return dict.fromkeys(asked, names)
        return {label: await self._carriers(query, label) for label in asked}

    async def _carriers(self, query: str, label: str) -> frozenset[str]:
        return frozenset(await self._metric_names(with_matcher(query, Matcher(label, "!=", ""))))

    async def _metric_names(self, match: str) -> Sequence[str]:
        return await self.index.metric_names(match, start=self.start, end=self.end)

    async def _by_series(self, query: str, meaningful: Callable[[str], bool]) -> NamesByLabel:
        found = await self.index.series(query, start=self.start, end=self.end)
        return _indexed(found, meaningful)


def _indexed(
    series: Iterable[Mapping[str, str]], meaningful: Callable[[str], bool]
) -> NamesByLabel:
    names: dict[str, set[str]] = {}
    for labels in series:
        for label in filter(meaningful, labels):
            names.setdefault(label, set()).add(labels.get("__name__", ""))
    return {label: frozenset(found - {""}) for label, found in names.items()}
