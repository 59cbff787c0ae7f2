"""The real horizontal pod autoscaler scales on what the adapter serves."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cluster.adapter import AdapterProcess
from tests.cluster.exporter import Exporter, utilisation
from tests.cluster.fleet import Slot
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.scene import (
    autoscaler,
    deployment,
    eventually,
    namespace,
    object_metric,
    pods_metric,
)

pytestmark = pytest.mark.anyio

WORKERS, TRAINERS, COOLERS = "scaled-by-pods", "scaled-by-namespace", "scaled-by-node"
SPACES = (WORKERS, TRAINERS, COOLERS)
UTIL = "DEV_GPU_UTIL_current"
HOT = Slot(node="gpu-node-1", index=0)
POWER = "DCGM_FI_DEV_POWER_USAGE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What was seen: replicas by namespace, and the autoscalers' status while busy."""

    busy: Mapping[str, int]
    status: Mapping[str, Any]
    idle: Mapping[str, int]


@pytest.fixture(scope="module")
async def story(
    plane: ControlPlane, kubelet: Kubelet, exporter: Exporter, adapter: AdapterProcess
) -> AsyncIterator[Story]:
    """Three autoscalers of 1 to 3 replicas, through a time of load and one without."""
    exporter.release()
    async with (
        namespace(plane, kubelet, WORKERS),
        namespace(plane, kubelet, TRAINERS),
        namespace(plane, kubelet, COOLERS),
    ):
        _load(exporter, percent=90, watts=900)
        await _autoscalers(plane)
        busy = await eventually(lambda: replicas(plane), dict.fromkeys(SPACES, 3), seconds=40)
        status = {space: await status_of(plane, space) for space in SPACES}
        _load(exporter, percent=10, watts=100)
        idle = await eventually(lambda: replicas(plane), dict.fromkeys(SPACES, 1), seconds=40)
        yield Story(busy=busy, status=status, idle=idle)
    exporter.release()


def _load(exporter: Exporter, *, percent: float, watts: float) -> None:
    exporter.load = utilisation(lambda binding: percent if binding.namespace in SPACES else None)
    for index in range(4):
        exporter.set(Slot(node="gpu-node-1", index=index), POWER, watts)


async def _autoscalers(plane: ControlPlane) -> None:
    node = object_metric("node_power_watts", "1200", kind="Node", of="gpu-node-1")
    metrics = {
        WORKERS: pods_metric(UTIL, "40"),
        TRAINERS: object_metric(UTIL, "40", kind="Namespace", of=TRAINERS),
        COOLERS: node,
    }
    gpus = {WORKERS: 1, TRAINERS: 1, COOLERS: 0}
    for space, metric in metrics.items():
        await plane.apply(
            deployment(space, "target", gpus=gpus[space]), autoscaler(space, "target", metric)
        )


async def replicas(plane: ControlPlane) -> dict[str, int]:
    """Ready replicas of each target."""
    paths = {space: f"/apis/apps/v1/namespaces/{space}/deployments/target" for space in SPACES}
    found = {space: (await plane.get(path))["status"] for space, path in paths.items()}
    return {space: status.get("readyReplicas", 0) for space, status in found.items()}


async def status_of(plane: ControlPlane, space: str) -> Any:
    """The autoscaler's status, as kubectl has it."""
    done = await plane.kubectl("get", "hpa/target", "-n", space, "-o", "json")
    return json.loads(done.stdout)["status"]


async def test_a_metric_of_type_pods_scales_up(story: Story) -> None:
    """90 percent on average against 40: 1 -> ceil(2.25) = 3."""
    assert story.busy[WORKERS] == 3


async def test_a_metric_of_type_pods_scales_down(story: Story) -> None:
    """10 percent on average against 40: 3 -> ceil(0.75) = 1."""
    assert (story.busy[WORKERS], story.idle[WORKERS]) == (3, 1)


async def test_a_metric_of_a_namespace_scales_up(story: Story) -> None:
    assert story.busy[TRAINERS] == 3


async def test_a_metric_of_a_namespace_scales_down(story: Story) -> None:
    assert (story.busy[TRAINERS], story.idle[TRAINERS]) == (3, 1)


async def test_a_metric_of_a_node_scales_up(story: Story) -> None:
    """4 * 900 W against 1200 W: 1 -> 3."""
    assert story.busy[COOLERS] == 3


async def test_a_metric_of_a_node_scales_down(story: Story) -> None:
    """4 * 100 W against 1200 W: 3 -> 1."""
    assert (story.busy[COOLERS], story.idle[COOLERS]) == (3, 1)


async def test_the_autoscaler_shows_the_values_served(story: Story) -> None:
    shown = {space: status["currentMetrics"][0] for space, status in story.status.items()}
    assert shown[WORKERS]["pods"]["current"] == {"averageValue": "90"}
    assert shown[TRAINERS]["object"]["current"] == {"value": "90"}
    assert shown[COOLERS]["object"]["current"] == {"value": "3600"}


async def test_describe_shows_why_a_metric_is_not_found(
    plane: ControlPlane, kubelet: Kubelet, adapter: AdapterProcess
) -> None:
    async with namespace(plane, kubelet, "without-metric") as space:
        metric = pods_metric("NO_SERIES_current", "40")
        await plane.apply(deployment(space, "target"), autoscaler(space, "target", metric))
        reason = (
            "unable to get metric NO_SERIES_current: unable to fetch metrics from custom metrics "
            "API: the server could not find the metric NO_SERIES_current for pods: no rule offers "
            "a metric of this name in namespace without-metric, or Prometheus has no series for it"
        )
        assert await eventually(lambda: _says(plane, space, reason), wanted=True)


async def test_describe_shows_that_pods_have_no_sample(
    plane: ControlPlane, kubelet: Kubelet, adapter: AdapterProcess
) -> None:
    """The pods live and have no GPU: an empty list, which the autoscaler words itself."""
    async with namespace(plane, kubelet, "without-sample") as space:
        metric = pods_metric(UTIL, "40")
        await plane.apply(deployment(space, "target"), autoscaler(space, "target", metric))
        reason = "no metrics returned from custom metrics API"
        assert await eventually(lambda: _says(plane, space, reason), wanted=True)


async def _says(plane: ControlPlane, space: str, words: str) -> bool:
    done = await plane.kubectl("describe", "hpa/target", "-n", space)
    return words in " ".join(done.stdout.split())
