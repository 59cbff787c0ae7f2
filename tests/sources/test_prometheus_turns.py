"""How much is asked of Prometheus at once, and that discovery keeps no reading waiting."""

import asyncio

import httpx
import pytest

from adapter.errors import PrometheusDown
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry
from tests.fakes.prometheus import FakePrometheus

pytestmark = pytest.mark.anyio
VECTOR = '{"status":"success","data":{"resultType":"vector","result":[]}}'
NAMES = '{"status":"success","data":[]}'


def asking(seam: httpx.AsyncBaseTransport, timeout: float = 10) -> Prometheus:
    return Prometheus(
        PrometheusSettings(url="http://prom", timeout=timeout), Telemetry(), transport=seam
    )


async def settled() -> None:
    """Let everything run until it waits for something from outside."""
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.mark.parametrize(("discovering", "most"), [(False, 16), (True, 8)])
async def test_so_many_requests_run_at_once(discovering: bool, most: int) -> None:
    fake = FakePrometheus()
    fake.gate.clear()
    prometheus = asking(fake)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(40):
            call = (
                prometheus.series("up", start=0, end=1) if discovering else prometheus.query("up")
            )
            tasks.create_task(_done(call))
        await settled()
        assert len(fake.asked) == most
        fake.gate.set()
    assert len(fake.asked) == 40


async def _done(call: object) -> None:
    assert asyncio.iscoroutine(call)
    await call


class HangingDiscovery(httpx.AsyncBaseTransport):
    """Answers queries; series are never answered, unless `open`."""

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/query"):
            return httpx.Response(200, text=VECTOR)
        await self.open.wait()
        return httpx.Response(200, text=NAMES)


async def test_readings_go_on_while_every_rule_s_discovery_hangs() -> None:
    seam = HangingDiscovery()
    prometheus = asking(seam)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(40):
            tasks.create_task(prometheus.series("up", start=0, end=1))
        await settled()
        assert await prometheus.query("up") == []
        seam.open.set()


async def test_the_wait_for_a_turn_is_no_fault_of_a_discovery_call() -> None:
    asked: list[httpx.Request] = []

    async def hang_eight(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if len(asked) <= 8:
            await asyncio.Event().wait()
        return httpx.Response(200, text=NAMES)

    prometheus = asking(httpx.MockTransport(hang_eight), timeout=0.05)
    calls = [prometheus.series("up", start=0, end=1) for _ in range(20)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result) for result in results] == [PrometheusDown] * 8 + [list] * 12


async def test_a_rule_whose_series_are_never_answered_ends_with_our_patience() -> None:
    with pytest.raises(PrometheusDown, match=r"within 0\.01 s"):
        await asking(HangingDiscovery(), timeout=0.01).series("up", start=0, end=1)


async def test_a_request_that_is_given_up_is_counted_as_nothing() -> None:
    fake = FakePrometheus()
    fake.gate.clear()
    telemetry = Telemetry()
    prometheus = Prometheus(PrometheusSettings(url="http://prom"), telemetry, transport=fake)
    task = asyncio.create_task(prometheus.query("up"))
    await settled()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    name = "gpu_metrics_adapter_prometheus_requests_total"
    labels = {"path": "/api/v1/query", "outcome": "down"}
    assert telemetry.registry.get_sample_value(name, labels) is None
