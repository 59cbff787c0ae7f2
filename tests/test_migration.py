"""What docs/migrate.md says of flags and keys is so, and is said of each."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapter.errors import InputError
from adapter.flag_table import FLAGS
from adapter.flags import Flag
from adapter.rules.config import _ADAPTER_KEYS, _HELM_RULES, load
from adapter.rules.helm import _TOLD_BY_FLAGS
from adapter.rules.reading import RULE_KEYS

DOCUMENT = Path(__file__).parent.parent / "docs" / "migrate.md"
NESTED = """
    is isNot matches as template overrides namespaced group resource
    cpu memory window containerQuery nodeQuery containerLabel
    prometheus url port path
"""
NEW = {
    "freshness",
    "max-staleness",
    "prometheus-timeout",
    "prometheus-force-get",
    "strict",
    "shutdown-delay",
}


def rows(heading: str) -> Iterator[tuple[list[str], str]]:
    """The names in the first cell of each row below a heading, and the text of the second."""
    section = DOCUMENT.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    for line in section.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        if len(cells) == 2 and (names := re.findall(r"`([^`]+)`", cells[0])):
            yield names, cells[1].removesuffix(" |")


def said() -> dict[str, str]:
    """Of each flag what is said; none is said of twice."""
    found = [(name, text) for names, text in rows("Each flag") for name in names]
    assert len(found) == len(dict(found))
    return {name.removeprefix("--"): text for name, text in found}


def test_each_flag_stands_in_the_table() -> None:
    assert set(said()) == {flag.name for flag in FLAGS}


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.name)
def test_a_flag_is_said_to_have_an_effect_when_it_has(flag: Flag) -> None:
    word = re.split("[:, ]", said()[flag.name])[0]
    kept = {"new"} if flag.name in NEW else {"kept", "better"}
    assert word in (kept if flag.served else {"no"})


def test_each_key_of_the_rules_stands_in_a_table() -> None:
    told = {name for names, _ in rows("Each key of the rules") for name in names}
    keys = {*_ADAPTER_KEYS, *_HELM_RULES, *RULE_KEYS, *_TOLD_BY_FLAGS, *NESTED.split()}
    assert keys - told == set()


RULE = """
rules:
- seriesQuery: up
  seriesFilters: [{is: u}, {isNot: x}]
  resources: {template: <<.Resource>>, namespaced: true, overrides: {a: {group: "", resource: pod}}}
  name: {matches: "(.*)", as: $1}
  metricsQuery: <<.Series>>{<<.LabelMatchers>>}
"""


def test_an_unknown_key_is_an_error() -> None:
    assert len(load(RULE, "rules.yaml").rules) == 1
    with pytest.raises(InputError, match="seriesquery"):
        load(RULE.replace("seriesQuery", "seriesquery"), "rules.yaml")


def test_the_key_existing_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match="--config"):
        load("rules: {existing: my-rules}", "values.yaml")


@pytest.mark.parametrize("word", ["html", "js", "urlquery", "call", "define", "template", "block"])
def test_a_construct_that_is_not_served_is_an_error(word: str) -> None:
    with pytest.raises(InputError, match=word):
        load(RULE.replace("<<.Series>>", f'<<{word} "x">>up'), "rules.yaml")


def test_each_place_that_the_document_links_is_there() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in text.splitlines()
        if line.startswith("#")
    }
    for file, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", text):
        assert (DOCUMENT.parent / file).exists()
        assert file or anchor in headings
