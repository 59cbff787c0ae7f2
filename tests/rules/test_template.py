"""Templates: printed as Go prints, refused by name when they cannot be."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.rules.template import RESOURCE_FIELDS, ResourceWords, Variables, parse

_VARIABLES = Variables(
    series="foo",
    label_matchers='resource=~"bar|baz"',
    label_values_by_name={"resource": "bar|baz", "namespaces": "default"},
    group_by="resource,extra,groups",
    group_by_slice=("resource", "extra", "groups"),
)
_PIECES = st.lists(
    st.sampled_from(
        [
            "<<",
            ">>",
            "<<-",
            "->>",
            ".Series",
            ".LabelMatchers",
            ".LabelValuesByName",
            ".GroupBySlice",
            ".",
            "$x",
            "index",
            "if",
            "range",
            "end",
            "|",
            "(",
            ")",
            "/*",
            "*/",
            "0",
            "-1",
            ".5",
            ":=",
            ",",
            "'",
            "`",
            "a",
            "{",
            " else ",
            " with ",
            " break ",
            " $x := ",
            " printf `%5s%d` ",
            "<<range .LabelValuesByName>>",
            "<<end>>",
            "<<if .Series>>",
            " len ",
            " slice ",
            " eq ",
            " nil ",
        ]
    )
    | st.sampled_from(['"', '"a"', " ", "\n", "\\", "\ud800", "é"])
)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("series <<.Series>>", "series foo"),
        ("<<.LabelMatchers>>", 'resource=~"bar|baz"'),
        ('<<index .LabelValuesByName "resource">>', "bar|baz"),
        (
            '<<index .LabelValuesByName "namespaces">> <<index .LabelValuesByName "resource">>',
            "default bar|baz",
        ),
        ('<<index .LabelValuesByName "missing">>', ""),
        ("<<.LabelValuesByName.resource>>", "bar|baz"),
        ("<<.LabelValuesByName.missing>>", "<no value>"),
        ("<<.LabelValuesByName>>", "map[namespaces:default resource:bar|baz]"),
        ("<<.GroupBy>>", "resource,extra,groups"),
        ("<<.GroupBySlice>>", "[resource extra groups]"),
        ("<<index .GroupBySlice 1>>", "extra"),
        ("<<index .LabelValuesByName `resource`>>", "bar|baz"),
        (r'<<index .LabelValuesByName "res\x6furce">>', "bar|baz"),
        (r'<<"\101\u00e9\t\"">>', 'A\u00e9\t"'),
        ("<<7>>", "7"),
    ],
)
def test_a_variable_is_printed_as_go_prints_it(template: str, text: str) -> None:
    assert parse(template).render(_VARIABLES) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a \n <<- .Series ->> \t b", "afoob"),
        ("a <<- .Series>> b", "afoo b"),
        ("a <<.Series ->> b", "a foob"),
        ("a <<.Series  ->> b", "a foob"),
        ("a <</* why */>> b", "a  b"),
        ("a <<- /* why */ ->> b", "ab"),
        ("<<.Series>><<.Series>>", "foofoo"),
        ("<< .Series >>", "foo"),
        ("sum(rate(x[5m])) >> {", "sum(rate(x[5m])) >> {"),
        ("", ""),
    ],
)
def test_spaces_and_comments_are_trimmed_as_go_trims_them(template: str, text: str) -> None:
    assert parse(template).render(_VARIABLES) == text


@pytest.mark.parametrize(
    ("template", "named"),
    [
        ("<<define `x`>>", "keyword define is not served"),
        ("<<template `x`>>", "keyword template is not served"),
        ("<<block `x` .>><<end>>", "keyword block is not served"),
        ("<<html .Series>>", "function html is not served: a query is not HTML"),
        ("<<.Series | js>>", "function js is not served"),
        ("<<urlquery .Series>>", "function urlquery is not served"),
        ("<<call .Series>>", "function call is not served"),
        ("<<join .GroupBySlice>>", "no function join"),
        ("<<.Foo>>", "no variable .Foo"),
        ("<<$.Foo>>", "no variable .Foo"),
        ("<<if true>><<.Foo>><<end>>", "no variable .Foo"),
        ('<<index .Foo "a">>', "no variable .Foo"),
        ("<<index .LabelValuesByName .Foo>>", "no variable .Foo"),
        ("<<range .GroupBySlice>><<.Series>><<end>>", r"write \$\.Series"),
        ("<<>>", "an action is empty"),
        ("<<if>>x<<end>>", "if lacks a value"),
        ("<<.Series", "not closed with >>"),
        ("<<if .Series>>x", "if is not closed with <<end>>"),
        ("<<if .Series>>x<<else>>y", "the else of if is not closed with <<end>>"),
        ("<<range .GroupBySlice>>x<<else if .Series>>y<<end>>", "unexpected if after else"),
        ("x<<end>>", "end without if, with or range"),
        ("<<else>>", "else without if, with or range"),
        ("<<break>>", "break outside of range"),
        ("<<if true>><<continue>><<end>>", "continue outside of range"),
        ("<<if true>>x<<end .Series>>", "unexpected .Series after end"),
        ("<<$x>>", r"there is no variable \$x; := makes one"),
        ("<<if $x := 1>>a<<end>><<$x>>", r"there is no variable \$x"),
        ("<<$x = 1>>", r"there is no variable \$x to set"),
        ("<<$ := 1>>", r"\$ stands for the rule's variables"),
        ("<<$x, $y := .GroupBySlice>>", "too many variables in an action"),
        ("<<range $x, $y .GroupBySlice>>a<<end>>", "after .* there must be :="),
        ("<<(.Series>>", r"a \( is not closed"),
        ("<<.Series)>>", r"unexpected \)"),
        ("<<.Series | .GroupBy>>", "stands after | but is no function"),
        ("<<(.Series) 1>>", "cannot be given arguments"),
        ("<<not>>", "not takes 1 argument, not 0"),
        ("<<.Series | len .GroupBy>>", "len takes 1 argument, not 2"),
        ("<<eq .Series>>", "eq takes at least 2 arguments, not 1"),
        ("<<index .GroupBySlice index>>", "index takes at least 1 argument, not 0"),
        ("<<printf 3 .Series>>", "printf needs a format first, not a whole number"),
        ("<<printf `%s %s` .Series>>", "takes 2 values, not 1"),
        ("<<printf `%[1]s` .Series>>", "printf .* is not served"),
        ("<<printf `%T` .Series>>", "the verb %T is not served"),
        ("<<printf `%*d` 1 2>>", "printf .* is not served"),
        ("<<nil>>", "nil alone is no value"),
        ('<<"a".b>>', "unexpected .b after 'a'"),
        ("<<.Series if>>", "unexpected keyword if"),
        ("x <</* why >>", "comment is not closed"),
        ('<<index .LabelValuesByName "a>>', "quoted text is not closed"),
        ("<<.Series .GroupBy>>", ".Series cannot be given arguments"),
        ("<<.Series#>>", "unexpected '#'"),
        ('<<.Series"a">>', "unexpected '\"'"),
        ("\n\n<<.Series#>>", "line 3"),
        ("<</* why */ .Series>>", r"must end with \*/ directly before >>"),
        (r'<<"\q">>', r"\\q is no escape of Go's"),
        (r'<<"\U00110000">>', "is no escape of Go's"),
        (r'<<"\xff">>', "is no text in UTF-8"),
        ("<<'ab'>>", "is not one character"),
        ("<<1i>>", "1i is not a number that is served"),
        ("<<0x1p4>>", "is not a number that is served"),
        ("<<99999999999999999999>>", "is too large"),
        ("<<1e999>>", "is too large"),
        ("<<" + "(" * 60 + "1" + ")" * 60 + ">>", "more than 50 blocks and brackets"),
    ],
)
def test_what_is_not_served_is_refused_by_name(template: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        parse(template)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("<<index .GroupBySlice 3>>", "index 3 is out of range: the last is 2"),
        ("<<index .GroupBySlice -1>>", "index -1 is out of range"),
        ('<<index .Series "a">>', "a text is no position in a text or a list"),
        ("<<index .LabelValuesByName 1>>", "a map cannot be indexed with a whole number"),
        ("<<index nil 1>>", "index of no value"),
        ("<<slice .Series 2 1>>", "slice from 2 to 1"),
        ("<<slice .Series 0 1 2>>", "slice takes 2 positions"),
        ("<<slice `é` 0 1>>", "slice cuts a character in two"),
        ("<<slice 5>>", "slice of a whole number"),
        ("<<len 5>>", "len of a whole number"),
        ("<<range .Series>><<end>>", "range cannot go over a text"),
        ("<<range 3>><<end>>", "range cannot go over a whole number"),
        ("<<eq .Series 1>>", "a text and a whole number cannot be compared"),
        ("<<eq .GroupBySlice .GroupBySlice>>", "a list and a list cannot be compared"),
        ("<<lt true false>>", "a truth value is neither less nor more"),
        ("<<lt .Series 1>>", "cannot be compared"),
        ("<<printf `%d` .Series>>", "printf: %d is not served for a text"),
        ("<<printf `%5.1d` 1>>", "printf: %5.1d is not served for a whole number"),
        ("<<printf `%d` true>>", "printf: %d is not served for a truth value"),
        ("<<printf .GroupBySlice>>", "printf needs a format first, not a list"),
        ("<<(1).x>>", ".x cannot be read of a whole number"),
        (
            "<<range .GroupBySlice>>" + "<<range $.GroupBySlice>>" * 12 + "x" + "<<end>>" * 13,
            "it is not done after 100000 steps",
        ),
        (
            "<<$x := .Series>>" + "<<$x = print $x $x $x $x>>" * 12,
            "a text in it grows beyond 1000000 characters",
        ),
        ("<<with .GroupBySlice>><<.x>><<end>>", ".x cannot be read of a list"),
        ("<<.Series.Name>>", "only .LabelValuesByName has keys"),
    ],
)
def test_what_cannot_be_read_of_a_value_is_an_error(template: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse(template).render(_VARIABLES)


def test_a_template_knows_what_it_reads() -> None:
    template = parse('<<.Series>>{<<index .LabelValuesByName "pod">>}')
    assert [template.uses(name) for name in ("Series", "LabelValuesByName", "GroupBy")] == [
        True,
        True,
        False,
    ]


def test_labels_have_variables_of_their_own() -> None:
    template = parse("kube_<<.Group>>_<<.Resource>>", RESOURCE_FIELDS)
    assert template.render(ResourceWords(group="apps", resource="job")) == "kube_apps_job"


@given(st.text() | _PIECES.map("".join))
def test_any_text_is_a_template_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(parse(text).render(_VARIABLES), str)


@given(st.text().filter(lambda text: "<<" not in text))
def test_text_without_actions_stands_for_itself(text: str) -> None:
    assert parse(text).render(_VARIABLES) == text


@pytest.mark.parametrize(
    ("template", "prints"),
    [
        ("x{<<.LabelMatchers>>}", True),
        ("x{<<$.LabelMatchers>>}", True),
        ("<<range .GroupBySlice>>x{<<$.LabelMatchers>>}<<end>>", True),
        ("<<.Series>>", True),
        ("<<len .LabelMatchers>>", False),
        ("<<if .LabelMatchers>>x{<<.LabelMatchers>>}<<end>>", False),
        ("<<$m := .LabelMatchers>>x{<<$m>>}", False),
        ("<<with .LabelMatchers>>x{<<.>>}<<end>>", False),
        ("<<.LabelMatchers | printf `%q`>>", False),
        ("<<printf `%v` .>>", False),
        ("<<with $>><<len .LabelMatchers>><<end>>", False),
    ],
)
def test_a_template_knows_whether_a_variable_only_stands_in_its_text(
    template: str, prints: bool
) -> None:
    assert parse(template).only_prints("LabelMatchers") is prints


@pytest.mark.parametrize(
    "template",
    ["<<.>>", "<<$>>", "<<print .>>", "<<$x := .>><<$x.Series>>", "<<with .>><<.>><<end>>"],
)
def test_whoever_reads_all_variables_uses_each(template: str) -> None:
    assert parse(template).uses("LabelValuesByName")


def test_elements_of_a_range_are_no_variables() -> None:
    assert not parse("<<range .GroupBySlice>><<.>><<end>>").uses("LabelValuesByName")
