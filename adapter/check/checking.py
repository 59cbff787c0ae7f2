"""One check from files to report, with or without a look at Prometheus."""

import asyncio
from collections.abc import Iterator, Sequence

from adapter.check.backend import Look
from adapter.check.external import ExternalMatching
from adapter.check.files import Files
from adapter.check.labels import about_kinds
from adapter.check.matching import Matching
from adapter.check.report import Checked, Finding, Matched, Report, Severity, ordered
from adapter.check.usage import UsageMatching, as_checked, parts_of
from adapter.engine.catalogue import Offer, complement, replaced
from adapter.engine.external import ExternalOffer
from adapter.errors import Problem, SourceError
from adapter.model.kinds import Kinds
from adapter.rules.external import ExternalRule
from adapter.rules.rule import Rule, SeriesRule
from adapter.rules.scrutiny import example, misreadings, told
from adapter.rules.types import kind_by_name

_RULES_AT_ONCE = 4


def check_alone(files: Files, kinds: Kinds | None = None) -> Report:
    """Give what the files themselves tell; `kinds` are the cluster's, None when not known."""
    rules = (*files.rules.rules, *files.rules.external_rules)
    doubts = [
        Finding.of(Severity.WARNING, problem)
        for rule in rules
        for problem in misreadings(rule, example(rule), kind_by_name)
    ]
    usage = [as_checked(rule) for rule in parts_of(files.rules.resource_rules)]
    doubts += _unknown_kinds(files, kinds)
    return _report(files, doubts, [*(_checked(rule) for rule in rules), *usage])


async def check_against(files: Files, look: Look, kinds: Kinds | None = None) -> Report:
    """Give what the files tell, and what their rules match now; `kinds` as in `check_alone`.

    A Prometheus that does not answer is an error in the report, which then says no more.
    """
    check = _Check(look, kinds)
    try:
        await look.backend.query("vector(1)")
        checked = await check.all_rules(files)
    except SourceError as error:
        alone = check_alone(files, kinds)
        down = Finding.of(Severity.ERROR, _down(error))
        return _report(files, [*alone.findings, down], alone.rules)
    found = [*check.findings, *_collisions(check), *_unknown_kinds(files, kinds)]
    return _report(files, found, checked)


class _Check:
    """All rules before Prometheus, a few at once; what is found keeps the rules' order."""

    def __init__(self, look: Look, kinds: Kinds | None) -> None:
        self._look = look
        self._kinds = kinds or Kinds()
        self._certain = kinds is not None
        self._turns = asyncio.Semaphore(_RULES_AT_ONCE)
        self.findings: list[Finding] = []
        self.offers: list[Offer] = []
        self.externals: list[ExternalOffer] = []

    async def all_rules(self, files: Files) -> list[Checked]:
        rules = [
            Matching(rule, self._look, self._kinds, off=self._is_off(rule))
            for rule in files.rules.rules
        ]
        external = [
            ExternalMatching(rule, self._look, self._kinds) for rule in files.rules.external_rules
        ]
        usage = UsageMatching(self._look, self._kinds)
        checked = [
            *await asyncio.gather(*map(self._in_turn, rules)),
            *await asyncio.gather(*map(self._in_turn, external)),
            *[await usage.checked(rule) for rule in parts_of(files.rules.resource_rules)],
        ]
        self.offers = [offer for one in rules for offer in one.offers]
        self.externals = [offer for one in external for offer in one.offers]
        found = [*(one.findings for one in rules), *(one.findings for one in external)]
        self.findings = [finding for each in (*found, usage.findings) for finding in each]
        return checked

    def _is_off(self, rule: Rule) -> bool:
        return self._certain and bool(rule.unknown_overrides(self._kinds))

    async def _in_turn(self, matching: Matching | ExternalMatching) -> Checked:
        async with self._turns:
            return _checked(matching.rule, await matching.matched())


def _report(files: Files, found: Sequence[Finding], rules: Sequence[Checked]) -> Report:
    findings = ordered(files.names, [*files.findings, *found])
    return Report(files=files.names, findings=findings, rules=tuple(rules))


def _checked(rule: SeriesRule, matched: Matched | None = None) -> Checked:
    return Checked(
        file=rule.file,
        line=rule.line,
        rule=rule.number,
        section="externalRules" if isinstance(rule, ExternalRule) else "rules",
        series_query=rule.series_query,
        metrics_query=rule.metrics_query.source,
        matched=matched,
    )


def _unknown_kinds(files: Files, kinds: Kinds | None) -> Iterator[Finding]:
    for rule in (*files.rules.rules, *files.rules.external_rules):
        yield from about_kinds(rule, kinds)


def _collisions(check: _Check) -> Iterator[Finding]:
    for lost, served in replaced(check.offers):
        if complement(lost, served):
            continue
        what = f"{served.metric} on {served.resource.qualified}"
        yield _collision(what, lost.rule, served.rule)
    latest: dict[str, ExternalRule] = {}
    for offer in check.externals:
        if offer.metric in latest:
            yield _collision(offer.metric, latest[offer.metric], offer.rule)
        latest[offer.metric] = offer.rule


def _collision(what: str, lost: SeriesRule, served: SeriesRule) -> Finding:
    fault = f"it serves {what} in place of {lost}: of two rules the later counts"
    problem = told(served, "name", fault, "give one of them another name.as")
    return Finding.of(Severity.WARNING, problem)


def _down(error: SourceError) -> Problem:
    cure = "see that --prometheus-url is right and can be reached from here"
    return Problem(file="Prometheus", fault=str(error), cure=cure)
