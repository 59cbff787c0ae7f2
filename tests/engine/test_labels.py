"""Which labels name an object, in pairs."""

from collections.abc import Sequence

import pytest

from adapter.engine.labels import Binding, bindings_of, workload_first
from adapter.model.kinds import NODES, PODS, Kinds
from adapter.rules.dcgm import builtin_rules
from tests.engine.parts import rule


def builtin_pods(*present: str) -> Sequence[Binding]:
    """Give the built-in rules' bindings of pods."""
    return bindings_of(builtin_rules()[0], PODS, present, Kinds())


def test_workload_labels_come_before_the_plain_ones_each_with_its_own_namespace() -> None:
    present = ("pod", "namespace", "exported_namespace", "exported_pod")
    assert builtin_pods(*present) == (
        Binding("exported_pod", "exported_namespace"),
        Binding("pod", "namespace"),
    )


def test_the_old_spelling_goes_together_too() -> None:
    present = ("pod_name", "pod", "namespace", "pod_namespace")
    assert builtin_pods(*present) == (
        Binding("pod_name", "pod_namespace"),
        Binding("pod", "namespace"),
    )


def test_labels_of_the_workload_can_be_put_first_the_others_as_they_were() -> None:
    plain, old, own = (Binding(f"{one}pod", f"{one}ns") for one in ("", "old_", "exported_"))
    assert workload_first((plain, old, own)) == (own, plain, old)


def test_a_label_without_a_partner_takes_the_preferred_namespace() -> None:
    one = rule(overrides=[("pod", "", "pod"), ("exported_namespace", "", "namespace")])
    bound = bindings_of(one, PODS, ("pod", "exported_namespace"), Kinds())
    assert bound == (Binding("pod", "exported_namespace"),)


def test_two_namespace_labels_of_which_one_is_of_the_same_sort() -> None:
    overrides = [
        ("kubernetes_namespace", "", "namespace"),
        ("namespace", "", "namespace"),
        ("kubernetes_pod_name", "", "pod"),
    ]
    present = [label for label, _, _ in overrides]
    bound = bindings_of(rule(overrides=overrides), PODS, present, Kinds())
    assert bound == (Binding("kubernetes_pod_name", "kubernetes_namespace"),)


def test_the_sort_counts_more_than_the_rules_preference() -> None:
    overrides = [
        ("exported_namespace", "", "namespace"),
        ("kubernetes_namespace", "", "namespace"),
        ("exported_pod", "", "pod"),
    ]
    present = [label for label, _, _ in overrides]
    bound = bindings_of(rule(overrides=overrides), PODS, present, Kinds())
    assert bound == (Binding("exported_pod", "exported_namespace"),)


def test_cluster_scoped_kinds_need_no_namespace() -> None:
    bound = bindings_of(builtin_rules()[0], NODES, ("Hostname", "hostname", "node"), Kinds())
    assert [binding.object_label for binding in bound] == ["node", "Hostname", "hostname"]
    assert {binding.namespace_label for binding in bound} == {""}


def test_a_namespaced_kind_without_namespace_label_cannot_be_named() -> None:
    assert builtin_pods("exported_pod") == ()


@pytest.mark.parametrize("order", [("pod", "exported_pod"), ("exported_pod", "pod")])
def test_the_order_in_which_labels_were_found_changes_nothing(order: tuple[str, ...]) -> None:
    first = builtin_pods(*order, "namespace", "exported_namespace")[0]
    assert first == Binding("exported_pod", "exported_namespace")
