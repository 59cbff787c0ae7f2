"""Label selectors mean what they mean to kube-apiserver."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.model.selector import EVERYTHING, Operator, Requirement, Selector, parse

LABELS = {"app": "ray", "tier": "gpu", "size": "4"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "app=ray",
        "app==ray",
        "app!=web",
        "other!=x",
        "app in (ray, web)",
        "app notin (web)",
        "other notin (web)",
        "app",
        "!other",
        "size>3",
        "size<5",
        "app=ray,tier in (gpu),!other",
    ],
)
def test_it_selects(text: str) -> None:
    assert parse(text).matches(LABELS)


@pytest.mark.parametrize(
    "text",
    [
        "app=web",
        "other",
        "!app",
        "app!=ray",
        "app in (web)",
        "app notin (ray)",
        "other in (x)",
        "size>4",
        "size<4",
        "app>1",
        "other>1",
        "app=ray,tier=cpu",
        "app=",
    ],
)
def test_it_does_not_select(text: str) -> None:
    assert not parse(text).matches(LABELS)


@pytest.mark.parametrize(
    "text",
    ["modelName=NVIDIA H100", "a=b,", ",", "=b", "a in b", "a=b c", "gpu>x", "a=-b", "a in (b"],
)
def test_what_cannot_be_read_is_quoted_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*'[^\n]+'[^\n]*$"):
        parse(text)


def test_requirements_are_sorted_by_key() -> None:
    assert parse("b=1,a=2") == parse("a=2,b=1")


names = st.from_regex(r"[a-z]([a-z0-9._-]{0,8}[a-z0-9])?", fullmatch=True)
requirements = st.one_of(
    st.builds(
        lambda key, operator, value: Requirement(key, operator, (value,)),
        names,
        st.sampled_from([Operator.EQUALS, Operator.NOT_EQUALS]),
        names,
    ),
    st.builds(
        lambda key, operator, values: Requirement(key, operator, tuple(sorted(values))),
        names,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.sets(names, min_size=1, max_size=3),
    ),
    st.builds(Requirement, names, st.sampled_from([Operator.EXISTS, Operator.ABSENT])),
)


@given(st.lists(requirements, max_size=4, unique_by=lambda requirement: requirement.key))
def test_printing_and_parsing_give_the_same_selector(parts: list[Requirement]) -> None:
    selector = Selector(tuple(sorted(parts, key=lambda requirement: requirement.key)))

    assert selector == parse(str(selector))


@given(st.text(max_size=20))
def test_any_text_is_a_selector_or_a_value_error(text: str) -> None:
    try:
        selector = parse(text)
    except ValueError:
        return

    assert selector == parse(str(selector))


@given(st.dictionaries(names, names))
def test_the_empty_selector_selects_everything(labels: dict[str, str]) -> None:
    assert EVERYTHING.matches(labels)
