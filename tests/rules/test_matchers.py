"""Matchers: the text that Prometheus Adapter makes, byte for byte, and names that mean themselves."""

import promql_parser
import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from adapter.model.selector import parse
from adapter.rules.matchers import Matcher, exactly, from_selector, one_of, quoted

_NAMES = st.text(min_size=1).filter(lambda text: text.isprintable())


@pytest.mark.parametrize(
    ("selector", "promql"),
    [
        ("k=v", 'k="v"'),
        ("k==v", 'k="v"'),
        ("k!=v", 'k!="v"'),
        ("k in (a)", 'k=~"a"'),
        ("k in (b,a)", 'k=~"a|b"'),
        ("k notin (a)", 'k!~"a"'),
        ("k notin (b,a)", 'k!~"a|b"'),
        ("k", 'k!=""'),
        ("!k", 'k=""'),
        ("modelName=H200,gpu in (0,1)", 'gpu=~"0|1",modelName="H200"'),
    ],
)
def test_a_selector_becomes_the_matchers_that_the_incumbent_makes(
    selector: str, promql: str
) -> None:
    assert ",".join(map(str, from_selector(parse(selector)))) == promql


@pytest.mark.parametrize(
    "selector", ["gpu>1", "gpu<1", "app.kubernetes.io/name=x", "gpu-id=0", "a.b", "!9lives"]
)
def test_what_promql_cannot_carry_is_refused_with_the_requirement(selector: str) -> None:
    with pytest.raises(ValueError, match=selector.strip("!").split("=")[0].replace(">", ".")):
        from_selector(parse(selector))


def test_a_version_in_a_selector_means_only_itself() -> None:
    assert str(from_selector(parse("driver in (535.1)"))[0]) == r'driver=~"535\\.1"'


def test_one_name_is_compared_and_several_are_alternatives() -> None:
    assert str(one_of("pod", ["train-0"])) == 'pod="train-0"'
    assert str(one_of("pod", ["train-0", "train-1"])) == 'pod=~"train-0|train-1"'


def test_a_dot_in_one_of_several_names_means_a_dot() -> None:
    assert str(one_of("node", ["gpu.a", "gpu.b"])) == r'node=~"gpu\\.a|gpu\\.b"'


def test_the_plain_value_is_the_names_as_they_are() -> None:
    assert one_of("node", ["gpu.a", "gpu-b"]).plain_value == "gpu.a|gpu-b"
    assert one_of("node", ["gpu.a"]).plain_value == "gpu.a"


def test_quoting_is_that_of_go() -> None:
    assert quoted('a"b\\c\n\t\x07\x7f\u00e9\u00ad\U000e0001') == (
        r'"a\"b\\c\n\t\a\x7f' + "\u00e9" + r'\u00ad\U000e0001"'
    )


def test_half_a_character_is_quoted_as_go_reads_it() -> None:
    assert quoted("a\ud800") == r'"a\ufffd"'


def test_a_label_that_is_no_identifier_is_quoted() -> None:
    assert str(Matcher("k8s.pod", "=", "a")) == '"k8s.pod"="a"'


@given(st.text())
def test_a_quoted_value_is_read_back_as_it_was(value: str) -> None:
    parsed = promql_parser.parse(f"x{{{Matcher('k', '=', value)}}}")
    assert isinstance(parsed, promql_parser.VectorSelector)
    assert parsed.matchers.matchers[0].value == value


@given(name=_NAMES, other=_NAMES)
def test_a_name_as_an_expression_matches_itself_and_nothing_else(name: str, other: str) -> None:
    assert re2.fullmatch(exactly(name), name)
    assert (re2.fullmatch(exactly(name), other) is not None) == (name == other)


@given(st.lists(_NAMES, min_size=2))
def test_the_plain_value_undoes_the_escapes(names: list[str]) -> None:
    assert one_of("pod", names).plain_value == "|".join(names)
