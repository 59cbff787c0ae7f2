"""Labels and kinds: overrides, templates both ways, and which label is preferred."""

import pytest

from adapter.model.kinds import NAMESPACES, NODES, PODS, Kinds
from adapter.model.objects import Resource
from adapter.rules.resources import parse_resource_template
from tests.rules.making import rule

_KINDS = Kinds()
_INGRESSES = Resource(
    group="networking.k8s.io",
    plural="ingresses",
    singular="ingress",
    kind="Ingress",
    namespaced=True,
)


@pytest.mark.parametrize(
    ("template", "label", "plural"),
    [
        ("<<.Resource>>", "pod", "pods"),
        ("<<.Resource>>", "pods", "pods"),
        ("<<.Resource>>", "job", "jobs"),
        ("<<.Resource>>", "container", None),
        ("kube_<<.Resource>>", "kube_node", "nodes"),
        ("kube_<<.Resource>>", "node", None),
        ("kube_<<.Resource>>", "kube_node_name", None),
        ("kube_<<.Group>>_<<.Resource>>", "kube_apps_deployment", "deployments"),
        ("kube_<<.Group>>_<<.Resource>>", "kube_batch_deployment", None),
    ],
)
def test_a_template_reads_labels(template: str, label: str, plural: str | None) -> None:
    found = parse_resource_template(template).resource(label, _KINDS)
    assert (found.plural if found else None) == plural


def test_a_template_makes_the_label_of_a_kind() -> None:
    template = parse_resource_template("kube_<<.Group>>_<<.Resource>>")
    assert template.label(_INGRESSES) == "kube_networking_k8s_io_ingress"
    assert parse_resource_template("<<.Resource>>").label(PODS) == "pod"


@pytest.mark.parametrize("text", ["", "kube_", "<<.Group>>", "(<<.Resource>>", "<<.Series>>"])
def test_a_template_that_cannot_name_kinds_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_resource_template(text)


def test_an_override_goes_before_the_template() -> None:
    made = rule(overrides=(("pod", "", "node"),), template="<<.Resource>>")
    assert made.resource_of("pod", _KINDS) == NODES
    assert made.resource_of("namespace", _KINDS) == NAMESPACES
    assert made.resource_of("other", _KINDS) is None


def test_the_later_override_is_the_preferred_label() -> None:
    made = rule(
        overrides=(("pod", "", "pods"), ("namespace", "", "namespace"), ("exported_pod", "", "Pod"))
    )
    present = {"namespace", "exported_pod", "pod", "UUID"}
    assert made.labels_for(PODS, present, _KINDS) == ("exported_pod", "pod")
    assert made.labels_for(PODS, {"pod"}, _KINDS) == ("pod",)
    assert made.labels_for(NODES, present, _KINDS) == ()


def test_overrides_are_preferred_to_the_template_and_its_own_spelling_to_others() -> None:
    made = rule(overrides=(("workload", "", "pod"),), template="<<.Resource>>")
    assert made.labels_for(PODS, ["pods", "pod", "workload"], _KINDS) == ("workload", "pod", "pods")


def test_an_override_to_a_kind_that_the_cluster_lacks_means_nothing_and_is_told() -> None:
    made = rule(overrides=(("job_name", "ray.io", "rayjob"), ("pod", "", "pod")))
    assert made.resource_of("job_name", _KINDS) is None
    assert made.unknown_overrides(_KINDS) == (("job_name", "ray.io", "rayjob"),)
