"""Which query answers whom."""

import pytest

from adapter.engine.asking import Ask
from adapter.engine.catalogue import Offer
from adapter.engine.question import Scopes, limited
from adapter.errors import BadRequest, InternalError
from adapter.model.kinds import NAMESPACES, NODES, PODS
from adapter.model.objects import ObjectRef
from adapter.model.selector import EVERYTHING, parse
from tests.engine.parts import BY_POD, PLAIN, UTIL, builtin_offer, offer, rule

PLAIN_LABELS = (("namespace", "", "namespace"), ("pod", "", "pod"), ("Hostname", "", "node"))
ALONE = "topk(9, <<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"


def queries(
    one: Offer, *names: str, namespace: str = "ml", selector: str = "", scopes: Scopes = None
) -> list[str]:
    """Give the queries for a request."""
    wanted = Ask(one, namespace, names or ("train-0",), parse(selector) if selector else EVERYTHING)
    return wanted.question.queries(scopes)


def plain(query: str, kind: str = "pods") -> Offer:
    """Give an offer whose labels are `namespace`, `pod` and `Hostname`."""
    kinds = {"pods": PODS, "nodes": NODES, "namespaces": NAMESPACES}
    labels = [label for label, _, _ in PLAIN_LABELS]
    return offer(rule(query, overrides=PLAIN_LABELS), kinds[kind], labels=labels)


@pytest.mark.parametrize(
    ("kind", "names", "selector", "matchers", "group"),
    [
        ("pods", ("train-0",), "", 'namespace="ml",pod="train-0"', "pod"),
        ("pods", ("train-0", "train-1"), "", 'namespace="ml",pod=~"train-0|train-1"', "pod"),
        ("pods", ("a.b", "c"), "", 'namespace="ml",pod=~"a\\\\.b|c"', "pod"),
        ("nodes", ("gpu-a",), "", 'Hostname="gpu-a"', "Hostname"),
        ("nodes", ("gpu-a", "gpu-b"), "", 'Hostname=~"gpu-a|gpu-b"', "Hostname"),
        ("namespaces", ("ml",), "", 'namespace="ml"', "namespace"),
        (
            "pods",
            ("train-0",),
            "modelName=H200,gpu in (0,1)",
            'gpu=~"0|1",modelName="H200",namespace="ml",pod="train-0"',
            "pod",
        ),
    ],
)
def test_what_does_not_spread_is_asked_exactly_as_the_incumbent_asks(
    kind: str, names: tuple[str, ...], selector: str, matchers: str, group: str
) -> None:
    asked = queries(plain(ALONE, kind), *names, selector=selector)
    assert asked == [f"topk(9, {UTIL}{{{matchers}}}) by ({group})"]


def test_what_spreads_over_the_cluster_is_asked_for_the_namespaces_in_demand() -> None:
    one = plain(PLAIN)
    assert queries(one, scopes=frozenset({"ml"})) == [f'{UTIL}{{namespace="ml",pod!=""}}']
    assert queries(one, scopes=frozenset({"ml", "dev"})) == [
        f'{UTIL}{{namespace=~"dev|ml",pod!=""}}'
    ]
    assert queries(one, scopes=None) == [f'{UTIL}{{pod!=""}}']


def test_cluster_scoped_objects_in_demand_are_asked_for_by_name() -> None:
    assert queries(plain(PLAIN, "nodes"), scopes=frozenset({"gpu-b", "gpu-a"})) == [
        f'{UTIL}{{Hostname=~"gpu-a|gpu-b"}}'
    ]
    assert queries(plain(PLAIN, "nodes"), scopes=None) == [f'{UTIL}{{Hostname!=""}}']


def test_what_spreads_over_a_namespace_is_asked_once_for_it() -> None:
    assert queries(plain(BY_POD)) == [f'avg({UTIL}{{namespace="ml",pod!=""}}) by (pod)']


def test_the_metric_selector_limits_shared_queries_too_and_comes_first() -> None:
    asked = queries(plain(PLAIN), selector="z=1", scopes=frozenset({"ml"}))
    assert asked == [f'{UTIL}{{z="1",namespace="ml",pod!=""}}']


def test_each_binding_leaves_out_what_an_earlier_one_finds() -> None:
    labels = ("exported_pod", "exported_namespace", "pod", "namespace")
    one = builtin_offer("DEV_GPU_UTIL_current", PODS, labels)
    assert queries(one, scopes=frozenset({"ml"})) == [
        f'{UTIL}{{exported_namespace="ml",exported_pod!=""}}',
        f'{UTIL}{{namespace="ml",pod!="",exported_pod=""}}',
    ]


def test_asks_share_a_question_as_far_as_their_rule_spreads() -> None:
    wide, home, alone = (plain(query) for query in (PLAIN, BY_POD, ALONE))

    def same(one: Offer, first: tuple[str, str], second: tuple[str, str]) -> bool:
        one_ask, other = (Ask(one, namespace, (name,)) for namespace, name in (first, second))
        return one_ask.question == other.question

    assert same(wide, ("ml", "a"), ("dev", "b"))
    assert same(home, ("ml", "a"), ("ml", "b"))
    assert not same(home, ("ml", "a"), ("dev", "a"))
    assert same(alone, ("ml", "a"), ("ml", "a"))
    assert not same(alone, ("ml", "a"), ("ml", "b"))


def test_other_series_are_another_question() -> None:
    one = plain(PLAIN)
    first, second = (Ask(one, "ml", ("a",), parse(text)) for text in ("k=1", "k=2"))
    assert first.question != second.question


def test_a_shared_reading_must_cover_the_namespace_or_the_named_objects() -> None:
    assert Ask(plain(PLAIN), "ml", ("a",)).scopes == {"ml"}
    assert Ask(plain(PLAIN, "nodes"), "", ("gpu-a", "gpu-b")).scopes == {"gpu-a", "gpu-b"}
    assert Ask(plain(BY_POD), "ml", ("a",)).scopes == frozenset()


def test_past_sixty_four_scopes_everything_is_asked_for() -> None:
    assert limited([str(n) for n in range(64)]) == frozenset(str(n) for n in range(64))
    assert limited([str(n) for n in range(65)]) is None


def test_only_what_is_asked_alone_is_limited_to_objects() -> None:
    assert Ask(plain(PLAIN), "ml", ("a",)).question.wanted is None
    alone = Ask(plain(ALONE), "ml", ("a", "b")).question
    assert alone.wanted == (ObjectRef("ml", "a"), ObjectRef("ml", "b"))


@pytest.mark.parametrize("selector", ["gpu>1", "app.kubernetes.io/name=x"])
def test_a_selector_that_promql_cannot_carry_is_the_askers_fault(selector: str) -> None:
    with pytest.raises(BadRequest, match="metricLabelSelector: "):
        queries(plain(PLAIN), selector=selector)


def test_a_rule_that_gives_no_query_is_named() -> None:
    with pytest.raises(InternalError, match=r"^rules\.yaml:3: rule 1: the query for \w+ cannot"):
        queries(plain("<<- /* nothing */ ->>"))
