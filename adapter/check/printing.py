"""A report as tables for people and as JSON for programs."""

from collections.abc import Iterator, Sequence
from typing import TextIO

import msgspec
from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from adapter.check.labels import some
from adapter.check.report import Checked, Finding, Offered, Report, Severity

_COLOURS = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_PIPE_WIDTH = 120
_SCOPES = {"cluster": "the whole cluster", "namespace": "one namespace", "request": "one request"}


def as_json(report: Report) -> str:
    """Give the report as one indented JSON object, with a summary of how many findings it has."""
    summary = {f"{severity}s": report.count(severity) for severity in Severity}
    document = {**msgspec.to_builtins(report), "summary": summary}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def print_tables(report: Report, out: TextIO) -> None:
    """Print findings and what each rule matches, file by file; colours on a terminal only."""
    console = _console(out)
    for number, file in enumerate(_files(report)):
        findings = [finding for finding in report.findings if finding.file == file]
        matched = [rule for rule in report.rules if rule.matched and rule.file == file]
        if number:
            console.print()
        console.print(Text(f"{file}: {_counted(findings)}", style="bold"), soft_wrap=True)
        if findings:
            console.print(_findings(findings))
        if matched:
            console.print("", _matches(matched), sep="\n")


def _console(out: TextIO) -> Console:
    terminal = out.isatty()
    return Console(
        file=out,
        force_terminal=terminal,
        width=None if terminal else _PIPE_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _files(report: Report) -> list[str]:
    # The chart's default rules stand in no file of the command line.
    others = [rule.file for rule in report.rules if rule.matched]
    told = [finding.file for finding in report.findings]
    return list(dict.fromkeys([*report.files, *others, *told]))


def _counted(findings: Sequence[Finding]) -> str:
    counts = [(sum(one.severity is each for one in findings), each) for each in Severity]
    told = [f"{count} {each}{'s' if count > 1 else ''}" for count, each in counts if count]
    return ", ".join(told) or "nothing to say"


def _findings(findings: Sequence[Finding]) -> Table:
    table = _table("LINE", "RULE", "", "WHAT")
    for one in findings:
        what = f"{one.key}: {one.fault}" if one.key else one.fault
        table.add_row(
            str(one.line or ""),
            str(one.rule or ""),
            Text(one.severity, style=_COLOURS[one.severity]),
            Group(Text(what), Text(f"-> {one.cure}", style="dim")),
        )
    return table


def _matches(rules: Sequence[Checked]) -> Table:
    table = _table("LINE", "RULE", "SERIES NOW")
    table.add_column("METRIC", overflow="fold", ratio=4)
    table.add_column("ON", overflow="fold")
    table.add_column("BY", overflow="fold", ratio=3)
    table.add_column("VALUES", no_wrap=True)
    table.add_column("ONE QUERY ANSWERS", overflow="fold", ratio=4)
    for rule in rules:
        for row in _rows(rule):
            table.add_row(*map(Text, row))
    return table


def _table(*titles: str) -> Table:
    return Table(
        *titles, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True
    )


def _rows(rule: Checked) -> Iterator[tuple[str, ...]]:
    matched = rule.matched
    if matched is None:
        return
    pace = f"{matched.series} every {matched.interval:g} s" if matched.interval else ""
    head = (str(rule.line or ""), _name(rule), pace or str(matched.series))
    if not matched.metrics:
        yield *head, "none", "", "", "", ""
    for alike in _alike(matched.metrics):
        yield *head, *_row(alike)
        head = ("", "", "")


def _name(rule: Checked) -> str:
    sort = {"rules": "", "externalRules": "external "}.get(rule.section)
    return rule.section.removeprefix("resourceRules.") if sort is None else f"{sort}{rule.rule}"


def _alike(metrics: Sequence[Offered]) -> list[list[Offered]]:
    """Give the metrics in groups that differ in their names alone."""
    groups: dict[tuple[object, ...], list[Offered]] = {}
    for one in metrics:
        key = (one.resource, one.labels, one.spread, one.reason, one.window)
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _row(alike: Sequence[Offered]) -> tuple[str, ...]:
    first = alike[0]
    counts = [one.objects for one in alike if one.objects is not None]
    reason = f": {first.reason}" if first.reason else ""
    scope = _SCOPES.get(first.spread, "")
    return (
        some([one.metric for one in alike], "\n"),
        first.resource,
        "\n".join(first.labels),
        _span(counts),
        f"{scope}{reason}".removeprefix(": "),
    )


def _span(counts: Sequence[int]) -> str:
    if not counts:
        return ""
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least} to {most}"
