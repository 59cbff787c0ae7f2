"""The pod watch, over real connections to a server that breaks on demand."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from adapter.model.objects import Pod
from adapter.sources.kube import KubeApi
from adapter.sources.pods import Inventory, PodDocument, PodWatch
from adapter.telemetry import Telemetry
from tests.fakes.cluster_state import line, pod
from tests.fakes.kubernetes import FakeKubernetes, Fault, gone
from tests.sources.following import at_once, reached, running

pytestmark = pytest.mark.anyio
PODS = "/api/v1/pods"


def names(inventory: Inventory) -> list[str]:
    return [pod.name for pod in inventory.all()]


@asynccontextmanager
async def watching(cluster: FakeKubernetes, api: KubeApi) -> AsyncIterator[Inventory]:
    """Watch until the end of the block, from the moment the first watch is open."""
    watch = PodWatch(api, Telemetry(), backoff=at_once())
    async with running(watch):
        await reached(watch.inventory, lambda: watch.inventory.synced)
        cluster.put(PODS, pod("z", "opened"))
        await reached(watch.inventory, lambda: "opened" in names(watch.inventory))
        cluster.delete(PODS, "z", "opened")
        await reached(watch.inventory, lambda: "opened" not in names(watch.inventory))
        yield watch.inventory


async def test_the_list_is_known_before_any_event(cluster: FakeKubernetes, api: KubeApi) -> None:
    cluster.put(PODS, pod("a", "x", uid="u", node="n1", ip="10.0.0.1", app="ray"))
    async with watching(cluster, api) as inventory:
        assert inventory.get("a", "x") == Pod(
            namespace="a", name="x", uid="u", node="n1", ip="10.0.0.1", labels={"app": "ray"}
        )
        assert inventory.get("b", "x") is None


async def test_the_watch_asks_for_living_pods_bookmarks_and_an_end(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    async with watching(cluster, api):
        opened = next(asked for asked in cluster.asked if "watch" in asked.params)
        assert opened.params["fieldSelector"] == "status.phase!=Succeeded,status.phase!=Failed"
        assert opened.params["allowWatchBookmarks"] == "true"
        assert opened.params["resourceVersion"] == "1"
        assert 300 <= int(opened.params["timeoutSeconds"]) <= 600


async def test_a_pod_that_succeeded_leaves(cluster: FakeKubernetes, api: KubeApi) -> None:
    cluster.put(PODS, pod("a", "job"))
    cluster.put(PODS, pod("a", "over", phase="Failed"))
    async with watching(cluster, api) as inventory:
        assert names(inventory) == ["job"]
        cluster.put(PODS, pod("a", "job", phase="Succeeded"))
        await reached(inventory, lambda: not names(inventory))


async def test_a_name_used_again_is_the_new_pod(cluster: FakeKubernetes, api: KubeApi) -> None:
    cluster.put(PODS, pod("a", "x", uid="old"))
    async with watching(cluster, api) as inventory:
        cluster.delete(PODS, "a", "x")
        cluster.put(PODS, pod("a", "x", uid="new"))
        await reached(inventory, lambda: [pod.uid for pod in inventory.all()] == ["new"])


async def test_a_cut_in_the_middle_of_a_line_resumes_without_a_new_list(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    async with watching(cluster, api) as inventory:
        cluster.cut(rest=b'{"type":"ADDED","object":{"metadata":{"name":"half"')
        cluster.put(PODS, pod("a", "whole"))
        await reached(inventory, lambda: bool(names(inventory)))
        assert names(inventory) == ["whole"]
        assert cluster.count(PODS) == 1


async def test_a_deletion_while_the_line_was_down_is_found_by_a_new_list(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.put(PODS, pod("a", "stays"))
    cluster.put(PODS, pod("a", "leaves"))
    async with watching(cluster, api) as inventory:
        cluster.cut()
        cluster.delete(PODS, "a", "leaves")
        cluster.state.compact()
        await reached(inventory, lambda: names(inventory) == ["stays"])
        assert cluster.count(PODS) == 2


@pytest.mark.parametrize("code", [410, 500])
async def test_an_error_as_an_event_leads_to_a_new_list(
    cluster: FakeKubernetes, api: KubeApi, code: int
) -> None:
    async with watching(cluster, api) as inventory:
        cluster.say(gone(code))
        cluster.cut()
        cluster.put(PODS, pod("a", "x"))
        await reached(inventory, lambda: names(inventory) == ["x"])
        assert cluster.count(PODS) == 2


async def test_a_bookmark_keeps_a_quiet_watch_from_falling_behind(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    async with watching(cluster, api) as inventory:
        cluster.state.put("/api/v1/nodes", {"metadata": {"name": "other"}})
        cluster.say(cluster.state.bookmark())
        cluster.state.compact()
        cluster.cut()
        cluster.put(PODS, pod("a", "x"))
        await reached(inventory, lambda: names(inventory) == ["x"])
        assert cluster.count(PODS) == 1


async def test_an_event_that_is_not_understood_leads_to_a_new_list(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.put(PODS, pod("a", "x"))
    async with watching(cluster, api) as inventory:
        cluster.say(b'{"type":"ADDED","object":{"metadata":7}}')
        await reached(inventory, lambda: cluster.count(PODS) == 2)
        assert names(inventory) == ["x"]


async def test_a_long_list_is_read_in_pages(cluster: FakeKubernetes, api: KubeApi) -> None:
    expected = [f"p{number:04}" for number in range(1001)]
    for name in expected:
        cluster.put(PODS, pod("a", name))
    async with watching(cluster, api) as inventory:
        assert names(inventory) == expected
        assert cluster.count(PODS) == 3


async def test_failures_are_waited_out_and_told_once(
    cluster: FakeKubernetes, api: KubeApi, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="adapter")
    cluster.put(PODS, pod("a", "x"))
    cluster.faults.append(Fault(503, times=3))
    async with watching(cluster, api) as inventory:
        assert names(inventory) == ["x"]
    assert caplog.messages == ["watch lost", "watch is back"]


async def test_a_list_that_is_not_understood_is_asked_again(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.put(PODS, pod("a", "x"))
    cluster.faults.append(Fault(200, body=b'{"items":[7]}'))
    async with watching(cluster, api) as inventory:
        assert names(inventory) == ["x"]


async def test_an_ended_pod_leaves_even_where_the_server_only_calls_it_modified(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.put(PODS, pod("a", "x"))
    async with watching(cluster, api) as inventory:
        cluster.say(line("MODIFIED", pod("a", "x", phase="Failed")))
        await reached(inventory, lambda: not names(inventory))


async def test_what_was_known_is_kept_through_an_outage(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.put(PODS, pod("a", "x"))
    async with watching(cluster, api) as inventory:
        cluster.faults.append(Fault(0, times=2))
        cluster.faults.append(Fault(403, times=2))
        cluster.cut()
        cluster.put(PODS, pod("a", "y"))
        assert names(inventory) == ["x"]
        await reached(inventory, lambda: names(inventory) == ["x", "y"])
        assert inventory.synced


async def test_the_number_of_living_pods_is_measured(cluster: FakeKubernetes, api: KubeApi) -> None:
    telemetry = Telemetry()
    watch = PodWatch(api, telemetry, backoff=at_once())
    cluster.put(PODS, pod("a", "x"))
    async with running(watch):
        await reached(watch.inventory, lambda: watch.inventory.synced)
    assert telemetry.registry.get_sample_value("gpu_metrics_adapter_pods") == 1


def test_the_nodes_are_those_with_living_pods() -> None:
    inventory = Inventory()
    inventory.put(Pod(namespace="a", name="x", node="n1", labels={}))
    inventory.put(Pod(namespace="a", name="y", node="n2", labels={}))
    inventory.put(Pod(namespace="a", name="pending", labels={}))
    inventory.drop("a", "x")
    assert inventory.node_names == {"n2"}


def test_pods_are_given_by_name_within_their_namespace() -> None:
    inventory = Inventory()
    for namespace, name in [("b", "2"), ("a", "2"), ("a", "10")]:
        inventory.put(Pod(namespace=namespace, name=name, labels={}))
    assert [pod.name for pod in inventory.in_namespace("a")] == ["10", "2"]
    assert [(pod.namespace, pod.name) for pod in inventory.all()] == [
        ("a", "10"),
        ("a", "2"),
        ("b", "2"),
    ]
    assert inventory.in_namespace("c") == ()


@pytest.mark.parametrize(("host_ip", "own"), [("10.0.0.1", "10.1.2.3"), ("10.1.2.3", "")])
def test_a_pod_in_its_nodes_network_has_no_address_of_its_own(host_ip: str, own: str) -> None:
    body = pod("ml", "llm-0") | {"status": {"podIP": "10.1.2.3", "hostIP": host_ip}}
    assert msgspec.convert(body, PodDocument).pod().ip == own
