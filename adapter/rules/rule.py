"""One rule: which series become which metrics of which objects, and with which query."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from adapter.model.kinds import Kinds
from adapter.model.objects import Resource
from adapter.rules.matchers import Matcher
from adapter.rules.naming import Filter, Naming
from adapter.rules.resources import ResourceTemplate
from adapter.rules.template import Template, Variables

Override = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """What labels mean which kinds: the section `resources` of a rule.

    `overrides` are (label, group, word for the resource) in the file's order.
    """

    overrides: tuple[Override, ...] = ()
    template: ResourceTemplate | None = None

    def resource_of(self, label: str, kinds: Kinds) -> Resource | None:
        """Give the kind that `label` means: by the overrides, then by the template."""
        for overridden, group, word in self.overrides:
            if overridden == label:
                return kinds.find(word, group)
        return self.template.resource(label, kinds) if self.template else None

    def label_for(self, resource: Resource, kinds: Kinds) -> str | None:
        """Give the label that means `resource`: the last override to it, else the template's.

        None when there is neither.
        """
        for label, group, word in reversed(self.overrides):
            found = kinds.find(word, group)
            if found and found.qualified == resource.qualified:
                return label
        return self.template.label(resource) if self.template else None

    def unknown_overrides(self, kinds: Kinds) -> tuple[Override, ...]:
        """Give the overrides to a kind that `kinds` lacks, in the file's order."""
        return tuple(
            override for override in self.overrides if kinds.find(override[2], override[1]) is None
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeriesRule(Labelled):
    """Which series a rule takes, how it names them and what it asks; its file, and place there.

    Two rules are the same only when they are one object. `number` counts from 1 in its list,
    `line` in its file.
    """

    number: int
    file: str
    line: int
    series_query: str
    filters: tuple[Filter, ...] = ()
    naming: Naming
    metrics_query: Template

    def __str__(self) -> str:
        """Give `FILE:LINE: rule N`, as messages name it; a built-in rule has no line."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: rule {self.number}"

    def metric_name(self, series: str) -> str | None:
        """Give the metric's name for a series, None when the rule does not take it."""
        if not all(condition.accepts(series) for condition in self.filters):
            return None
        return self.naming.name(series)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule(SeriesRule):
    """A rule whose metrics describe objects: `rules` of the file."""

    def labels_for(
        self, resource: Resource, present: Collection[str], kinds: Kinds
    ) -> tuple[str, ...]:
        """Give those of `present` that mean `resource`, the preferred one first.

        Overrides are preferred to the template, the later of them in the file to the earlier;
        of the template's, the one that it makes from the resource, then the others by name.
        """
        wanted = (resource.group, resource.plural)
        meant = [label for label in present if self._means(label, kinds) == wanted]
        return tuple(sorted(meant, key=lambda label: self._preference(label, resource)))

    def render(self, series: str, matchers: Sequence[Matcher], group_by: Sequence[str]) -> str:
        """Give the query for `series`, limited by `matchers`, in their order.

        Without matchers it is limited to series that carry the first label of `group_by`, for an
        empty `.LabelMatchers` leaves `{,` in many rules. Raises ValueError when a variable cannot
        be used as the template does, or when nothing is left.
        """
        limits = tuple(matchers) or tuple(Matcher(label, "!=", "") for label in group_by[:1])
        variables = variables_of(series, matchers, group_by)
        variables = replace(variables, label_matchers=",".join(map(str, limits)))
        return filled(self.metrics_query, variables)

    def _means(self, label: str, kinds: Kinds) -> tuple[str, str] | None:
        resource = self.resource_of(label, kinds)
        return (resource.group, resource.plural) if resource else None

    def _preference(self, label: str, resource: Resource) -> tuple[int, int, str]:
        order = [overridden for overridden, _, _ in self.overrides]
        if label in order:
            return 0, -order.index(label), label
        canonical = self.template is not None and self.template.label(resource) == label
        return 1, 0 if canonical else 1, label


def filled(query: Template, variables: Variables) -> str:
    """Give the query that `query` becomes with `variables`.

    Raises ValueError when a variable cannot be used as the template does, or when nothing is left.
    """
    text = query.render(variables)
    if not text.strip():
        whose = f" for {variables.series}" if variables.series else ""
        msg = f"the query{whose} is empty"
        raise ValueError(msg)
    return text


def variables_of(
    series: str, matchers: Sequence[Matcher], group_by: Sequence[str] = ()
) -> Variables:
    """Give what a template may read when a query is limited by `matchers`, in their order."""
    return Variables(
        series=series,
        label_matchers=",".join(map(str, matchers)),
        label_values_by_name={limit.label: limit.plain_value for limit in matchers},
        group_by=",".join(group_by),
        group_by_slice=tuple(group_by),
    )
