"""Which objects are there, and how rarely the API server is asked."""

import asyncio

import anyio
import pytest

from adapter.errors import ClusterDown
from adapter.model.kinds import NAMESPACES, NODES, PODS, SERVICES
from adapter.model.objects import ObjectRef, Pod, Resource
from adapter.model.selector import EVERYTHING, parse
from adapter.sources.kube import KubeApi
from adapter.sources.objects import Objects, collection_path
from adapter.sources.pods import Inventory
from tests.fakes.cluster_state import Document, pod
from tests.fakes.kubernetes import FakeKubernetes, Fault

pytestmark = pytest.mark.anyio
DEPLOYMENTS = Resource(
    group="apps", plural="deployments", singular="deployment", kind="Deployment", namespaced=True
)


def named(name: str, namespace: str = "", **labels: str) -> Document:
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels}}


def knowing(*pods: Pod) -> Inventory:
    inventory = Inventory()
    inventory.replace(pods)
    return inventory


async def test_pods_are_selected_from_the_watch_without_a_request(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    inventory = knowing(
        Pod(namespace="a", name="y", labels={"app": "ray"}),
        Pod(namespace="a", name="x", labels={"app": "ray"}),
        Pod(namespace="a", name="w", labels={"app": "other"}),
        Pod(namespace="b", name="v", labels={"app": "ray"}),
    )
    objects = Objects(api, inventory)
    selected = await objects.select(PODS, "a", parse("app=ray"))
    assert selected == [ObjectRef("a", "x"), ObjectRef("a", "y")]
    assert await objects.exists(PODS, ObjectRef("a", "w"))
    assert not await objects.exists(PODS, ObjectRef("a", "v"))
    assert cluster.asked == []


async def test_until_the_watch_has_synced_living_pods_are_listed_once(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.put("/api/v1/pods", pod("a", "x", app="ray"))
    cluster.put("/api/v1/pods", pod("a", "over", phase="Succeeded", app="ray"))
    objects = Objects(api, Inventory())
    assert await objects.select(PODS, "a", parse("app=ray")) == [ObjectRef("a", "x")]
    assert not await objects.exists(PODS, ObjectRef("a", "over"))
    assert len(cluster.asked) == 1


async def test_other_kinds_are_listed_by_their_metadata_alone(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.put("/apis/apps/v1/deployments", named("d2", "a", tier="web"))
    cluster.put("/apis/apps/v1/deployments", named("d1", "a", tier="web"))
    objects = Objects(api, Inventory())
    selected = await objects.select(DEPLOYMENTS, "a", parse("tier=web"))
    assert selected == [ObjectRef("a", "d1"), ObjectRef("a", "d2")]
    assert "as=PartialObjectMetadataList" in cluster.asked[0].headers["Accept"]


async def test_cluster_scoped_objects_have_no_namespace(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.put("/api/v1/nodes", named("n1", gpu="yes"))
    cluster.put("/api/v1/namespaces", named("rayexperiment"))
    objects = Objects(api, Inventory())
    assert await objects.select(NODES, "", parse("gpu")) == [ObjectRef("", "n1")]
    assert await objects.exists(NAMESPACES, ObjectRef("", "rayexperiment"))
    assert not await objects.exists(NAMESPACES, ObjectRef("", "other"))


async def test_those_who_ask_together_share_one_list(cluster: FakeKubernetes, api: KubeApi) -> None:
    cluster.put("/api/v1/services", named("s", "a"))
    cluster.gate.clear()
    objects = Objects(api, Inventory())
    answers: list[list[ObjectRef]] = []

    async def ask() -> None:
        answers.append(await objects.select(SERVICES, "a", EVERYTHING))

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        cluster.gate.set()
    assert answers == [[ObjectRef("a", "s")]] * 10
    assert len(cluster.asked) == 1


async def test_a_list_is_asked_again_when_its_time_is_over(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    now = [0.0]
    objects = Objects(api, Inventory(), ttl=5, clock=lambda: now[0])
    assert not await objects.exists(SERVICES, ObjectRef("a", "s"))
    cluster.put("/api/v1/services", named("s", "a"))
    now[0] = 4.9
    assert not await objects.exists(SERVICES, ObjectRef("a", "s"))
    now[0] = 5.0
    assert await objects.exists(SERVICES, ObjectRef("a", "s"))


async def test_a_long_list_is_read_to_its_end(cluster: FakeKubernetes, api: KubeApi) -> None:
    for number in range(1001):
        cluster.put("/api/v1/services", named(f"s{number}", "a"))
    assert len(await Objects(api, Inventory()).select(SERVICES, "a", EVERYTHING)) == 1001
    assert len(cluster.asked) == 2


async def test_a_kind_that_is_not_served_has_no_objects(api: KubeApi) -> None:
    strange = Resource(group="x.io", plural="widgets", singular="widget", kind="W", namespaced=True)
    objects = Objects(api, Inventory())
    assert not await objects.exists(strange, ObjectRef("a", "w"))


async def test_a_list_that_fails_is_cluster_down_and_not_an_empty_list(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.faults.append(Fault(500))
    objects = Objects(api, Inventory())
    with pytest.raises(ClusterDown):
        await objects.select(SERVICES, "a", EVERYTHING)
    assert await objects.select(SERVICES, "a", EVERYTHING) == []


async def test_a_body_that_is_no_list_is_cluster_down(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.documents["/api/v1/nodes"] = b"<html>"
    with pytest.raises(ClusterDown, match="not understood"):
        await Objects(api, Inventory()).select(NODES, "", EVERYTHING)


@pytest.mark.parametrize(
    ("resource", "namespace", "path"),
    [
        (PODS, "a", "/api/v1/namespaces/a/pods"),
        (PODS, "", "/api/v1/pods"),
        (NODES, "a", "/api/v1/nodes"),
        (DEPLOYMENTS, "a", "/apis/apps/v1/namespaces/a/deployments"),
    ],
)
def test_where_a_kind_is_listed(resource: Resource, namespace: str, path: str) -> None:
    assert collection_path(resource, namespace) == path


async def test_what_the_watch_knows_of_a_pod_is_given_as_it_is() -> None:
    known = Pod(namespace="a", name="x", node="n1", labels={})
    objects = Objects(_Nobody(), knowing(known))
    assert objects.pod("a", "x") is known
    assert objects.pod("a", "y") is None


class _Nobody:
    async def get(self, path: str, params: object, *, accept: str) -> bytes:
        raise asyncio.InvalidStateError
