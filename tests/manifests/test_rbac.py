"""What the adapter may do, and who may read what it serves."""

from typing import Any

from tests.manifests.documents import BASE, objects, one

ADAPTER = {
    "kind": "ServiceAccount",
    "name": "gpu-metrics-adapter",
    "namespace": "gpu-metrics-adapter",
}
READS = ["get", "list", "watch"]


def binding(kind: str, role: str) -> dict[str, Any]:
    (found,) = (
        item for item in objects(BASE) if item["kind"] == kind and item["roleRef"]["name"] == role
    )
    return found


def test_the_adapter_may_ask_for_reviews() -> None:
    assert binding("ClusterRoleBinding", "system:auth-delegator")["subjects"] == [ADAPTER]


def test_the_adapter_may_read_which_front_proxy_to_trust() -> None:
    found = binding("RoleBinding", "extension-apiserver-authentication-reader")
    assert found["metadata"]["namespace"] == "kube-system"
    assert found["roleRef"]["kind"] == "Role"
    assert found["subjects"] == [ADAPTER]


def test_the_adapter_only_reads_and_reads_no_secrets() -> None:
    assert binding("ClusterRoleBinding", "gpu-metrics-adapter")["subjects"] == [ADAPTER]
    assert one(BASE, "ClusterRole", "gpu-metrics-adapter")["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["pods", "nodes", "namespaces", "services"],
            "verbs": READS,
        },
        {
            "apiGroups": ["apps"],
            "resources": ["deployments", "statefulsets", "replicasets", "daemonsets"],
            "verbs": READS,
        },
        {"apiGroups": ["batch"], "resources": ["jobs", "cronjobs"], "verbs": READS},
    ]


def test_the_adapter_is_bound_to_nothing_else() -> None:
    bound = [
        item["roleRef"]["name"] for item in objects(BASE) if ADAPTER in item.get("subjects", [])
    ]
    assert sorted(bound) == [
        "extension-apiserver-authentication-reader",
        "gpu-metrics-adapter",
        "system:auth-delegator",
    ]


def test_the_autoscaler_may_read_metrics_with_and_without_its_own_account() -> None:
    assert binding("ClusterRoleBinding", "gpu-metrics-adapter-reader")["subjects"] == [
        {"kind": "ServiceAccount", "name": "horizontal-pod-autoscaler", "namespace": "kube-system"},
        {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "User",
            "name": "system:kube-controller-manager",
        },
    ]
    assert one(BASE, "ClusterRole", "gpu-metrics-adapter-reader")["rules"] == [METRICS]


METRICS = {"apiGroups": ["custom.metrics.k8s.io"], "resources": ["*"], "verbs": ["get", "list"]}


def test_whoever_may_view_a_namespace_may_read_its_metrics() -> None:
    role = one(BASE, "ClusterRole", "gpu-metrics-adapter-view")
    assert role["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
    assert role["rules"] == [METRICS]


def test_there_is_a_role_for_the_adapters_own_metrics() -> None:
    assert one(BASE, "ClusterRole", "gpu-metrics-adapter-metrics")["rules"] == [
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    ]


def test_only_the_adapters_pods_hold_the_accounts_token() -> None:
    deployment = one(BASE, "Deployment")["spec"]["template"]["spec"]
    assert one(BASE, "ServiceAccount")["automountServiceAccountToken"] is False
    assert deployment["automountServiceAccountToken"] is True
    assert deployment["serviceAccountName"] == ADAPTER["name"]
