"""Rules as guides have them and the chart's own: values through the real API server, and HPAs."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.adapter import (
    AdapterProcess,
    adapter_kubeconfig,
    grant,
    register,
)
from tests.cluster.binaries import ControlPlaneBinaries
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.scene import (
    autoscaler,
    deployment,
    eventually,
    names_of_pods,
    namespace,
    object_metric,
    pods_metric,
    values,
)
from tests.cluster.taking import taking
from tests.cluster.textserver import TextServer

pytestmark = pytest.mark.anyio

SPACE = "public"
RULES = Path(__file__).parent / "public-rules.yaml"
EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1"
WAITING = "vllm:num_requests_waiting"
SERVED, FRONT, READERS, WORKERS = "llm", "web", "reader", "worker"
TARGETS = (SERVED, FRONT, READERS, WORKERS)
# The controller's own pod and namespace, which Prometheus gives to its series.
CONTROLLER = {"namespace": "ingress-nginx", "pod": "controller-0", "service": "controller"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A namespace of four Deployments, each with one pod, whose name stands here."""

    plane: ControlPlane
    pods: Mapping[str, str]

    async def pod(self, metric: str, target: str) -> dict[str, str]:
        """The value of one pod."""
        path = f"namespaces/{SPACE}/pods/{self.pods[target]}/{metric}"
        return await values(self.plane.http, path)

    async def external(self, selector: str = "") -> list[tuple[Mapping[str, str], str]]:
        """The lags, as labels and value."""
        query = f"?labelSelector={selector}" if selector else ""
        answer = await self.plane.get(f"{EXTERNAL}/namespaces/{SPACE}/kafka_lag{query}")
        return [(item["metricLabels"], item["value"]) for item in answer["items"]]


@pytest.fixture(scope="module")
async def own_plane(
    anyio_backend: str, binaries: ControlPlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ControlPlane]:
    """A control plane of its own, as another adapter is registered with the others'."""
    folder = tmp_path_factory.mktemp("public-plane")
    async with ControlPlane(binaries=binaries, folder=folder) as running:
        yield running


@pytest.fixture(scope="module")
async def story(
    own_plane: ControlPlane,
    text_server: TextServer,
    prometheus_program: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Story]:
    """Everything runs, is scraped and is served; nothing scales yet."""
    folder = tmp_path_factory.mktemp("public")
    await grant(own_plane)
    async with (
        Kubelet(http=own_plane.http, nodes={"node-1": 0}) as kubelet,
        namespace(own_plane, kubelet, SPACE),
    ):
        told = Story(plane=own_plane, pods=await _deployed(own_plane))
        async with _scraping(prometheus_program, folder, text_server, told) as prometheus:
            await prometheus.wait_for("http_requests_total == 0", seconds=30)
            await prometheus.wait_for("count(rate(nginx_ingress_controller_requests[30s]))")
            text_server.publish("/public", _page(told.pods, worked=1))
            async with _adapter(own_plane, prometheus, folder) as adapter:
                await register(own_plane, adapter)
                async with taking(own_plane, adapter, "external-metrics"):
                    yield told


async def _deployed(plane: ControlPlane) -> dict[str, str]:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": FRONT, "namespace": SPACE},
        "spec": {"ports": [{"port": 80}], "selector": {"app": FRONT}},
    }
    await plane.apply(service, *(deployment(SPACE, name) for name in TARGETS))

    async def count() -> int:
        return len(await names_of_pods(plane, SPACE))

    assert await eventually(count, len(TARGETS)) == len(TARGETS)
    return {name.partition("-")[0]: name for name in await names_of_pods(plane, SPACE)}


def _scraping(program: Path, folder: Path, server: TextServer, story: Story) -> PrometheusServer:
    server.publish("/public", _page(story.pods, worked=0))
    server.publish("/controller", _controller())
    targets = [
        Target(address=server.address, path="/public"),
        Target(address=server.address, path="/controller", labels=CONTROLLER),
    ]
    return PrometheusServer(program=program, folder=folder / "prometheus", targets=targets)


def _adapter(plane: ControlPlane, prometheus: PrometheusServer, folder: Path) -> AdapterProcess:
    return AdapterProcess(
        folder=folder / "adapter",
        kubeconfig=adapter_kubeconfig(plane),
        prometheus_url=prometheus.url,
        config=RULES,
        flags=("--metrics-relist-interval=2s", "--freshness=1s", "--shutdown-delay=0s"),
    )


def _page(pods: Mapping[str, str], *, worked: int) -> str:
    """Gauges, and counters at 0 or, once all has `worked`, so many as make a rate over 5 minutes."""
    served, front, worker = (
        f'namespace="{SPACE}",pod="{pods[name]}"' for name in (SERVED, FRONT, WORKERS)
    )
    return f"""
{WAITING}{{{served},model_name="m"}} 12
kafka_consumergroup_lag{{consumergroup="orders",topic="bought",partition="0"}} 100
kafka_consumergroup_lag{{consumergroup="orders",topic="bought",partition="1"}} 50
kafka_consumergroup_lag{{consumergroup="orders",topic="bought",partition="2"}} 30
kafka_consumergroup_lag{{consumergroup="audit",topic="bought",partition="0"}} 7
container_memory_working_set_bytes{{{worker},container="main"}} 1000
container_memory_working_set_bytes{{{worker},container="side"}} 234
container_memory_working_set_bytes{{{worker},container="POD"}} 5
container_cpu_usage_seconds_total{{{worker},container="main"}} {worked * 300 * 0.5}
container_cpu_usage_seconds_total{{{worker},container="POD"}} {worked * 300}
container_fs_reads_total{{{worker},container="main"}} {worked * 300 * 8}
queue_depth{{{worker}}} 40
work_seconds_total{{{worker}}} {worked * 300 * 0.25}
http_requests_total{{{front},service="{FRONT}"}} {worked * 300 * 20}
"""


def _controller() -> Callable[[], str]:
    began = time.monotonic()
    labels = f'namespace="{SPACE}",service="{FRONT}",ingress="{FRONT}"'

    def page() -> str:
        passed = time.monotonic() - began
        return f"""
nginx_ingress_controller_requests{{{labels},status="200"}} {passed * 20}
nginx_ingress_controller_requests{{{labels},status="404"}} {passed * 10}
"""

    return page


def about(number: float) -> Any:
    """A rate that Prometheus works out from the times of its scrapes."""
    return pytest.approx(number, rel=0.15)


def number_of(found: Mapping[str, str]) -> float:
    """The only value of an answer, from its quantity in thousandths."""
    [text] = found.values()
    return float(text.removesuffix("m")) / 1000 if text.endswith("m") else float(text)


async def test_a_name_with_a_colon_is_served(story: Story) -> None:
    assert await story.pod(WAITING, SERVED) == {story.pods[SERVED]: "12"}
    listed = await values(story.plane.http, f"namespaces/{SPACE}/pods/*/{WAITING}")
    assert listed == {story.pods[SERVED]: "12"}


async def test_a_rate_is_served_on_a_service(story: Story) -> None:
    """20 + 10 requests a second; the Service is the one behind the ingress, not the controller's."""
    metric = "ingress_requests_per_second"

    async def seen() -> bool:
        found = await values(story.plane.http, f"namespaces/{SPACE}/services/{FRONT}/{metric}")
        return "404" not in found and number_of(found) == about(30)

    assert await eventually(seen, wanted=True, seconds=30)
    path = f"namespaces/{SPACE}/services/controller/{metric}"
    assert list(await values(story.plane.http, path)) == ["404"]


async def test_a_lag_is_served_to_every_namespace(story: Story) -> None:
    """100 + 50 + 30 and 7."""
    orders = ({"consumergroup": "orders", "topic": "bought"}, "180")
    audit = ({"consumergroup": "audit", "topic": "bought"}, "7")
    assert await story.external("consumergroup%3Dorders") == [orders]
    assert sorted(await story.external(), key=str) == sorted([orders, audit], key=str)
    assert await story.external("consumergroup%3Dnobody") == []


GAUGES = {
    "memory_working_set_bytes": "1234",
    "queue_depth": "40",
}
RATES = {"cpu_usage": 0.5, "fs_reads": 8, "work": 0.25}


@pytest.mark.parametrize("metric", GAUGES)
async def test_a_gauge_is_served_by_the_default_rules(story: Story, metric: str) -> None:
    """Containers summed, without the one that only holds the pod's network."""
    assert await story.pod(metric, WORKERS) == {story.pods[WORKERS]: GAUGES[metric]}


@pytest.mark.parametrize("metric", RATES)
async def test_a_counter_is_served_as_a_rate_by_the_default_rules(
    story: Story, metric: str
) -> None:
    async def seen() -> bool:
        found = await story.pod(metric, WORKERS)
        return "404" not in found and number_of(found) == about(RATES[metric])

    assert await eventually(seen, wanted=True, seconds=30)


async def test_the_default_rules_serve_each_kind_that_a_label_names(story: Story) -> None:
    """20 requests a second on the pod, its Service and its namespace."""
    paths = (f"pods/{story.pods[FRONT]}", f"services/{FRONT}", "metrics")
    for path in paths:

        async def seen(path: str = path) -> bool:
            found = await values(story.plane.http, f"namespaces/{SPACE}/{path}/http_requests")
            return "404" not in found and number_of(found) == about(20)

        assert await eventually(seen, wanted=True, seconds=30)


def external_metric(average: str) -> dict[str, Any]:
    """The lag of one group of consumers, to be shared out to so many a replica."""
    selector = {"matchLabels": {"consumergroup": "orders"}}
    target = {"type": "AverageValue", "averageValue": average}
    metric = {"name": "kafka_lag", "selector": selector}
    return {"type": "External", "external": {"metric": metric, "target": target}}


async def test_autoscalers_scale_on_each(story: Story) -> None:
    """12 against 5 waiting requests: 3; 30 against 10 a second: 3; 180 against 60: 3; 40/20: 2."""
    ingress = object_metric("ingress_requests_per_second", "10", kind="Service", of=FRONT)
    metrics = {
        SERVED: pods_metric(WAITING, "5"),
        FRONT: ingress,
        READERS: external_metric("60"),
        WORKERS: pods_metric("queue_depth", "20"),
    }
    await story.plane.apply(*(autoscaler(SPACE, name, metric) for name, metric in metrics.items()))

    async def replicas() -> dict[str, int]:
        root = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
        found = {name: await story.plane.get(f"{root}/{name}") for name in TARGETS}
        return {name: one["status"].get("readyReplicas", 0) for name, one in found.items()}

    wanted = {SERVED: 3, FRONT: 3, READERS: 3, WORKERS: 2}
    assert await eventually(replicas, wanted, seconds=60) == wanted
