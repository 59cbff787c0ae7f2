"""Prometheus is killed and brought back: what users, clients and the autoscaler see meanwhile."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.cluster.adapter import AdapterProcess
from tests.cluster.exporter import Exporter, utilisation
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.processes import until
from tests.cluster.prometheus import PrometheusServer
from tests.cluster.scene import (
    GROUP,
    UTILISATION,
    V1BETA2,
    autoscaler,
    deployment,
    given_time,
    message_of,
    namespace,
    pods_metric,
)

pytestmark = pytest.mark.anyio

SPACE = "outage"
METRIC = "DEV_GPU_UTIL_current"
SERIES = f'{UTILISATION}{{exported_namespace="{SPACE}"}}'
PATH = f"{V1BETA2}/namespaces/{SPACE}/pods/*/{METRIC}"
# As conftest.py starts the adapter; a timestamp is cut to the second, and a request takes a while.
FRESHNESS, MAX_STALENESS, SLACK = 1, 8, 2
FAILED_SYNCS = 5
"""So many times two seconds are longer than the downscale stabilisation of five."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One answer, when it was asked for and of when its value says it is; Unix seconds."""

    at: float
    answer: httpx.Response
    timestamp: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """What was seen from before the end of Prometheus until after its return."""

    killed: float
    looks: Sequence[Look]
    """From the kill to the first error."""
    listed: Sequence[str]
    available: str
    ready: int
    described: str
    replicas: int
    returned: float
    after: Look
    rescales: Sequence[str]


@pytest.fixture(scope="module")
async def outage(
    plane: ControlPlane,
    kubelet: Kubelet,
    exporter: Exporter,
    prometheus: PrometheusServer,
    adapter: AdapterProcess,
) -> AsyncIterator[Outage]:
    """A busy Deployment, scaled to two, lives through an outage longer than any tolerance."""
    exporter.release()
    exporter.load = utilisation(lambda binding: 90 if binding.namespace == SPACE else None)
    async with namespace(plane, kubelet, SPACE):
        hpa = autoscaler(SPACE, "busy", pods_metric(METRIC, "40"), most=2)
        await plane.apply(deployment(SPACE, "busy", gpus=1), hpa)
        await until(lambda: _both_have_values(plane), what="two busy pods", seconds=40)
        try:
            yield await _live_through(plane, prometheus, adapter)
        finally:
            if not prometheus.process.running:
                await prometheus.process.start()


async def _live_through(
    plane: ControlPlane, prometheus: PrometheusServer, adapter: AdapterProcess
) -> Outage:
    await prometheus.process.kill()
    killed = time.time()
    looks = [await look(plane)]

    async def refused() -> bool:
        looks.append(await look(plane))
        return not looks[-1].answer.is_success

    await given_time(refused, seconds=MAX_STALENESS + 10)
    await given_time(lambda: _autoscaler_misses(plane), seconds=20)
    document = await plane.get(f"/apis/{GROUP}/v1beta2")
    async with adapter.client() as http:
        ready = (await http.get("/readyz")).status_code
    described = (await plane.kubectl("describe", "hpa/busy", "-n", SPACE)).stdout
    replicas = await _replicas(plane)
    available = await _available(plane)
    await prometheus.process.start()
    returned = time.time()
    # Until its first scrape Prometheus answers from before; series that ended meanwhile would stay.
    await prometheus.wait_for(f"timestamp({SERIES}) > {returned:.0f}")
    await given_time(lambda: _is_newer(plane, returned), seconds=20)
    await given_time(lambda: _autoscaler_is_active(plane), seconds=20)
    return Outage(
        killed=killed,
        looks=looks,
        listed=[entry["name"] for entry in document["resources"]],
        available=available,
        ready=ready,
        described=" ".join(described.split()),
        replicas=replicas,
        returned=returned,
        after=await look(plane),
        rescales=[e["message"] for e in await _events(plane, "SuccessfulRescale")],
    )


async def look(plane: ControlPlane) -> Look:
    """Ask once, through kube-apiserver."""
    at = time.time()
    answer = await plane.http.get(PATH)
    items = answer.json()["items"] if answer.is_success else []
    times = [datetime.fromisoformat(item["timestamp"]).timestamp() for item in items]
    return Look(at=at, answer=answer, timestamp=min(times, default=None))


async def _both_have_values(plane: ControlPlane) -> bool:
    answer = await plane.http.get(PATH)
    values = [item["value"] for item in answer.json()["items"]] if answer.is_success else []
    return values == ["90", "90"]


async def _is_newer(plane: ControlPlane, than: float) -> bool:
    timestamp = (await look(plane)).timestamp
    return timestamp is not None and timestamp > than


async def _autoscaler_misses(plane: ControlPlane) -> bool:
    events = await _events(plane, "FailedGetPodsMetric")
    counts = [int(e["count"]) for e in events if "Prometheus gives no answer" in e["message"]]
    return sum(counts) >= FAILED_SYNCS


async def _autoscaler_is_active(plane: ControlPlane) -> bool:
    path = f"/apis/autoscaling/v2/namespaces/{SPACE}/horizontalpodautoscalers/busy"
    conditions = (await plane.get(path))["status"]["conditions"]
    return any(c["type"] == "ScalingActive" and c["status"] == "True" for c in conditions)


async def _events(plane: ControlPlane, reason: str) -> list[dict[str, Any]]:
    path = f"/api/v1/namespaces/{SPACE}/events?fieldSelector=reason={reason}"
    return list((await plane.get(path))["items"])


async def _replicas(plane: ControlPlane) -> int:
    found: int = (await plane.get(f"/apis/apps/v1/namespaces/{SPACE}/deployments/busy"))["spec"][
        "replicas"
    ]
    return found


async def _available(plane: ControlPlane) -> str:
    path = f"/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.{GROUP}"
    conditions = (await plane.get(path))["status"]["conditions"]
    [status] = [str(c["status"]) for c in conditions if c["type"] == "Available"]
    return status


async def test_values_go_on_for_a_while(outage: Outage) -> None:
    answered = [each.at - outage.killed for each in outage.looks if each.answer.is_success]
    assert max(answered) > FRESHNESS + SLACK


async def test_values_of_an_outage_have_their_true_timestamp(outage: Outage) -> None:
    stamps = [each.timestamp for each in outage.looks if each.timestamp is not None]
    assert max(stamps) <= outage.killed


async def test_values_older_than_the_limit_are_not_served(outage: Outage) -> None:
    ages = [each.at - each.timestamp for each in outage.looks if each.timestamp is not None]
    assert max(ages) <= MAX_STALENESS + SLACK


async def test_then_the_service_is_unavailable_with_the_reason(outage: Outage) -> None:
    last = outage.looks[-1].answer
    assert last.status_code == 503, last.text
    assert last.json()["reason"] == "ServiceUnavailable"
    assert message_of(last).startswith(
        f"the server could not find the metric {METRIC} for pods: "
        f"Prometheus gives no answer in namespace {SPACE}: Prometheus cannot be reached"
    )


async def test_nobody_is_told_to_retry(outage: Outage) -> None:
    """The autoscaler's client would sleep in one of its few workers."""
    assert "retry-after" not in outage.looks[-1].answer.headers


async def test_discovery_stays_available(outage: Outage) -> None:
    assert outage.available == "True"
    assert f"pods/{METRIC}" in outage.listed


async def test_the_adapter_stays_ready(outage: Outage) -> None:
    assert outage.ready == 200


async def test_describe_shows_that_prometheus_does_not_answer(outage: Outage) -> None:
    assert f"Prometheus gives no answer in namespace {SPACE}" in outage.described


async def test_replicas_stay_when_data_are_missing(outage: Outage) -> None:
    assert outage.replicas == 2


async def test_nothing_was_ever_scaled_down(outage: Outage) -> None:
    assert len(outage.rescales) == 1
    assert outage.rescales[0].startswith("New size: 2;")


async def test_values_are_fresh_again_afterwards(outage: Outage) -> None:
    assert outage.after.answer.is_success
    assert outage.after.timestamp is not None
    assert outage.after.timestamp > outage.returned
