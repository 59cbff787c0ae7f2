"""The resource mapper: what a word means."""

import pytest

from adapter.model.kinds import BUILT_IN, PODS, Kinds
from adapter.model.objects import Resource


def made(plural: str, group: str, singular: str, *, namespaced: bool = True) -> Resource:
    """Give a kind."""
    return Resource(
        group=group,
        plural=plural,
        singular=singular,
        kind=singular.title(),
        namespaced=namespaced,
    )


KINDS = Kinds(
    [
        *BUILT_IN,
        made("storageclasses", "storage.k8s.io", "storageclass", namespaced=False),
        made("pods", "metrics.example.com", "podmetrics"),
        made("things", "storage.other.io", "thing"),
        made("things", "storage", "thing"),
    ]
)


@pytest.mark.parametrize(
    ("word", "group", "qualified"),
    [
        ("pod", "", "pods"),
        ("Pods", "", "pods"),
        ("DEPLOYMENT", "", "deployments.apps"),
        ("deployments", "apps", "deployments.apps"),
        ("deployments", "ap", "deployments.apps"),
        ("storageclass", "storage", "storageclasses.storage.k8s.io"),
        ("thing", "storage", "things.storage"),
        ("thing", "storage.o", "things.storage.other.io"),
        ("podmetrics", "", "pods.metrics.example.com"),
        ("pods", "metrics", "pods.metrics.example.com"),
        ("deployments", "k8s.io", None),
        ("container", "", None),
        ("", "", None),
    ],
)
def test_a_word_means_the_kind_that_the_incumbent_takes(
    word: str, group: str, qualified: str | None
) -> None:
    found = KINDS.find(word, group)
    assert (found.qualified if found else None) == qualified


def test_the_text_after_the_first_dot_of_a_path_is_the_group() -> None:
    found = KINDS.find_qualified("storageclass.storage.k8s.io")
    assert found
    assert found.plural == "storageclasses"
    assert KINDS.find_qualified("pods") == PODS
    assert KINDS.find_qualified("pods.apps") is None


def test_sets_of_the_same_kinds_in_the_same_order_are_equal() -> None:
    assert Kinds() == Kinds(list(BUILT_IN))
    assert hash(Kinds()) == hash(Kinds(list(BUILT_IN)))
    assert Kinds() != Kinds(BUILT_IN[1:])
    assert Kinds() != Kinds(BUILT_IN[::-1])
    assert Kinds() != BUILT_IN
