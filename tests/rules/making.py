"""Rules for tests, made from the few parts that matter to a claim."""

from adapter.rules.naming import parse_naming
from adapter.rules.resources import parse_resource_template
from adapter.rules.rule import Override, Rule
from adapter.rules.template import parse


def rule(
    query: str = "<<.Series>>{<<.LabelMatchers>>}",
    *,
    overrides: tuple[Override, ...] = (),
    template: str = "",
) -> Rule:
    """Give a rule that takes every series under its own name."""
    return Rule(
        number=1,
        file="rules.yaml",
        line=1,
        series_query='{UUID!=""}',
        overrides=overrides,
        template=parse_resource_template(template) if template else None,
        naming=parse_naming("", ""),
        metrics_query=parse(query),
    )
