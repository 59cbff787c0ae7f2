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
        ("<<if .Series>>x<<end>>", "keyword if"),
        ("<<range .GroupBySlice>>", "keyword range"),
        ("<<with .Series>>", "keyword with"),
        ("<<printf `%s` .Series>>", "function printf"),
        ("<<len .GroupBySlice>>", "function len"),
        ("<<.Series | len>>", "pipeline"),
        ("<<$x := .Series>>", r"variable \$x"),
        ("<<(.Series)>>", r"\("),
        ("<<.>>", "the dot alone"),
        ("<<join .GroupBySlice>>", "no function join"),
        ("<<.Foo>>", "no variable .Foo"),
        ('<<index .Foo "a">>', "no variable .Foo"),
        ("<<index .LabelValuesByName .Foo>>", "no variable .Foo"),
        ("<<>>", "empty"),
        ("<<.Series", "not closed with >>"),
        ("x <</* why >>", "comment is not closed"),
        ('<<index .LabelValuesByName "a>>', "quoted text is not closed"),
        ("<<index .LabelValuesByName>>", "index needs a variable and a key"),
        ('<<index "a" 1>>', "index needs a variable first"),
        ("<<.Series .GroupBy>>", ".Series cannot be given arguments"),
        ("<<.Series#>>", "unexpected '#'"),
        ("\n\n<<.Series#>>", "line 3"),
        ("<</* why */ .Series>>", r"must end with \*/ directly before >>"),
        (r'<<"\q">>', r"\\q is no escape of Go's"),
        (r'<<"\U00110000">>', "is no escape of Go's"),
        ("<<1.5>>", r"unexpected 1\.5"),
        ("<<index .GroupBySlice index>>", "unexpected index"),
        ("<<nil>>", "keyword nil"),
    ],
)
def test_what_is_not_served_is_refused_by_name(template: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        parse(template)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("<<index .GroupBySlice 3>>", "index 3 is out of range: the list has 3"),
        ("<<index .GroupBySlice -1>>", "index -1 is out of range"),
        ('<<index .Series "a">>', "cannot be indexed"),
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
