"""External metrics on the real control plane: served, authorized, and scaled on."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cluster.adapter import AdapterProcess, adapter_kubeconfig, grant
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.scene import autoscaler, deployment, eventually, message_of, namespace
from tests.cluster.taking import taking
from tests.cluster.textserver import TextServer

pytestmark = pytest.mark.anyio

SPACE = "scaled-by-queue"
ROOT = "/apis/external.metrics.k8s.io/v1beta1"
LAG = f"{ROOT}/namespaces/{SPACE}/orders_lag"
PAGE = "/queues"
RULES = """
externalRules:
- seriesQuery: 'kafka_consumergroup_lag{topic!=""}'
  resources: {overrides: {namespace: {resource: namespace}}}
  name: {as: orders_lag}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (topic)
- seriesQuery: mailbox_size
  resources: {namespaced: false}
  metricsQuery: <<.Series>>{<<.LabelMatchers>>}
- seriesQuery: mailbox_size
  resources: {namespaced: false}
  name: {as: mailbox_total}
  metricsQuery: scalar(sum(<<.Series>>{<<.LabelMatchers>>}))
"""


@dataclass(slots=True)
class Queues:
    """What the page says; partitions of one topic, and two mailboxes of no namespace."""

    lags: list[float] = field(default_factory=lambda: [60.0, 30.0])

    def page(self) -> str:
        """Give the exposition text."""
        partitions = [
            f'kafka_consumergroup_lag{{namespace="{SPACE}",topic="orders",partition="{n}"}} {lag}'
            for n, lag in enumerate(self.lags)
        ]
        other = 'kafka_consumergroup_lag{namespace="elsewhere",topic="orders",partition="0"} 1000'
        boxes = ['mailbox_size{box="in"} 2.5', 'mailbox_size{box="broken"} NaN']
        return "\n".join([*partitions, other, *boxes, ""])


@pytest.fixture(scope="module")
def queues(text_server: TextServer) -> Queues:
    made = Queues()
    text_server.publish(PAGE, made.page)
    return made


@pytest.fixture(scope="module")
async def served(
    plane: ControlPlane,
    text_server: TextServer,
    prometheus_program: Path,
    queues: Queues,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[AdapterProcess]:
    """An adapter with external rules over a Prometheus of its own, and the group registered."""
    folder = tmp_path_factory.mktemp("external")
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
            flags=("--metrics-relist-interval=1s", "--freshness=1s", "--shutdown-delay=0s"),
        ) as adapter,
        taking(plane, adapter, "external-metrics"),
    ):
        await prometheus.wait_for("mailbox_size")
        yield adapter


async def _values(http: httpx.AsyncClient, path: str) -> Any:
    """Give labels and values, or the code and message of a refusal."""
    answer = await http.get(path)
    if not answer.is_success:
        return {answer.status_code: message_of(answer)}
    items = answer.json()["items"]
    return [(item["metricLabels"], item["value"]) for item in items]


async def test_a_namespace_is_given_its_own_series(
    plane: ControlPlane, served: AdapterProcess
) -> None:
    wanted = [({"topic": "orders"}, "90")]
    assert await eventually(lambda: _values(plane.http, LAG), wanted) == wanted


async def test_a_selector_that_matches_nothing_gives_an_empty_list(
    plane: ControlPlane, served: AdapterProcess
) -> None:
    path = f"{LAG}?labelSelector=topic%3Dinvoices"
    assert await eventually(lambda: _values(plane.http, path), []) == []


async def test_what_is_not_namespaced_is_given_to_every_namespace_without_what_is_no_number(
    plane: ControlPlane, served: AdapterProcess
) -> None:
    path = f"{ROOT}/namespaces/default/mailbox_size?labelSelector=box+in+(in,broken)"
    found = await eventually(lambda: _kept(plane.http, path), [("in", "2500m")])
    assert found == [("in", "2500m")]


async def _kept(http: httpx.AsyncClient, path: str) -> Any:
    found = await _values(http, path)
    return found if isinstance(found, dict) else [(labels["box"], each) for labels, each in found]


async def test_a_plain_number_has_no_labels(plane: ControlPlane, served: AdapterProcess) -> None:
    path = f"{ROOT}/namespaces/default/mailbox_total?labelSelector=box%3Din"
    wanted = [(None, "2500m")]
    assert await eventually(lambda: _values(plane.http, path), wanted) == wanted


async def test_an_unknown_metric_is_not_found_for_a_reason(
    plane: ControlPlane, served: AdapterProcess
) -> None:
    answer = await plane.http.get(f"{ROOT}/namespaces/default/nothing")
    assert answer.status_code == 404
    assert message_of(answer) == (
        "the server could not find the metric nothing for namespaces: no external rule offers a "
        "metric of this name, or Prometheus has no series for it"
    )


async def test_kubectl_lists_the_metrics(plane: ControlPlane, served: AdapterProcess) -> None:
    async def names() -> list[str]:
        listed = await plane.get(ROOT)
        return [each["name"] for each in listed["resources"]]

    wanted = ["mailbox_size", "mailbox_total", "orders_lag"]
    assert await eventually(names, wanted) == wanted


async def test_only_who_may_list_the_metric_is_given_it(
    plane: ControlPlane, served: AdapterProcess
) -> None:
    async with plane.client("nobody-in-particular") as http:
        answer = await http.get(LAG)
    assert answer.status_code == 403
    assert 'cannot list resource "orders_lag" in API group "external.metrics.k8s.io"' in (
        message_of(answer)
    )


async def test_an_autoscaler_follows_an_external_metric_up_and_down(
    plane: ControlPlane, kubelet: Kubelet, served: AdapterProcess, queues: Queues
) -> None:
    """A lag of 90 at 30 each needs 3 replicas, one of 10 needs 1."""
    async with namespace(plane, kubelet, SPACE):
        metric = {
            "type": "External",
            "external": {
                "metric": {"name": "orders_lag", "selector": {"matchLabels": {"topic": "orders"}}},
                "target": {"type": "AverageValue", "averageValue": "30"},
            },
        }
        scaler = autoscaler(SPACE, "target", metric, most=5)
        await plane.apply(deployment(SPACE, "target"), scaler)
        assert await eventually(lambda: _replicas(plane), 3, seconds=40) == 3
        queues.lags = [4.0, 6.0]
        assert await eventually(lambda: _replicas(plane), 1, seconds=40) == 1
        queues.lags = [60.0, 30.0]


async def _replicas(plane: ControlPlane) -> int:
    status = (await plane.get(f"/apis/apps/v1/namespaces/{SPACE}/deployments/target"))["status"]
    return int(status.get("readyReplicas", 0))
