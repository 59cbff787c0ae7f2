"""A cluster that meets the adapter for the first time: before and after a metric is known."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.cluster.adapter import (
    AdapterProcess,
    adapter_kubeconfig,
    grant,
    register,
)
from tests.cluster.binaries import ControlPlaneBinaries
from tests.cluster.plane import ControlPlane
from tests.cluster.ports import free_port
from tests.cluster.processes import Completed, until
from tests.cluster.prometheus import PrometheusServer
from tests.cluster.scene import GROUP, V1BETA1, V1BETA2, eventually, given_time, values

pytestmark = pytest.mark.anyio

VERSIONS = ("v1beta1", "v1beta2")
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
FLAGS = ("--metrics-relist-interval=1s", "--metrics-max-age=1m", "--shutdown-delay=0s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """What was seen while Prometheus had not answered once."""

    readiness: str
    conditions: dict[str, str]
    listed: dict[str, list[str]]
    api_resources: Completed
    value: dict[str, str]
    namespace_deleted: Completed


class LiveAdapter(AdapterProcess):
    """An adapter that is not waited for until it is ready."""

    async def _is_ready(self) -> bool:
        with suppress(httpx.TransportError):
            return (await self._http.get("/livez")).is_success
        return False


@pytest.fixture(scope="module")
async def new_plane(
    anyio_backend: str, binaries: ControlPlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ControlPlane]:
    """A control plane of its own, whose log has nothing of other tests."""
    folder = tmp_path_factory.mktemp("discovery-plane")
    async with ControlPlane(binaries=binaries, folder=folder) as running:
        await grant(running)
        yield running


@pytest.fixture(scope="module")
async def early(
    new_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[AdapterProcess, Early]]:
    """An adapter whose Prometheus is not there, registered before it is ready."""
    adapter = LiveAdapter(
        folder=tmp_path_factory.mktemp("early"),
        kubeconfig=adapter_kubeconfig(new_plane),
        prometheus_url=f"http://127.0.0.1:{free_port()}",
        flags=FLAGS,
    )
    async with adapter:
        readiness = await readyz(adapter)
        await register(new_plane, adapter)
        yield adapter, await _look_early(new_plane, readiness)


async def _look_early(plane: ControlPlane, readiness: str) -> Early:
    name = "short-lived"
    await plane.kubectl("create", "namespace", name)
    path = f"namespaces/{name}/pods/*/DEV_GPU_UTIL_current"
    return Early(
        readiness=readiness,
        conditions=await conditions(plane),
        listed={version: await listed(plane, version) for version in VERSIONS},
        api_resources=await plane.kubectl("api-resources", check=False),
        value=await values(plane.http, path),
        namespace_deleted=await plane.kubectl(
            "delete", "namespace", name, "--timeout=20s", check=False
        ),
    )


@pytest.fixture(scope="module")
async def met(
    new_plane: ControlPlane,
    early: tuple[AdapterProcess, Early],
    prometheus: PrometheusServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[ControlPlane]:
    """The cluster after an adapter that knows metrics has taken the place of the first."""
    await prometheus.wait_for("DCGM_FI_DEV_GPU_UTIL")
    adapter = AdapterProcess(
        folder=tmp_path_factory.mktemp("met"),
        kubeconfig=adapter_kubeconfig(new_plane),
        prometheus_url=prometheus.url,
        flags=FLAGS,
    )
    async with adapter, adapter.client(new_plane.pki.proxy_client) as http:
        http.headers.update({"X-Remote-User": "somebody", "X-Remote-Group": "system:masters"})
        await until(lambda: _knows_metrics(http), what="the adapter knows metrics", seconds=10)
        await register(new_plane, adapter)
        yield new_plane


async def _knows_metrics(http: httpx.AsyncClient) -> bool:
    resources = (await http.get(V1BETA2)).json()["resources"]
    return "pods/DEV_GPU_UTIL_current" in {entry["name"] for entry in resources}


async def readyz(adapter: AdapterProcess) -> str:
    """What the adapter says of its readiness."""
    async with adapter.client() as http:
        return (await http.get("/readyz?verbose")).text


async def conditions(plane: ControlPlane) -> dict[str, str]:
    """The condition Available of both APIServices."""
    root = "/apis/apiregistration.k8s.io/v1/apiservices"
    found = {}
    for version in VERSIONS:
        status = (await plane.get(f"{root}/{version}.{GROUP}"))["status"]
        [found[version]] = [c["status"] for c in status["conditions"] if c["type"] == "Available"]
    return found


async def listed(plane: ControlPlane, version: str) -> list[str]:
    """The resource list of one version, through kube-apiserver."""
    document = await plane.get(f"/apis/{GROUP}/{version}")
    return [entry["name"] for entry in document["resources"]]


async def merged(plane: ControlPlane) -> dict[str, set[str]]:
    """Our metrics in kube-apiserver's own aggregated document, by version, where it is current."""
    answer = await plane.http.get("/apis", headers={"Accept": AGGREGATED})
    [group] = [g for g in answer.json()["items"] if g["metadata"]["name"] == GROUP]
    return {
        version["version"]: set(_subresources(version))
        for version in group["versions"]
        if version["freshness"] == "Current"
    }


def _subresources(version: dict[str, Any]) -> list[str]:
    return [
        f"{parent['resource']}/{below['subresource']}"
        for parent in version["resources"]
        for below in parent["subresources"]
    ]


def complaints(plane: ControlPlane) -> list[str]:
    """Warnings and errors in kube-apiserver's log that concern us."""
    lines = plane.api_server.log.read_text().splitlines()
    about_us = (GROUP, "gpu-metrics-adapter", "stale groupversion", "openapi")
    return [
        line
        for line in lines
        if line[:1] in {"E", "W"} and any(word in line.lower() for word in about_us)
    ]


async def test_the_adapter_is_not_ready_before_prometheus_has_answered(
    early: tuple[AdapterProcess, Early],
) -> None:
    assert "[-]discovery failed" in early[1].readiness
    assert early[1].readiness.endswith("readyz check failed\n")


async def test_it_is_ready_after_ten_seconds_without_prometheus(
    early: tuple[AdapterProcess, Early],
) -> None:
    async def ready() -> bool:
        return (await readyz(early[0])).endswith("readyz check passed\n")

    await until(ready, what="ready without Prometheus", seconds=12)


async def test_both_api_services_are_available_before_a_metric_is_known(
    early: tuple[AdapterProcess, Early],
) -> None:
    assert early[1].conditions == {"v1beta1": "True", "v1beta2": "True"}


async def test_the_resource_list_is_never_empty(early: tuple[AdapterProcess, Early]) -> None:
    assert all(early[1].listed[version] for version in VERSIONS)


async def test_kubectl_lists_resources_without_a_word_before_a_metric_is_known(
    early: tuple[AdapterProcess, Early],
) -> None:
    done = early[1].api_resources
    assert (done.code, done.stderr) == (0, "")
    assert "deployments" in done.stdout


async def test_a_namespace_can_be_deleted_before_a_metric_is_known(
    early: tuple[AdapterProcess, Early],
) -> None:
    """A group whose discovery fails would keep every namespace Terminating."""
    assert early[1].namespace_deleted.code == 0, early[1].namespace_deleted.stderr


async def test_a_value_is_unavailable_not_unknown_before_a_metric_is_known(
    early: tuple[AdapterProcess, Early],
) -> None:
    [(code, message)] = early[1].value.items()
    assert code == "503"
    assert message.endswith(": Prometheus has not answered discovery yet")


async def test_kube_apiservers_own_document_carries_the_metrics_of_both_versions(
    met: ControlPlane,
) -> None:
    metrics = {f"{kind}/DEV_GPU_UTIL_current" for kind in ("pods", "nodes", "namespaces")}

    async def carried() -> dict[str, set[str]]:
        return {version: found & metrics for version, found in (await merged(met)).items()}

    wanted = {"v1beta1": metrics, "v1beta2": metrics}
    assert await eventually(carried, wanted) == wanted


async def test_the_preferred_version_is_v1beta2(met: ControlPlane) -> None:
    group = await met.get(f"/apis/{GROUP}")
    assert group["preferredVersion"]["version"] == "v1beta2"


async def test_kubectl_lists_resources_without_a_word_once_metrics_are_known(
    met: ControlPlane,
) -> None:
    done = await met.kubectl("api-resources", "--cached=false")
    assert done.stderr == ""


async def published(plane: ControlPlane) -> dict[str, str]:
    """Where kube-apiserver has our OpenAPI v3 documents, once it has taken both."""
    names = {V1BETA1.lstrip("/"), V1BETA2.lstrip("/")}
    found: dict[str, str] = {}

    async def taken() -> bool:
        paths = (await plane.get("/openapi/v3"))["paths"]
        found.update({name: paths[name]["serverRelativeURL"] for name in names & paths.keys()})
        return found.keys() == names

    await given_time(taken, seconds=30)
    return found


async def test_kube_apiserver_serves_our_openapi_documents(met: ControlPlane) -> None:
    addresses = await published(met)
    assert addresses.keys() == {V1BETA1.lstrip("/"), V1BETA2.lstrip("/")}
    for name, address in addresses.items():
        document = await met.get(address)
        assert document["openapi"].startswith("3.")
        assert all(path.startswith(f"/{name}/") for path in document["paths"])


async def test_kube_apiserver_has_no_complaint_about_us(met: ControlPlane) -> None:
    """Nor of the first adapter, ten seconds ago, whose OpenAPI documents it asked for at once."""
    await published(met)
    assert complaints(met) == []
