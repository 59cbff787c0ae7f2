"""What a rule of external metrics, and the rules of resource metrics, match now."""

from collections.abc import Iterator, Sequence

from adapter.check.backend import Look
from adapter.check.labels import about_names
from adapter.check.report import Finding, Matched, Offered, Severity
from adapter.check.series import MOST_LOOKED_AT, Inspection, Series
from adapter.engine.external import ExternalOffer, ExternalQuestion
from adapter.engine.external_metrics import ExternalMetrics
from adapter.errors import InternalError, QueryRefused
from adapter.model.kinds import NAMESPACES, Kinds
from adapter.rules.external import ExternalRule
from adapter.rules.promql import window
from adapter.rules.scrutiny import told

_CURE = "correct it, and try it in Prometheus"


class ExternalMatching:
    """One rule of external metrics before Prometheus, as `Matching` is one of object metrics."""

    def __init__(self, rule: ExternalRule, look: Look, kinds: Kinds) -> None:
        """Look at nothing yet."""
        self.rule = rule
        self._look = look
        self._kinds = kinds
        self.findings: list[Finding] = []
        self.offers: list[ExternalOffer] = []

    async def matched(self) -> Matched:
        """Give what the rule matches; raises PrometheusDown."""
        inspection = Inspection(self.rule, self._look)
        try:
            found = await inspection.found()
            metrics = await self._metrics(found) if found.names else []
            return await inspection.matched(found, metrics)
        except QueryRefused as error:
            self._refused("seriesQuery", f"Prometheus refuses it: {error}")
            return Matched(series=0)
        finally:
            self.findings += inspection.findings

    async def _metrics(self, found: Series) -> list[Offered]:
        self.findings += about_names(self.rule, found.names)
        self.findings += _without_namespace(self.rule, found.labels, self._kinds)
        subject = ExternalMetrics()
        standings = await subject.find(
            self._look.survey, self.rule.series_query, [self.rule], self._kinds
        )
        self.offers = list(standings[self.rule].offers)
        shown = self.offers[:MOST_LOOKED_AT]
        return [await self._offered(offer, deep=offer in shown) for offer in self.offers]

    async def _offered(self, offer: ExternalOffer, *, deep: bool) -> Offered:
        metric, query, count = offer.metric, "", None
        if offer.withheld:
            fault = f"{metric} is withheld: {offer.withheld}"
            self._doubt("name.as", fault, "use a group of name.matches in it")
            return Offered(metric=metric, series=offer.series, reason=f"withheld: {offer.withheld}")
        try:
            [query] = ExternalQuestion(offer, ()).queries(None)
            count = len(await self._look.backend.query(query)) if deep else None
        except QueryRefused as error:
            self._refused("metricsQuery", f"{metric}: Prometheus refuses the query: {error}")
        except InternalError as error:
            self._refused("metricsQuery", error.message)
        if count == 0:
            fault = f"{metric}: the query gives nothing now"
            self._doubt("metricsQuery", fault, "ask Prometheus for the query")
        return Offered(
            metric=metric, series=offer.series, objects=count, query=query, window=window(query)
        )

    def _doubt(self, key: str, fault: str, cure: str) -> None:
        problem = told(self.rule, key, fault, cure)
        self.findings.append(Finding.of(Severity.WARNING, problem))

    def _refused(self, key: str, fault: str) -> None:
        problem = told(self.rule, key, fault, _CURE)
        self.findings.append(Finding.of(Severity.ERROR, problem))


def _without_namespace(
    rule: ExternalRule, labels: Sequence[str], kinds: Kinds
) -> Iterator[Finding]:
    label = rule.label_for(NAMESPACES, kinds) if rule.namespaced else None
    if label and label not in labels:
        fault = f"no series carries {label}, the namespace that every request is limited to"
        cure = "correct it, or write namespaced: false, and every namespace is given all series"
        yield Finding.of(Severity.WARNING, told(rule, "resources", fault, cure))
