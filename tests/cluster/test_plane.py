"""The harness's own claims, on the real programs."""

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.cluster.binaries import ControlPlaneBinaries
from tests.cluster.exporter import Exporter, utilisation
from tests.cluster.fleet import Slot
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.processes import until
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.textserver import TextServer

pytestmark = pytest.mark.anyio

NAMESPACE = "harness"
LABELS = {"app": "worker"}


def worker(replicas: int, *, gpus: int = 1) -> dict[str, Any]:
    """A Deployment whose pods want GPUs."""
    limits = {"nvidia.com/gpu": str(gpus)}
    container = {"name": "ray", "image": "ray", "resources": {"limits": limits}}
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template}
    metadata = {"name": "worker", "namespace": NAMESPACE}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


async def running_pods(plane: ControlPlane) -> list[str]:
    """Names of the worker's pods that run and are not being deleted."""
    pods = await plane.get(f"/api/v1/namespaces/{NAMESPACE}/pods")
    return [
        pod["metadata"]["name"]
        for pod in pods["items"]
        if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]
    ]


async def wait_for_pods(plane: ControlPlane, count: int) -> list[str]:
    async def there() -> bool:
        pods = await plane.get(f"/api/v1/namespaces/{NAMESPACE}/pods")
        return len(pods["items"]) == len(await running_pods(plane)) == count

    await until(there, what=f"{count} pods run", seconds=20)
    return await running_pods(plane)


@pytest.fixture
async def namespace(plane: ControlPlane, kubelet: Kubelet) -> AsyncIterator[str]:
    """A namespace of its own, emptied afterwards."""
    metadata = {"name": NAMESPACE}
    await plane.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    yield NAMESPACE
    await plane.kubectl("delete", "deployment", "--all", "-n", NAMESPACE)
    await wait_for_pods(plane, 0)


async def test_a_plane_is_ready_within_ten_seconds_and_leaves_nothing_running(
    binaries: ControlPlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> None:
    started = time.monotonic()
    async with ControlPlane(binaries=binaries, folder=tmp_path_factory.mktemp("p")) as plane:
        seconds = time.monotonic() - started
        parts = [plane.etcd, plane.api_server, plane.controller_manager]
        assert all(part.running for part in parts)
    assert seconds < 10
    assert not any(part.running for part in parts)


async def test_kubectl_sees_nodes_with_their_gpus(plane: ControlPlane, kubelet: Kubelet) -> None:
    listed = json.loads((await plane.kubectl("get", "nodes", "-o", "json")).stdout)
    gpus = {
        n["metadata"]["name"]: n["status"]["capacity"]["nvidia.com/gpu"] for n in listed["items"]
    }
    assert gpus == {"gpu-node-1": "4", "gpu-node-2": "4"}


async def test_versions_are_those_of_a_release(plane: ControlPlane) -> None:
    told = json.loads((await plane.kubectl("version", "-o", "json")).stdout)
    assert told["serverVersion"]["gitVersion"] == "v1.36.3"
    assert told["serverVersion"]["minor"] == "36"
    assert told["clientVersion"]["gitVersion"] == "v1.36.3"


async def test_a_deployment_runs_on_gpus_and_scaling_down_removes_its_pods(
    plane: ControlPlane, kubelet: Kubelet, namespace: str
) -> None:
    await plane.apply(worker(3))
    names = await wait_for_pods(plane, 3)
    assert {binding.pod for binding in kubelet.bindings().values()} == set(names)
    await plane.kubectl("scale", "deployment/worker", "--replicas=1", "-n", namespace)
    left = await wait_for_pods(plane, 1)
    assert {binding.pod for binding in kubelet.bindings().values()} == set(left)


async def test_a_pod_that_fits_on_no_node_waits_for_a_gpu(
    plane: ControlPlane, kubelet: Kubelet, namespace: str
) -> None:
    await plane.apply(worker(3, gpus=4))

    async def two_run() -> bool:
        return len(await running_pods(plane)) == 2

    await until(two_run, what="two pods run", seconds=20)
    pods = await running_pods(plane)
    await plane.kubectl("delete", "pod", pods[0], "-n", namespace)

    async def another_runs() -> bool:
        return len(set(await running_pods(plane)) - {pods[0]}) == 2

    await until(another_runs, what="the waiting pod got the GPUs", seconds=20)


async def test_a_user_without_rights_is_forbidden(plane: ControlPlane) -> None:
    async with plane.client("nobody", ["people"]) as http:
        assert (await http.get("/api/v1/pods")).status_code == httpx.codes.FORBIDDEN
    async with httpx.AsyncClient(verify=False, base_url=plane.url) as http:  # noqa: S501 - who we are is tested, not who they are
        assert (await http.get("/api/v1/pods")).status_code == httpx.codes.UNAUTHORIZED


async def test_kube_apiserver_comes_back_with_its_data_and_pods_go_on(
    plane: ControlPlane, kubelet: Kubelet, namespace: str
) -> None:
    await plane.apply(worker(1))
    before = await wait_for_pods(plane, 1)
    await plane.restart_api_server()
    assert await wait_for_pods(plane, 1) == before
    await plane.apply(worker(2))
    assert set(before) < set(await wait_for_pods(plane, 2))


async def test_prometheus_keeps_the_workload_apart_from_the_exporter(
    plane: ControlPlane,
    kubelet: Kubelet,
    namespace: str,
    exporter: Exporter,
    prometheus: PrometheusServer,
) -> None:
    await plane.apply(worker(1))
    [name] = await wait_for_pods(plane, 1)
    exporter.load = utilisation(lambda binding: 42 if binding.pod == name else None)
    found = await prometheus.wait_for(f'DCGM_FI_DEV_GPU_UTIL{{exported_pod="{name}"}} == 42')
    labels = found[0]["metric"]
    assert labels["exported_namespace"] == namespace
    assert labels["exported_container"] == "ray"
    assert labels["namespace"] == "gpu-operator"
    assert labels["pod"] == f"nvidia-dcgm-exporter-{labels['Hostname']}"
    assert labels["job"] == labels["container"] == "nvidia-dcgm-exporter"


async def test_a_series_that_the_exporter_leaves_out_goes_stale(
    exporter: Exporter, prometheus: PrometheusServer
) -> None:
    slot = Slot(node="gpu-node-1", index=3)
    series = 'DCGM_FI_DEV_GPU_TEMP{Hostname="gpu-node-1",gpu="3"}'
    exporter.set(slot, "DCGM_FI_DEV_GPU_TEMP", 61)
    [sample] = await prometheus.wait_for(series)
    assert sample["value"][1] == "61"
    exporter.set(slot, "DCGM_FI_DEV_GPU_TEMP", None)
    await prometheus.wait_for(f"absent({series})", seconds=10)


async def test_prometheus_comes_back_with_its_data_on_the_same_port(
    prometheus: PrometheusServer,
) -> None:
    await prometheus.wait_for("DCGM_FI_DEV_GPU_UTIL")
    # A series that ends while nobody scrapes would be seen by other tests for five minutes.
    await prometheus.wait_for('absent(DCGM_FI_DEV_GPU_UTIL{exported_pod!=""})')
    url = prometheus.url
    await prometheus.process.kill()
    with pytest.raises(httpx.TransportError):
        await prometheus.query("up")
    await prometheus.process.start()
    assert prometheus.url == url
    assert await prometheus.query("max_over_time(DCGM_FI_DEV_GPU_UTIL[10m])")


async def test_any_text_can_be_scraped(
    text_server: TextServer, exporter: Exporter, prometheus: PrometheusServer
) -> None:
    text_server.publish("/any", 'http_requests_total{namespace="shop",pod="cart-0"} 27\n')
    target = Target(address=text_server.address, path="/any", labels={"job": "shop"})
    prometheus.scrape([*exporter.targets(), target])
    [sample] = await prometheus.wait_for('http_requests_total{job="shop"}')
    assert sample["metric"]["pod"] == "cart-0"
    assert sample["value"][1] == "27"
