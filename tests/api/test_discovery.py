"""The discovery documents: never empty, never an error, the same bytes on every replica."""

from typing import Any

import httpx
import pytest

from adapter.api.groups import custom_lines
from adapter.engine.catalogue import Catalogue
from adapter.model.kinds import BUILT_IN, NAMESPACES, NODES, PODS
from adapter.model.objects import Resource
from tests.api.world import P1, P2, World, client, offer

pytestmark = pytest.mark.anyio

GROUP = "custom.metrics.k8s.io"
V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = V2.replace("v=v2", "v=v2beta1")
INGRESSES = next(kind for kind in BUILT_IN if kind.plural == "ingresses")


def _world(*resources: Resource) -> World:
    return World(catalogue=Catalogue(offer(kind) for kind in resources))


def _shown(entry: dict[str, Any]) -> tuple[str, bool]:
    return entry["name"], entry["namespaced"]


@pytest.mark.parametrize("path", [P1, P2])
async def test_the_resource_list_has_every_metric_sorted(path: str) -> None:
    listed = (await _world(PODS, INGRESSES, NODES, NAMESPACES).get(path)).json()
    assert (listed["kind"], listed["apiVersion"]) == ("APIResourceList", "v1")
    assert listed["groupVersion"] == path.removeprefix("/apis/")
    assert [_shown(entry) for entry in listed["resources"]] == [
        ("ingresses.networking.k8s.io/gpu_util", True),
        ("namespaces/gpu_util", False),
        ("nodes/gpu_util", False),
        ("pods/gpu_util", True),
    ]


async def test_an_entry_is_exactly_what_clients_know() -> None:
    listed = (await _world(PODS).get(P2)).json()
    assert listed["resources"] == [
        {
            "name": "pods/gpu_util",
            "singularName": "",
            "namespaced": True,
            "kind": "MetricValueList",
            "verbs": ["get"],
        }
    ]


@pytest.mark.parametrize("path", [P1, P2])
async def test_the_resource_list_is_never_empty(path: str) -> None:
    """Clients take an empty list for an error; this entry is custom-metrics-apiserver's own."""
    answer = await World(catalogue=Catalogue(), discovered=False).get(path)
    assert answer.status_code == 200
    assert [_shown(entry) for entry in answer.json()["resources"]] == [("/custommetric", False)]


async def test_the_aggregated_document_is_not_empty_either() -> None:
    answer = await World(catalogue=Catalogue()).get("/apis", accept=V2)
    for version in answer.json()["items"][0]["versions"]:
        assert version["resources"][0]["subresources"][0]["subresource"] == "custommetric"


@pytest.mark.parametrize("accept", ["", "*/*", "application/vnd.kubernetes.protobuf"])
async def test_the_resource_list_is_given_whatever_is_accepted(accept: str) -> None:
    """The probe sends no Accept, and anything but 2xx takes the whole group away."""
    answer = await World().get(P2, **({"accept": accept} if accept else {}))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


async def test_the_resource_list_knows_no_tags() -> None:
    """The aggregator may send the tag of the aggregated document along."""
    async with client(World()) as asking:
        tag = (await asking.get("/apis", headers={"accept": V2})).headers["etag"]
        answer = await asking.get(P2, headers={"if-none-match": tag})
    assert (answer.status_code, "etag" in answer.headers) == (200, False)


async def test_the_group_lists_both_versions_and_prefers_v1beta2() -> None:
    told = (await World().get(f"/apis/{GROUP}")).json()
    v2 = {"groupVersion": f"{GROUP}/v1beta2", "version": "v1beta2"}
    v1 = {"groupVersion": f"{GROUP}/v1beta1", "version": "v1beta1"}
    assert told == {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": GROUP,
        "versions": [v2, v1],
        "preferredVersion": v2,
    }


async def test_the_group_list_has_all_three_groups_whatever_the_rules() -> None:
    told = (await World().get("/apis")).json()
    assert (told["kind"], told["apiVersion"]) == ("APIGroupList", "v1")
    assert [group["name"] for group in told["groups"]] == [
        GROUP,
        "external.metrics.k8s.io",
        "metrics.k8s.io",
    ]


async def test_the_aggregated_document_has_metrics_as_subresources() -> None:
    answer = await _world(PODS, NODES).get("/apis", accept=V2)
    assert answer.headers["content-type"] == V2
    told = answer.json()
    assert (told["kind"], told["apiVersion"]) == (
        "APIGroupDiscoveryList",
        "apidiscovery.k8s.io/v2",
    )
    versions = told["items"][0]["versions"]
    assert [version["version"] for version in versions] == ["v1beta2", "v1beta1"]
    assert versions[0]["freshness"] == "Current"
    assert versions[0]["resources"][1] == {
        "resource": "pods",
        "responseKind": {"group": "", "version": "", "kind": ""},
        "scope": "Namespaced",
        "singularResource": "",
        "verbs": [],
        "subresources": [
            {
                "subresource": "gpu_util",
                "responseKind": {"group": GROUP, "version": "v1beta2", "kind": "MetricValueList"},
                "verbs": ["get"],
            }
        ],
    }
    assert versions[0]["resources"][0]["scope"] == "Cluster"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "APIGroupList"),
        ("*/*", "APIGroupList"),
        ("application/json", "APIGroupList"),
        (V2BETA1, "APIGroupList"),
        (f"application/json,{V2}", "APIGroupList"),
        (f"{V2};q=0.1,application/json", "APIGroupList"),
        (V2, "APIGroupDiscoveryList"),
        (f"{V2},{V2BETA1},application/json", "APIGroupDiscoveryList"),
        (f"{V2BETA1},{V2}", "APIGroupDiscoveryList"),
        (f"{V2};profile=nopeer,application/json", "APIGroupDiscoveryList"),
        (
            f"application/vnd.kubernetes.protobuf;{V2.partition(';')[2]},{V2}",
            "APIGroupDiscoveryList",
        ),
    ],
)
async def test_the_form_of_discovery_is_the_one_accepted(accept: str, kind: str) -> None:
    answer = await World().get("/apis", **({"accept": accept} if accept else {}))
    assert (answer.status_code, answer.json()["kind"]) == (200, kind)
    assert answer.headers["vary"] == "Accept"


@pytest.mark.parametrize("accept", ["application/json", V2])
async def test_replicas_give_the_same_tag_whatever_the_order_of_discovery(accept: str) -> None:
    one = await _world(PODS, NODES, NAMESPACES).get("/apis", accept=accept)
    other = await _world(NAMESPACES, PODS, NODES).get("/apis", accept=accept)
    assert one.headers["etag"] == other.headers["etag"]
    assert one.content == other.content


async def _again(world: World, accept: str, tag: str) -> httpx.Response:
    return await world.get("/apis", accept=accept, if_none_match=tag)


async def test_a_client_that_has_the_document_gets_no_second_copy() -> None:
    tag = (await _world(PODS).get("/apis", accept=V2)).headers["etag"]
    answer = await _again(_world(PODS), V2, tag)
    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)


@pytest.mark.parametrize("form", ["W/{}", '"other", {}'])
async def test_tags_are_compared_as_http_says(form: str) -> None:
    tag = (await _world(PODS).get("/apis", accept=V2)).headers["etag"]
    assert (await _again(_world(PODS), V2, form.format(tag))).status_code == 304


async def test_the_tag_of_one_document_is_not_that_of_another() -> None:
    tag = (await _world(PODS).get("/apis", accept=V2)).headers["etag"]
    assert (await _again(_world(PODS), "application/json", tag)).status_code == 200
    assert (await _again(_world(PODS, NODES), V2, tag)).status_code == 200


async def test_a_swapped_catalogue_is_shown_at_once() -> None:
    world = _world(PODS)
    async with client(world) as asking:
        await asking.get(P2)
        world.catalogue = Catalogue([offer(NODES)])
        listed = (await asking.get(P2)).json()["resources"]
    assert [_shown(entry) for entry in listed] == [("nodes/gpu_util", False)]


def test_entries_of_one_parent_agree_on_the_scope() -> None:
    """Else kube-apiserver would drop the group version; a kind may change while a rule fails."""
    once = Resource(plural="gpus", singular="gpu", kind="GPU", namespaced=True)
    now = Resource(plural="gpus", singular="gpu", kind="GPU", namespaced=False)
    lines = custom_lines([offer(once, "a"), offer(now, "b")])
    assert len({line.namespaced for line in lines}) == 1
    assert [line.metric for line in lines] == ["a", "b"]
