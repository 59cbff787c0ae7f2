"""Loading texts and files of rules, and the problems that they have, as lines."""

from pathlib import Path

import pytest

from adapter.errors import InputError
from adapter.rules.config import RulesFile, load

DATA = Path(__file__).parent / "data"


def load_data(name: str) -> RulesFile:
    """Load a file of tests/rules/data under its bare name."""
    return load((DATA / name).read_text(), name)


def problems(text: str) -> list[str]:
    """Give the problems of a text that cannot be loaded, one line each, in order."""
    with pytest.raises(InputError) as raised:
        load(text, "rules.yaml")
    return [str(problem) for problem in raised.value.problems]


def problems_of_rule(text: str) -> list[str]:
    """Give the problems of one rule, its lines indented by two, without their common beginning."""
    return [problem.removeprefix("rules.yaml:") for problem in problems(in_rules(text))]


def warnings_of_rule(text: str) -> list[str]:
    """Give the warnings of one rule that can be loaded."""
    return [
        str(warning).removeprefix("rules.yaml:")
        for warning in load(in_rules(text), "rules.yaml").warnings
    ]


def in_rules(text: str) -> str:
    """Give the file whose only rule has the lines of `text`; its first line is line 2."""
    lines = text.strip("\n").splitlines()
    return "\n".join(["rules:", f"- {lines[0].strip()}", *lines[1:]])
