"""A Prometheus that knows a few series and tells of them as the label endpoints do."""

import re
from collections.abc import Mapping, Sequence

from tests.engine.parts import ManualClock

Labels = Mapping[str, str]


class FakeIndex:
    """Knows `series`; `failing` has the error of a kind of question or of a whole selector.

    A selector in `hanging` is never answered.
    """

    def __init__(
        self,
        series: Sequence[Labels] = (),
        failing: Mapping[str, Exception] | None = None,
        *,
        clock: ManualClock | None = None,
    ) -> None:
        self.known = list(series)
        self.failing = dict(failing or {})
        self.hanging: set[str] = set()
        self.asked: list[tuple[str, str]] = []
        self.asked_at: list[float] = []
        self.spans: set[tuple[float, float]] = set()
        self._clock = clock or ManualClock()

    async def metric_names(self, match: str, *, start: float, end: float) -> Sequence[str]:
        found = await self._found("names", match, start, end)
        return sorted({labels["__name__"] for labels in found})

    async def label_names(self, match: str, *, start: float, end: float) -> Sequence[str]:
        found = await self._found("labels", match, start, end)
        return sorted({label for labels in found for label in labels})

    async def series(self, match: str, *, start: float, end: float) -> Sequence[Labels]:
        return await self._found("series", match, start, end)

    async def _found(self, kind: str, match: str, start: float, end: float) -> Sequence[Labels]:
        self.asked.append((kind, match))
        self.asked_at.append(self._clock.now)
        self.spans.add((start, end))
        if match in self.hanging:
            await self._clock.sleep(float("inf"))
        for cause in (kind, match):
            if cause in self.failing:
                raise self.failing[cause]
        return [labels for labels in self.known if _selected(labels, match)]


def _selected(labels: Labels, match: str) -> bool:
    name = match.partition("{")[0]
    if name and labels["__name__"] != name:
        return False
    conditions = re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', match)
    return all(
        _meets(labels.get(label, ""), operator, value) for label, operator, value in conditions
    )


def _meets(text: str, operator: str, value: str) -> bool:
    matched = re.fullmatch(value, text) is not None if "~" in operator else text == value
    return matched != operator.startswith("!")
