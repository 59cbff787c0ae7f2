"""What pods and nodes use, on the real control plane: kubectl top, and scaling on cpu."""

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.adapter import AdapterProcess, adapter_kubeconfig, grant
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.scene import autoscaler, deployment, eventually, namespace, pod, run_pods
from tests.cluster.taking import taking
from tests.cluster.textserver import TextServer

pytestmark = pytest.mark.anyio

ROOT = "/apis/metrics.k8s.io/v1beta1"
PAGE = "/usage"
STILL, SCALED = "usage-still", "usage-scaled"
RULES = """
resourceRules:
  cpu:
    containerQuery: |
      sum by (<<.GroupBy>>) (
        rate(container_cpu_usage_seconds_total{container!="",<<.LabelMatchers>>}[5s])
      )
    nodeQuery: sum by (<<.GroupBy>>) (rate(node_cpu_usage_seconds_total{<<.LabelMatchers>>}[5s]))
    resources: &labels
      overrides:
        namespace: {resource: namespace}
        node: {resource: node}
        pod: {resource: pod}
    containerLabel: container
  memory:
    containerQuery: |
      sum by (<<.GroupBy>>) (
        container_memory_working_set_bytes{container!="",<<.LabelMatchers>>}
      )
    nodeQuery: sum by (<<.GroupBy>>) (node_memory_working_set_bytes{<<.LabelMatchers>>})
    resources: *labels
    containerLabel: container
  window: 5s
"""


@dataclass(slots=True)
class Machines:
    """What kubelets would tell: cores that containers use, by namespace, and the nodes' own."""

    kubelet: Kubelet
    cores: dict[str, float] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    told: float = field(default_factory=time.monotonic)

    def page(self) -> str:
        """Give the exposition text; counters have grown since the last time."""
        now = time.monotonic()
        passed, self.told = now - self.told, now
        lines = [line for series in self._series() for line in self._lines(*series, passed)]
        return "\n".join([*lines, ""])

    def _series(self) -> list[tuple[str, str, float]]:
        running = [one for space in self.cores for one in self.kubelet.running(space)]
        containers = [
            (
                "container",
                f'namespace="{space}",pod="{name}",container="main"',
                self.cores[space],
            )
            for space, name in running
        ]
        nodes = [("node", f'node="{name}"', 1.5) for name in self.kubelet.nodes]
        return containers + nodes

    def _lines(self, of: str, labels: str, cores: float, passed: float) -> list[str]:
        self.spent[labels] = self.spent.get(labels, 0.0) + cores * passed
        return [
            f"{of}_cpu_usage_seconds_total{{{labels}}} {self.spent[labels]}",
            f"{of}_memory_working_set_bytes{{{labels}}} 35389440",
        ]


@pytest.fixture(scope="module")
def machines(kubelet: Kubelet, text_server: TextServer) -> Machines:
    made = Machines(kubelet=kubelet, cores={STILL: 0.3, SCALED: 0.9})
    text_server.publish(PAGE, made.page)
    return made


@pytest.fixture(scope="module")
async def served(
    plane: ControlPlane,
    text_server: TextServer,
    prometheus_program: Path,
    machines: Machines,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[AdapterProcess]:
    """An adapter with resource rules over a Prometheus of its own, and the group registered."""
    folder = tmp_path_factory.mktemp("resource")
    (folder / "rules.yaml").write_text(RULES)
    await grant(plane)
    targets = [Target(address=text_server.address, path=PAGE)]
    async with (
        PrometheusServer(
            program=prometheus_program, folder=folder / "prometheus", targets=targets
        ) as prometheus,
        AdapterProcess(
            folder=folder,
            kubeconfig=adapter_kubeconfig(plane),
            prometheus_url=prometheus.url,
            config=folder / "rules.yaml",
            flags=("--freshness=1s", "--shutdown-delay=0s"),
        ) as adapter,
        taking(plane, adapter, "resource-metrics"),
    ):
        yield adapter


@pytest.fixture(scope="module")
async def still(
    plane: ControlPlane, kubelet: Kubelet, served: AdapterProcess
) -> AsyncIterator[str]:
    """A namespace with two pods that use three tenths of a core each."""
    async with namespace(plane, kubelet, STILL) as space:
        await run_pods(plane, pod(space, "web-0", app="web"), pod(space, "db-0", app="db"))
        yield space


async def _used(plane: ControlPlane, path: str) -> dict[str, tuple[int, str]]:
    """Give by name the cores, in tenths rounded, and the memory of the first container."""
    listed = await plane.get(f"{ROOT}/{path}")
    return {each["metadata"]["name"]: _usage(each) for each in listed["items"]}


def _usage(item: Mapping[str, Any]) -> tuple[int, str]:
    usage = item["containers"][0]["usage"] if "containers" in item else item["usage"]
    return round(int(usage["cpu"].removesuffix("m")) / 100), usage["memory"]


async def test_pods_of_a_namespace_are_listed_with_what_they_use(
    plane: ControlPlane, still: str
) -> None:
    wanted = {"db-0": (3, "34560Ki"), "web-0": (3, "34560Ki")}
    path = f"namespaces/{still}/pods"
    assert await eventually(lambda: _used(plane, path), wanted) == wanted


async def test_nodes_are_listed_with_what_they_use(
    plane: ControlPlane, kubelet: Kubelet, served: AdapterProcess
) -> None:
    wanted = dict.fromkeys(kubelet.nodes, (15, "34560Ki"))
    assert await eventually(lambda: _used(plane, "nodes"), wanted) == wanted


async def test_selectors_choose_pods(plane: ControlPlane, still: str) -> None:
    async def names(query: str) -> list[str]:
        return [*await _used(plane, f"namespaces/{still}/pods?{query}")]

    for query in ("labelSelector=app%3Dweb", "fieldSelector=metadata.name%3Dweb-0"):
        assert await eventually(lambda query=query: names(query), ["web-0"]) == ["web-0"]  # type: ignore[misc]  # a default binds it now


@pytest.mark.parametrize("command", [("top", "pods"), ("top", "pod", "web-0")])
async def test_kubectl_top_prints_pods(
    plane: ControlPlane, still: str, command: tuple[str, ...]
) -> None:
    """34560Ki are 33.75Mi, which kubectl cuts."""
    row = await eventually(lambda: _row(plane, "web-0", *command, "-n", still), ["33Mi"])
    assert row == ["33Mi"]


async def test_kubectl_top_prints_nodes(plane: ControlPlane, served: AdapterProcess) -> None:
    """A core and a half of 64, and next to nothing of 512Gi."""
    wanted = ["2%", "33Mi", "0%"]
    row = await eventually(lambda: _row(plane, "gpu-node-1", "top", "nodes"), wanted)
    assert row == wanted


async def _row(plane: ControlPlane, name: str, *command: str) -> list[str]:
    """Give what kubectl prints of an object behind its name and cores."""
    done = await plane.kubectl(*command, check=False)
    rows = [line.split() for line in done.stdout.splitlines()]
    return next((row[2:] for row in rows if row[0] == name), [done.stderr])


async def test_kubectl_get_prints_a_table(plane: ControlPlane, still: str) -> None:
    async def table() -> list[list[str]]:
        """Give the lines without the cores."""
        done = await plane.kubectl("get", "podmetrics", "-n", still)
        return [[row[0], *row[2:]] for row in map(str.split, done.stdout.splitlines())]

    wanted = [
        ["NAME", "MEMORY", "WINDOW"],
        ["db-0", "34560Ki", "5s"],
        ["web-0", "34560Ki", "5s"],
    ]
    assert await eventually(table, wanted) == wanted


async def test_only_who_may_list_pods_of_the_group_is_given_them(
    plane: ControlPlane, still: str
) -> None:
    async with plane.client("nobody-in-particular") as http:
        answer = await http.get(f"{ROOT}/namespaces/{still}/pods")
    assert answer.status_code == 403
    assert 'cannot list resource "pods" in API group "metrics.k8s.io"' in answer.json()["message"]


async def test_an_autoscaler_follows_cpu_up_and_down(
    plane: ControlPlane, kubelet: Kubelet, served: AdapterProcess, machines: Machines
) -> None:
    """Each pod uses 900m of 500m requested, against 60%: the most. With 50m each, one is enough."""
    async with namespace(plane, kubelet, SCALED):
        target = {"type": "Utilization", "averageUtilization": 60}
        metric = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
        await plane.apply(_requesting("500m"), autoscaler(SCALED, "target", metric, most=3))
        assert await eventually(lambda: _replicas(plane), 3, seconds=60) == 3
        machines.cores[SCALED] = 0.05
        assert await eventually(lambda: _replicas(plane), 1, seconds=60) == 1
        machines.cores[SCALED] = 0.9


def _requesting(cpu: str) -> dict[str, Any]:
    made = deployment(SCALED, "target")
    (container,) = made["spec"]["template"]["spec"]["containers"]
    container["resources"] = {"requests": {"cpu": cpu}}
    return made


async def _replicas(plane: ControlPlane) -> int:
    status = (await plane.get(f"/apis/apps/v1/namespaces/{SCALED}/deployments/target"))["status"]
    return int(status.get("readyReplicas", 0))
