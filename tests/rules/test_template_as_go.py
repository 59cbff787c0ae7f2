"""Templates and what Go's own text/template (1.26) makes of them, twice each.

Each row of the table is a template, its text with the variables FULL, and its text with BARE; null
where Go gives up, or writes one of fmt's notes such as `%!s(<nil>)` into the text.
"""

import json
from pathlib import Path

import pytest

from adapter.rules.template import Variables, parse

FULL = Variables(
    series="foo",
    label_matchers='pod="a"',
    label_values_by_name={"pod": "a|b", "namespace": "ml"},
    group_by="pod,container",
    group_by_slice=("pod", "container"),
)
BARE = Variables(series="é:x", label_matchers="")
ROWS: list[tuple[str, str | None, str | None]] = json.loads(
    (Path(__file__).parent / "data" / "go-templates.json").read_text()
)


@pytest.mark.parametrize(
    ("template", "variables", "text"),
    [
        (template, variables, text)
        for template, *texts in ROWS
        for variables, text in zip((FULL, BARE), texts, strict=True)
    ],
)
def test_a_template_gives_what_go_gives(
    template: str, variables: Variables, text: str | None
) -> None:
    if text is None:
        with pytest.raises(ValueError, match=r"\w"):
            parse(template).render(variables)
    else:
        assert parse(template).render(variables) == text
