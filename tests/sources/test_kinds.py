"""Which kinds a cluster serves, from both forms of its discovery."""

import pytest

from adapter.errors import ClusterDown
from adapter.model.kinds import Kinds
from adapter.model.objects import Resource
from adapter.sources.kinds import KindsRefresh, fetch_kinds
from adapter.sources.kube import KubeApi
from tests.fakes.kubernetes import FakeKubernetes, Fault
from tests.sources.following import at_once, running, until

pytestmark = pytest.mark.anyio
READ = ["get", "list"]


def legacy(name: str, kind: str, singular: str = "", *, namespaced: bool = True) -> object:
    return {
        "name": name,
        "kind": kind,
        "singularName": singular,
        "namespaced": namespaced,
        "verbs": READ,
    }


def aggregated(resource: str, kind: str, singular: str, scope: str = "Namespaced") -> object:
    return {
        "resource": resource,
        "responseKind": {"group": "", "version": "", "kind": kind},
        "scope": scope,
        "singularResource": singular,
        "verbs": READ,
        "subresources": [{"subresource": "status", "verbs": ["get"]}],
    }


CORE = {
    "resources": [
        legacy("pods", "Pod", "pod"),
        legacy("pods/log", "Pod"),
        legacy("nodes", "Node", namespaced=False),
        {"name": "bindings", "kind": "Binding", "namespaced": True, "verbs": ["create"]},
    ]
}
AGGREGATED = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "metadata": {"name": "apps"},
            "versions": [
                {
                    "version": "v1",
                    "resources": [aggregated("deployments", "Deployment", "deployment")],
                },
                {
                    "version": "v1beta1",
                    "resources": [
                        aggregated("deployments", "Deployment", "deployment"),
                        aggregated("scales", "Scale", "scale"),
                    ],
                },
            ],
        },
        {
            "metadata": {"name": "x.io"},
            "versions": [
                {"version": "v1", "resources": [aggregated("zones", "Zone", "zone", "Cluster")]}
            ],
        },
        {
            "metadata": {"name": "custom.metrics.k8s.io"},
            "versions": [{"version": "v1beta2", "resources": [aggregated("pods", "Fake", "pod")]}],
        },
        {"metadata": {"name": "stale.io"}, "versions": [{"version": "v1", "freshness": "Stale"}]},
    ],
}
LEGACY = {
    "kind": "APIGroupList",
    "groups": [
        {
            "name": "apps",
            "versions": [{"version": "v1beta1"}, {"version": "v1"}],
            "preferredVersion": {"version": "v1"},
        },
        {"name": "metrics.k8s.io", "versions": [{"version": "v1"}]},
        {"name": "broken.io", "versions": [{"version": "v1"}]},
        {"name": "x.io", "versions": [{"version": "v1"}]},
    ],
}
DEPLOYMENT = Resource(
    group="apps", plural="deployments", singular="deployment", kind="Deployment", namespaced=True
)
ZONE = Resource(group="x.io", plural="zones", singular="zone", kind="Zone", namespaced=False)


def serve_legacy(cluster: FakeKubernetes) -> None:
    deployments = legacy("deployments", "Deployment", "deployment")
    cluster.documents |= {
        "/api/v1": CORE,
        "/apis": LEGACY,
        "/apis/apps/v1": {"resources": [deployments, legacy("deployments/scale", "Scale")]},
        "/apis/apps/v1beta1": {"resources": [deployments, legacy("scales", "Scale", "scale")]},
        "/apis/x.io/v1": {"resources": [legacy("zones", "Zone", namespaced=False)]},
    }


async def test_core_comes_first_and_only_what_can_be_listed(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.documents |= {"/api/v1": CORE, "/apis": AGGREGATED}
    kinds = await fetch_kinds(api)
    assert kinds.find("pod") == Resource(plural="pods", singular="pod", kind="Pod", namespaced=True)
    assert kinds.find("nodes") == Resource(
        plural="nodes", singular="node", kind="Node", namespaced=False
    )
    assert kinds.find("bindings") is None
    assert kinds.find("pods/log") is None


async def test_aggregated_discovery_prefers_the_version_it_lists_first(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.documents |= {"/api/v1": CORE, "/apis": AGGREGATED}
    kinds = await fetch_kinds(api)
    assert kinds.find_qualified("deployments.apps") == DEPLOYMENT
    assert kinds.find("zone") == ZONE
    scale = kinds.find("scales")
    assert scale is not None
    assert scale.version == "v1beta1"
    assert [asked.path for asked in cluster.asked] == ["/api/v1", "/apis"]


async def test_older_discovery_gives_the_same_kinds(cluster: FakeKubernetes, api: KubeApi) -> None:
    serve_legacy(cluster)
    kinds = await fetch_kinds(api)
    assert kinds.find_qualified("deployments.apps") == DEPLOYMENT
    assert kinds.find("zone") == ZONE
    scale = kinds.find("scales")
    assert scale is not None
    assert scale.version == "v1beta1"


async def test_the_metrics_apis_are_not_asked_for_kinds(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    serve_legacy(cluster)
    await fetch_kinds(api)
    assert "/apis/metrics.k8s.io/v1" not in [asked.path for asked in cluster.asked]


async def test_without_core_kinds_nothing_is_believed(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.documents |= {"/api/v1": {"resources": []}, "/apis": AGGREGATED}
    with pytest.raises(ClusterDown, match="no core kinds"):
        await fetch_kinds(api)


async def test_what_is_not_understood_is_cluster_down(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.documents |= {"/api/v1": CORE, "/apis": b"[]"}
    with pytest.raises(ClusterDown, match="not understood"):
        await fetch_kinds(api)


async def test_kinds_start_with_what_every_cluster_has_and_are_refreshed(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.documents |= {"/api/v1": CORE, "/apis": AGGREGATED}
    cluster.faults.append(Fault(500, times=2))
    refresh = KindsRefresh(api, 600, backoff=at_once())
    start: Kinds = refresh.current
    assert start.find("pods") is not None
    async with running(refresh):
        await until(lambda: refresh.current.find("zone") is not None)
    assert refresh.current is not start


async def test_kinds_that_are_the_same_when_read_again_stay_the_same_object(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.documents |= {"/api/v1": CORE, "/apis": AGGREGATED}
    refresh = KindsRefresh(api, 0.001)
    async with running(refresh):
        await until(lambda: refresh.current.find("zone") is not None)
        first, asked = refresh.current, len(cluster.asked)
        await until(lambda: len(cluster.asked) > asked + 4)
        assert refresh.current is first
