"""What rules offer, and how it is found."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from adapter.engine.catalogue import Catalogue, Offer, offers_of, replaced, shared_names
from adapter.engine.labels import Binding
from adapter.model.kinds import NAMESPACES, NODES, PODS, Kinds
from adapter.rules.dcgm import builtin_rules
from adapter.rules.promql import Spread
from adapter.rules.rule import Override, Rule
from tests.engine.parts import (
    BY_POD,
    PLAIN,
    POD_AND_NAMESPACE,
    UNSPREADABLE,
    UTIL,
    builtin_offer,
    offer,
    rule,
)

LABELS = ("exported_pod", "exported_namespace", "Hostname")


def offered(one: Rule, labels: Collection[str] = LABELS, series: str = UTIL) -> list[Offer]:
    """Give what `one` offers for one series name."""
    return offers_of(one, dict.fromkeys(labels, frozenset({series})), Kinds())


def test_a_dcgm_series_is_offered_twice_on_pods_nodes_and_namespaces() -> None:
    offers = [found for one in builtin_rules() for found in offered(one)]
    assert {(found.resource.plural, found.metric) for found in offers} == {
        ("pods", "DEV_GPU_UTIL_current"),
        ("nodes", "DEV_GPU_UTIL_current"),
        ("namespaces", "DEV_GPU_UTIL_current"),
        ("pods", "DEV_GPU_UTIL_over_time"),
        ("nodes", "DEV_GPU_UTIL_over_time"),
        ("namespaces", "DEV_GPU_UTIL_over_time"),
    }


def test_the_range_of_the_query_is_the_window() -> None:
    assert builtin_offer("DEV_GPU_UTIL_over_time", PODS, LABELS).window == 180
    assert builtin_offer("DEV_GPU_UTIL_current", PODS, LABELS).window is None


def test_a_series_is_offered_only_on_kinds_whose_label_it_carries() -> None:
    names: Mapping[str, Collection[str]] = {"Hostname": {"a", "b"}, "exported_namespace": {"b"}}
    one = rule(overrides=[("Hostname", "", "node"), ("exported_namespace", "", "namespace")])
    offers = offers_of(one, names, Kinds())
    assert {(found.series, found.resource) for found in offers} == {
        ("a", NODES),
        ("b", NODES),
        ("b", NAMESPACES),
    }


def test_a_namespaces_own_label_is_its_object_label() -> None:
    assert offer(resource=NAMESPACES).bindings == (Binding("exported_namespace", ""),)


def test_a_series_that_the_rule_does_not_name_gives_nothing() -> None:
    assert offered(rule(matches="^DCGM_FI_(.*)$", name="$1"), series="node_load1") == []


def test_of_several_series_folded_into_one_name_the_last_counts_and_all_are_told() -> None:
    one = rule(name="$1", matches="^(DCGM)_.")
    names = dict.fromkeys(LABELS, frozenset({"DCGM_B", "DCGM_C", "DCGM_A"}))
    found = offers_of(one, names, Kinds())
    assert {(each.series, each.withheld) for each in found} == {("DCGM_C", "")}
    assert shared_names(one, names["Hostname"]) == {"DCGM": ("DCGM_A", "DCGM_B", "DCGM_C")}


def test_of_several_series_under_one_constant_name_none_is_served_and_the_reason_known() -> None:
    one = rule(name="gpu", matches=".*")
    found = offers_of(one, dict.fromkeys(LABELS, frozenset("EADCB")), Kinds())
    catalogue = Catalogue(found)
    reason = "the series A, B, C and 2 more would all be named so"
    assert {each.withheld for each in found} == {reason}
    assert (catalogue.offers, catalogue.metrics_for(PODS)) == ((), ())
    assert not catalogue.known("gpu")
    withheld = catalogue.find(PODS, "gpu")
    assert withheld in catalogue.withheld
    assert withheld is not None
    assert withheld.withheld == reason


def test_a_constant_name_is_withheld_only_on_kinds_that_several_series_have() -> None:
    overrides = [("Hostname", "", "node"), ("exported_namespace", "", "namespace")]
    names: Mapping[str, Collection[str]] = {"Hostname": {"a", "b"}, "exported_namespace": {"b"}}
    catalogue = Catalogue(offers_of(rule(name="gpu", overrides=overrides), names, Kinds()))
    assert [each.resource for each in catalogue.offers] == [NAMESPACES]
    assert [each.resource for each in catalogue.withheld] == [NODES]


def test_a_query_that_is_the_same_for_every_series_is_served_under_a_constant_name() -> None:
    one = rule("sum(a{<<.LabelMatchers>>}) / sum(b{<<.LabelMatchers>>})", name="ratio")
    catalogue = Catalogue(offers_of(one, dict.fromkeys(LABELS, frozenset("ab")), Kinds()))
    assert catalogue.metrics_for(PODS) == ("ratio",)
    assert catalogue.withheld == ()


def test_a_later_rule_counts_though_its_metric_is_withheld() -> None:
    first, second = rule(name="gpu"), rule(name="gpu", number=2)
    both = dict.fromkeys(LABELS, frozenset("ab"))
    offers = [*offered(first), *offers_of(second, both, Kinds())]
    found = Catalogue(offers).find(PODS, "gpu")
    assert found is not None
    assert found.rule is second
    assert found.withheld


def test_the_later_rule_counts_and_the_other_is_told() -> None:
    first, second = (rule(number=number) for number in (1, 2))
    offers = [*offered(first), *offered(second)]
    found = Catalogue(offers).find(PODS, UTIL)
    assert found is not None
    assert found.rule is second
    assert (offers[0], offers[2]) in replaced(offers)


PLAIN_LABELS = (("pod", "", "pod"), ("namespace", "", "namespace"))
BOTH_LABELS = (*PLAIN_LABELS, ("exported_pod", "", "pod"), ("exported_namespace", "", "namespace"))


def _named(*overrides: Override, number: int, series: str = UTIL) -> Offer:
    one = rule(overrides=overrides, matches=".*", name="gpu_util", number=number)
    return offer(one, series=series, labels=[label for label, _, _ in overrides])


def test_an_earlier_rule_of_other_labels_of_the_same_series_stands_beside_the_later() -> None:
    """A fleet that is scraped in two ways, with a rule for each."""
    exported, plain = _named(*POD_AND_NAMESPACE, number=1), _named(*PLAIN_LABELS, number=2)
    for earlier, later in ((exported, plain), (plain, exported)):
        found = Catalogue([earlier, later]).find(PODS, "gpu_util")
        assert found == replace(later, beside=(earlier,))


@pytest.mark.parametrize(
    "earlier",
    [
        _named(*POD_AND_NAMESPACE, number=1, series="DCGM_FI_DEV_FB_USED"),
        _named(*BOTH_LABELS, number=1),
        _named(*PLAIN_LABELS, number=1),
        replace(_named(*POD_AND_NAMESPACE, number=1), withheld="for a reason"),
    ],
    ids=["of another series", "of some of the same labels", "of the same labels", "withheld"],
)
def test_an_earlier_rule_otherwise_does_not(earlier: Offer) -> None:
    later = _named(*PLAIN_LABELS, number=2)
    assert Catalogue([earlier, later]).find(PODS, "gpu_util") == later


def test_of_several_earlier_rules_the_last_of_each_sort_of_labels_stands_beside() -> None:
    first, second = (_named(*POD_AND_NAMESPACE, number=number) for number in (1, 2))
    later = _named(*PLAIN_LABELS, number=3)
    found = Catalogue([first, second, later]).find(PODS, "gpu_util")
    assert found == replace(later, beside=(second,))


def test_a_metric_is_found_on_its_own_kind_only() -> None:
    catalogue = Catalogue([offer()])
    assert catalogue.find(PODS, UTIL) == offer(catalogue.offers[0].rule)
    assert catalogue.find(NODES, UTIL) is None
    assert catalogue.find(PODS, "other") is None
    assert catalogue.known(UTIL)
    assert not catalogue.known("other")


def test_offers_and_metrics_come_in_one_order_whatever_the_rules_order() -> None:
    one = rule()
    mixed = [offer(one, series=name) for name in ("c", "a", "b")] + [offer(one, NAMESPACES)]
    assert Catalogue(mixed).offers == Catalogue(reversed(mixed)).offers
    assert Catalogue(mixed).metrics_for(PODS) == ("a", "b", "c")


def test_a_query_spreads_as_far_as_the_narrowest_of_its_labels_allows() -> None:
    assert offer().spread is Spread.CLUSTER
    assert offer(rule(BY_POD)).spread is Spread.NAMESPACE
    assert offer(rule(BY_POD), NAMESPACES).spread is Spread.CLUSTER
    assert offer(rule(UNSPREADABLE)).spread is Spread.REQUEST


def test_a_query_that_changes_the_values_does_not_keep_the_unit() -> None:
    assert offer().keeps_unit
    assert not offer(rule("rate(<<.Series>>{<<.LabelMatchers>>}[2m])")).keeps_unit


def test_a_gpu_is_never_offered_by_the_exporters_labels_first() -> None:
    """In whatever order the file has them; other series go by the file."""
    overrides = [("exported_pod", "", "pod"), ("pod", "", "pod"), ("namespace", "", "namespace")]
    labels = [label for label, _, _ in overrides]
    gpus = offer(rule(overrides=overrides), labels=labels)
    others = offer(rule(overrides=overrides), labels=labels, series="queue_depth")
    assert [one.object_label for one in gpus.bindings] == ["exported_pod", "pod"]
    assert [one.object_label for one in others.bindings] == ["pod", "exported_pod"]


def test_a_sum_has_the_unit_but_not_the_range() -> None:
    summed = offer(rule("sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"))
    assert (summed.keeps_unit, summed.sums_unit) == (False, True)


def test_a_rule_whose_query_cannot_be_made_is_offered_so_that_askers_are_told() -> None:
    broken = offer(rule("<<- /* nothing */ ->>"))
    assert (broken.window, broken.spread) == (None, Spread.REQUEST)


def test_offers_are_equal_by_value_and_rules_by_identity() -> None:
    one = rule()
    assert offer(one) == offer(one)
    assert offer(one) != offer(rule())


def test_series_that_differ_in_name_alone_have_offers_that_differ_in_name_alone() -> None:
    names = dict.fromkeys(LABELS, frozenset({"a", "b:c"}))
    first, *others = offers_of(rule(BY_POD), names, Kinds())
    (same,) = [one for one in others if one.resource == first.resource]
    assert same == replace(first, metric="b:c", series="b:c")


def test_a_query_that_looks_at_the_series_is_judged_for_each() -> None:
    plain = f"<<if eq .Series `a`>>{PLAIN}<<else>>topk(1, {PLAIN})<<end>>"
    names = dict.fromkeys(LABELS, frozenset({"a", "b"}))
    found = {
        one.series: one.spread
        for one in offers_of(rule(plain), names, Kinds())
        if one.resource == PODS
    }
    assert found == {"a": Spread.CLUSTER, "b": Spread.REQUEST}


def test_a_name_that_is_none_of_promqls_is_judged_by_itself() -> None:
    names = dict.fromkeys(LABELS, frozenset({"a", "b.c"}))
    found = offers_of(rule(), names, Kinds())
    spreads = {one.series: one.spread for one in found if one.resource == PODS}
    assert spreads == {"a": Spread.CLUSTER, "b.c": Spread.REQUEST}
