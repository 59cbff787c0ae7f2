"""Rules whose metrics describe no object: `externalRules` of the file."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapter.model.kinds import NAMESPACES, Kinds
from adapter.model.selector import Selector
from adapter.rules.matchers import Matcher, from_selector
from adapter.rules.rule import SeriesRule, filled, variables_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExternalRule(SeriesRule):
    """A rule of external metrics.

    When it is `namespaced`, an answer to a namespace holds only series of that namespace, by the
    label that means namespaces; otherwise every namespace is given the same.
    """

    namespaced: bool = True

    def __str__(self) -> str:
        """Give `FILE:LINE: external rule N`, as messages name it."""
        return f"{self.file}:{self.line}: external rule {self.number}"

    def matchers(self, namespace: str, selector: Selector, kinds: Kinds) -> tuple[Matcher, ...]:
        """Give the matchers of a request: those of `selector` by key, then the namespace's.

        Raises ValueError when PromQL cannot carry the selector, and when the rule is namespaced
        and no label means namespaces.
        """
        limits = from_selector(selector)
        if not self.namespaced or not namespace:
            return limits
        label = self.label_for(NAMESPACES, kinds)
        if label is None:
            msg = f"{self}: no label means namespaces, and resources.namespaced is not false"
            raise ValueError(msg)
        return (*limits, Matcher(label, "=", namespace))

    def render(self, series: str, matchers: Sequence[Matcher]) -> str:
        """Give the query for `series`, limited by `matchers`, in their order.

        `.GroupBy` is empty and `.GroupBySlice` has nothing in it; without matchers
        `.LabelMatchers` is empty too. Raises ValueError when a variable cannot be used as the
        template does, or when nothing is left.
        """
        return filled(self.metrics_query, variables_of(series, matchers))
