"""What can be said of files of rules without asking anybody."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapter.check.report import Finding, Severity
from adapter.errors import Problem
from adapter.rules.config import RulesFile, judge
from adapter.rules.merging import merged
from adapter.rules.scrutiny import scrutinise
from adapter.sources.rule_files import names_at, text_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files that were read, their rules without a problem together, and what was found."""

    names: tuple[str, ...]
    rules: RulesFile
    findings: tuple[Finding, ...]


def read_files(paths: Sequence[Path]) -> Files:
    """Read and judge each file, and each `*.yaml` of each folder; all serve together."""
    names: list[str] = []
    rules: dict[str, RulesFile] = {}
    problems: list[Problem] = []
    for path in paths:
        found = names_at(path)
        names += [str(path)] if isinstance(found, Problem) else found
        problems += [found] if isinstance(found, Problem) else _read_all(found, rules)
    together = merged(rules)
    findings = [
        *(Finding.of(Severity.ERROR, problem) for problem in problems),
        *(Finding.of(Severity.WARNING, doubt) for doubt in _in_doubt(together)),
    ]
    return Files(names=tuple(names), rules=together, findings=tuple(findings))


def _read_all(names: Sequence[str], rules: dict[str, RulesFile]) -> list[Problem]:
    problems: list[Problem] = []
    for name in names:
        text = text_at(name)
        if isinstance(text, Problem):
            problems.append(text)
        else:
            rules[name], wrong = judge(text, name)
            problems += wrong
    return problems


def _in_doubt(rules: RulesFile) -> Iterator[Problem]:
    yield from rules.warnings
    for rule in (*rules.rules, *rules.external_rules):
        yield from scrutinise(rule)
