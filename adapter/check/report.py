"""What a check found, as plain values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from adapter.errors import Problem


class Severity(StrEnum):
    """How bad a finding is: an error is refused, a warning may not do what is meant."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to know about a file; `line` and `rule` are 0 where there is none."""

    severity: Severity
    file: str
    line: int
    rule: int
    key: str
    fault: str
    cure: str

    @classmethod
    def of(cls, severity: Severity, problem: Problem) -> "Finding":
        """Give `problem` with its weight."""
        return cls(
            severity=severity,
            file=problem.file,
            line=problem.line,
            rule=problem.rule,
            key=problem.key,
            fault=problem.fault,
            cure=problem.cure,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """One metric that a rule serves now.

    `resource` is empty for an external metric, `labels` are those that name the object and its
    namespace. `objects` counts the objects, or for an external metric the series, that have a
    value; None where that was not looked at. `spread` tells for how many objects one query
    answers, `reason` why for no more. `window` is the range in `query`, seconds.
    """

    metric: str
    series: str
    resource: str = ""
    labels: tuple[str, ...] = ()
    objects: int | None = None
    spread: str = ""
    reason: str = ""
    window: int | None = None
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """What a rule matches now.

    `series` counts the series of its query, `names` and `labels` are theirs; `interval` is the
    time between two scrapes in seconds, None when it cannot be told.
    """

    series: int
    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    interval: float | None = None
    metrics: tuple[Offered, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One rule; `section` is the list it stands in, `matched` is None without Prometheus."""

    file: str
    line: int
    rule: int
    section: str
    series_query: str
    metrics_query: str
    matched: Matched | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole check: its files, what was found in their order, and their rules."""

    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    rules: tuple[Checked, ...]

    def count(self, severity: Severity) -> int:
        """Give the number of findings of that weight."""
        return sum(finding.severity is severity for finding in self.findings)

    def exit_code(self, *, strict: bool) -> int:
        """Give 2 with errors, 1 with warnings when it is `strict`, else 0."""
        if self.count(Severity.ERROR):
            return 2
        return 1 if strict and self.count(Severity.WARNING) else 0


def ordered(files: Sequence[str], findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Give `findings`, each once, by file as given, then by line."""
    place = {file: number for number, file in enumerate(files)}
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda one: (place.get(one.file, len(place)), one.line, one.rule),
        )
    )
