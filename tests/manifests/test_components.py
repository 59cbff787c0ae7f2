"""The groups that are registered only when wanted."""

import textwrap

import pytest

from adapter.rules.config import load
from tests.manifests.documents import BASE, MANIFESTS, ROOT, kustomization, objects, one

COMPONENTS = MANIFESTS / "components"
GROUPS = {
    "external-metrics": ("external.metrics.k8s.io", ["*"]),
    "resource-metrics": ("metrics.k8s.io", ["pods", "nodes"]),
}


def test_the_base_takes_custom_metrics_only() -> None:
    services = [item for item in objects(BASE) if item["kind"] == "APIService"]
    assert {item["spec"]["group"] for item in services} == {"custom.metrics.k8s.io"}


@pytest.mark.parametrize("name", GROUPS)
def test_a_component_registers_its_group_at_the_same_service(name: str) -> None:
    service = one(COMPONENTS / name, "APIService")
    group, _ = GROUPS[name]
    base = one(BASE, "APIService", "v1beta1.custom.metrics.k8s.io")["spec"]
    assert service["metadata"]["name"] == f"v1beta1.{group}"
    assert (service["spec"]["group"], service["spec"]["version"]) == (group, "v1beta1")
    assert service["spec"]["service"] == base["service"]


@pytest.mark.parametrize("name", GROUPS)
def test_a_component_takes_the_authority_of_the_overlay(name: str) -> None:
    (replacement,) = kustomization(COMPONENTS / name)["replacements"]
    source, (target,) = replacement["source"], replacement["targets"]
    assert one(BASE, source["kind"], source["name"])["kind"] == "APIService"
    assert target["select"] == {
        "kind": "APIService",
        "name": one(COMPONENTS / name, "APIService")["metadata"]["name"],
    }
    assert source["fieldPath"] == target["fieldPaths"][0] == "spec.caBundle"


@pytest.mark.parametrize("name", GROUPS)
def test_the_autoscaler_and_viewers_may_read_the_group(name: str) -> None:
    group, resources = GROUPS[name]
    folder, word = COMPONENTS / name, name.removesuffix("-metrics")
    reads = [{"apiGroups": [group], "resources": resources, "verbs": ["get", "list"]}]
    reader, viewer = (
        one(folder, "ClusterRole", f"gpu-metrics-adapter-{word}-{end}")
        for end in ("reader", "view")
    )
    assert reader["rules"] == viewer["rules"] == reads
    assert viewer["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
    binding = one(folder, "ClusterRoleBinding")
    assert binding["roleRef"]["name"] == reader["metadata"]["name"]
    base = one(BASE, "ClusterRoleBinding", "gpu-metrics-adapter-reader")
    assert binding["subjects"] == base["subjects"]


def test_the_rules_that_the_document_shows_are_rules() -> None:
    """They load without a problem or a warning, and give both groups something to serve."""
    text = (ROOT / "docs" / "other-groups.md").read_text(encoding="utf-8")
    blocks = [_block(text, key) for key in ("externalRules", "resourceRules")]
    read = load("\n".join(blocks), "other-groups.md")
    assert read.warnings == ()
    assert len(read.external_rules) == 1
    assert read.resource_rules is not None
    assert read.resource_rules.window == 180


def _block(text: str, key: str) -> str:
    start = text.index(f"    {key}:\n")
    return textwrap.dedent(text[start:].partition("\n\n")[0])
