"""Values through the real kube-apiserver, worked out by hand from the series exposed."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from tests.cluster.adapter import AdapterProcess
from tests.cluster.exporter import Exporter, utilisation
from tests.cluster.fleet import Slot
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.scene import (
    MEMORY,
    UTILISATION,
    V1BETA1,
    V1BETA2,
    eventually,
    namespace,
    pod,
    run_pods,
    slots_of,
    values,
)

pytestmark = pytest.mark.anyio

SPACE = "values"
POWER = "DCGM_FI_DEV_POWER_USAGE"
ONE, TWO, WEB = "one-gpu", "two-gpus", "web"


@pytest.fixture(scope="module")
async def scene(
    plane: ControlPlane, kubelet: Kubelet, exporter: Exporter, adapter: AdapterProcess
) -> AsyncIterator[datetime]:
    """Three pods on four GPUs with values that stay; gives when those were there."""
    exporter.load = utilisation(lambda binding: 73 if binding.pod == ONE else None)
    async with namespace(plane, kubelet, SPACE):
        await run_pods(
            plane,
            pod(SPACE, ONE, gpus=1, app="train", tier="batch"),
            pod(SPACE, TWO, gpus=2, app="train"),
            pod(SPACE, WEB, gpus=1, app="web", tier="live"),
            pod(SPACE, "no-gpu", app="train"),
        )
        _expose(kubelet, exporter)
        began = datetime.now(UTC)
        wanted = {ONE: "41k", TWO: "70k", WEB: "0"}
        seen = await eventually(lambda: values(plane.http, f"{PODS}/*/DEV_FB_USED_current"), wanted)
        assert seen == wanted
        nodes = {"gpu-node-2": "1k"}
        path = "nodes/gpu-node-2/node_power_watts"
        assert await eventually(lambda: values(plane.http, path), nodes) == nodes
        yield began
    exporter.release()


PODS = f"namespaces/{SPACE}/pods"


def _expose(kubelet: Kubelet, exporter: Exporter) -> None:
    exporter.release()
    [one], [first, second], [web] = (slots_of(kubelet, SPACE, name) for name in (ONE, TWO, WEB))
    for slot, busy, mebibytes in (
        (one, 73, 41_000),
        (first, 90, 30_000),
        (second, 40, 40_000),
        (web, 12, 0),
    ):
        exporter.set(slot, UTILISATION, busy)
        exporter.set(slot, MEMORY, mebibytes)
    for index, watts in enumerate((100.5, 200, 300, 400)):
        exporter.set(Slot(node="gpu-node-1", index=index), POWER, watts)
        exporter.set(Slot(node="gpu-node-2", index=index), POWER, 250)


async def raw(plane: ControlPlane, path: str, root: str = V1BETA2) -> Any:
    """What `kubectl get --raw` prints."""
    return json.loads((await plane.kubectl("get", "--raw", f"{root}/{path}")).stdout)


async def test_a_pod_by_name_has_the_value_of_its_gpu(plane: ControlPlane, scene: datetime) -> None:
    answer = await raw(plane, f"{PODS}/{ONE}/DEV_GPU_UTIL_current")
    [item] = answer["items"]
    timestamp = item.pop("timestamp")
    assert answer | {"items": [item]} == {
        "kind": "MetricValueList",
        "apiVersion": "custom.metrics.k8s.io/v1beta2",
        "metadata": {},
        "items": [
            {
                "describedObject": {
                    "kind": "Pod",
                    "namespace": SPACE,
                    "name": ONE,
                    "apiVersion": "/v1",
                },
                "metric": {"name": "DEV_GPU_UTIL_current", "selector": None},
                "value": "73",
            }
        ],
    }
    told = datetime.fromisoformat(timestamp)
    assert scene - timedelta(seconds=1) <= told <= datetime.now(UTC)


async def test_v1beta1_says_the_same_in_its_own_words(plane: ControlPlane, scene: datetime) -> None:
    answer = await raw(plane, f"{PODS}/{ONE}/DEV_GPU_UTIL_over_time", V1BETA1)
    [item] = answer["items"]
    item.pop("timestamp")
    assert answer["apiVersion"] == "custom.metrics.k8s.io/v1beta1"
    assert item == {
        "describedObject": {"kind": "Pod", "namespace": SPACE, "name": ONE, "apiVersion": "/v1"},
        "metricName": "DEV_GPU_UTIL_over_time",
        "window": 180,
        "value": "73",
        "selector": None,
    }


async def test_the_window_is_the_range_in_the_query(plane: ControlPlane, scene: datetime) -> None:
    answer = await raw(plane, f"{PODS}/{ONE}/DEV_GPU_UTIL_over_time")
    assert answer["items"][0]["windowSeconds"] == 180


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [("DEV_GPU_UTIL_current", "65"), ("DEV_FB_USED_current", "70k")],
)
async def test_a_pod_with_two_gpus_has_their_mean_or_sum(
    plane: ControlPlane, scene: datetime, metric: str, wanted: str
) -> None:
    """(90 + 40) / 2 percent, 30,000 + 40,000 MiB."""
    assert await values(plane.http, f"{PODS}/{TWO}/{metric}") == {TWO: wanted}


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [
        ("app=train", {ONE: "73", TWO: "65"}),
        ("app in (train, web),tier", {ONE: "73", WEB: "12"}),
        ("app!=train", {WEB: "12"}),
        ("!tier", {TWO: "65"}),
    ],
)
@pytest.mark.parametrize("root", [V1BETA1, V1BETA2])
async def test_a_selector_chooses_pods_in_both_versions(
    plane: ControlPlane, scene: datetime, selector: str, wanted: dict[str, str], root: str
) -> None:
    path = f"{PODS}/*/DEV_GPU_UTIL_current?labelSelector={quote(selector)}"
    answer = await raw(plane, path, root)
    found = [(item["describedObject"]["name"], item["value"]) for item in answer["items"]]
    assert found == list(wanted.items())


async def test_a_selector_on_series_is_echoed_and_limits_them(
    plane: ControlPlane, scene: datetime
) -> None:
    path = f"{PODS}/*/DEV_GPU_UTIL_current?labelSelector=app%3Dweb&metricLabelSelector="
    answer = await raw(plane, path + quote("exported_container=main"))
    assert answer["items"][0]["metric"] == {
        "name": "DEV_GPU_UTIL_current",
        "selector": {"matchLabels": {"exported_container": "main"}},
    }
    assert (await raw(plane, path + quote("exported_container=other")))["items"] == []


async def test_a_namespace_has_the_mean_of_all_its_gpus(
    plane: ControlPlane, scene: datetime
) -> None:
    """(73 + 90 + 40 + 12) / 4 = 53.75."""
    answer = await raw(plane, f"namespaces/{SPACE}/metrics/DEV_GPU_UTIL_current")
    [item] = answer["items"]
    assert item["value"] == "53750m"
    assert item["describedObject"] == {"kind": "Namespace", "name": SPACE, "apiVersion": "/v1"}


@pytest.mark.parametrize("root", [V1BETA1, V1BETA2])
async def test_nodes_have_the_sum_of_their_gpus(
    plane: ControlPlane, scene: datetime, root: str
) -> None:
    """100.5 + 200 + 300 + 400 = 1000.5, and 4 * 250 = 1000; also idle GPUs draw power."""
    answer = await raw(plane, "nodes/*/node_power_watts", root)
    found = {item["describedObject"]["name"]: item["value"] for item in answer["items"]}
    assert found == {"gpu-node-1": "1000500m", "gpu-node-2": "1k"}


async def test_a_node_is_found_through_a_namespaced_path(
    plane: ControlPlane, scene: datetime
) -> None:
    """The autoscaler asks so for an Object metric on a Node."""
    path = f"namespaces/{SPACE}/nodes/gpu-node-2/node_power_watts"
    [item] = (await raw(plane, path))["items"]
    assert item["value"] == "1k"
    assert item["describedObject"] == {"kind": "Node", "name": "gpu-node-2", "apiVersion": "/v1"}


async def test_no_value_is_the_exporters_own(
    plane: ControlPlane, kubelet: Kubelet, scene: datetime
) -> None:
    """All series carry `pod` and `namespace` of the exporter, a pod that lives."""
    exporter = "nvidia-dcgm-exporter-gpu-node-1"
    async with namespace(plane, kubelet, "gpu-operator"):
        await run_pods(plane, pod("gpu-operator", exporter))
        path = "namespaces/gpu-operator/pods/*/DEV_GPU_UTIL_current"
        assert await eventually(lambda: values(plane.http, path), {}) == {}
