"""What the rules of metrics.k8s.io read now."""

from collections.abc import Iterator

from adapter.check.backend import Look
from adapter.check.report import Checked, Finding, Matched, Offered, Severity
from adapter.engine.question import Evaluation
from adapter.engine.reach import Reach
from adapter.engine.usage import Meter, Usage, UsageQuestion, meter_of
from adapter.errors import InternalError, Problem, QueryRefused
from adapter.model.kinds import NODES, PODS, Kinds
from adapter.model.objects import Resource
from adapter.rules.expressions import parse, selectors
from adapter.rules.promql import Spread, window
from adapter.rules.resource_rules import ResourceRule, ResourceRules


class UsageMatching:
    """The resource rules before Prometheus; `findings` grow while they are looked at."""

    def __init__(self, look: Look, kinds: Kinds) -> None:
        """Look at nothing yet."""
        self._look = look
        self._kinds = kinds
        self.findings: list[Finding] = []

    async def checked(self, rule: ResourceRule) -> Checked:
        """Give what `rule` reads for pods and for nodes; raises PrometheusDown."""
        read = [await self._read(rule, resource) for resource in (PODS, NODES)]
        metrics = tuple(offered for offered in read if offered)
        return as_checked(
            rule, Matched(series=sum(one.objects or 0 for one in metrics), metrics=metrics)
        )

    async def _read(self, rule: ResourceRule, resource: Resource) -> Offered | None:
        metric = f"{rule.name} of {resource.plural}"
        try:
            question = await self._question(meter_of(rule, resource, self._kinds))
            [query] = question.queries(None)
            samples = await self._look.backend.query(query)
        except QueryRefused as error:
            self._say(Severity.ERROR, rule, f"{metric}: Prometheus refuses the query: {error}")
            return None
        except InternalError as error:
            self._say(Severity.ERROR, rule, error.message)
            return None
        evaluation = Evaluation(vectors=[samples], sent=0, alive=lambda _ref, _labels: True)
        usage: Usage = question.fold(evaluation).reading
        if not usage.uses:
            nothing = "none of its samples names one" if samples else "the query gives nothing now"
            self._say(Severity.WARNING, rule, f"{metric}: {nothing}")
        binding = question.meter.binding
        return Offered(
            metric=rule.name,
            series="",
            resource=resource.qualified,
            labels=tuple(filter(None, (binding.object_label, binding.namespace_label))),
            objects=len(usage.uses),
            spread=question.meter.spread,
            window=window(query),
            query=query,
        )

    async def _question(self, meter: Meter) -> UsageQuestion:
        """Give a question for all objects, or for those of one namespace where it spreads no more."""
        question = UsageQuestion(meter, Reach())
        home = meter.binding.namespace_label
        if not home or meter.spread is Spread.CLUSTER:
            return question
        [query] = question.queries(None)
        for selector in selectors(parse(query))[:1]:
            sample = await self._look.one(selector.prettify())
            if sample and sample.labels.get(home):
                return UsageQuestion(meter, Reach(namespace=sample.labels[home]))
        return question

    def _say(self, severity: Severity, rule: ResourceRule, fault: str) -> None:
        problem = Problem(
            file=rule.file,
            line=rule.line,
            key=f"resourceRules.{rule.name}",
            fault=fault,
            cure="correct the query or the labels, and try it in Prometheus",
        )
        self.findings.append(Finding.of(severity, problem))


def parts_of(rules: ResourceRules | None) -> Iterator[ResourceRule]:
    """Give the rules for cpu and for memory, where there are any."""
    if rules:
        yield from filter(None, (rules.cpu, rules.memory))


def as_checked(rule: ResourceRule, matched: Matched | None = None) -> Checked:
    """Give `rule` as a line of the report."""
    return Checked(
        file=rule.file,
        line=rule.line,
        rule=0,
        section=f"resourceRules.{rule.name}",
        series_query="",
        metrics_query=rule.container_query.source,
        matched=matched,
    )
