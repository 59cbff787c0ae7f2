"""SIGTERM: unready at once, serving for the delay, finishing what is in flight, exit code 0."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

import httpx
import pytest

from tests.cluster.adapter import AdapterProcess, adapter_kubeconfig, grant
from tests.cluster.exporter import Exporter
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.processes import until
from tests.cluster.prometheus import PrometheusServer
from tests.cluster.scene import eventually, namespace, pod, run_pods, values

pytestmark = pytest.mark.anyio

SPACE = "shutdown"
DELAY = 3
KNOWN, OTHER = (
    f"namespaces/{SPACE}/pods/one/DEV_{name}_current" for name in ("GPU_UTIL", "FB_USED")
)
MASTER = {"X-Remote-User": "somebody", "X-Remote-Group": "system:masters"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What was seen of one stop; times in seconds after SIGTERM."""

    unready_after: float
    readiness: httpx.Response
    during_delay: dict[str, str]
    closed_after: float
    waiting: bool
    """Whether the request in flight had no answer yet when the port was closed."""
    in_flight: dict[str, str]
    code: int


@pytest.fixture(scope="module")
async def stop(
    plane: ControlPlane,
    kubelet: Kubelet,
    exporter: Exporter,
    prometheus: PrometheusServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Stop]:
    """An adapter that is asked to stop while Prometheus is slow to answer a request."""
    exporter.release()
    await grant(plane)
    adapter = AdapterProcess(
        folder=tmp_path_factory.mktemp("stopping"),
        kubeconfig=adapter_kubeconfig(plane),
        prometheus_url=prometheus.url,
        flags=("--metrics-relist-interval=1s", f"--shutdown-delay={DELAY}s"),
    )
    async with namespace(plane, kubelet, SPACE), adapter:
        await run_pods(plane, pod(SPACE, "one", gpus=1))
        for path, wanted in ((KNOWN, {"one": "0"}), (OTHER, {"one": "627"})):
            look = partial(ask, plane, adapter, path)
            assert await eventually(look, wanted) == wanted
        try:
            yield await _stop(plane, adapter, prometheus)
        finally:
            prometheus.process.signal(signal.SIGCONT)


async def _stop(plane: ControlPlane, adapter: AdapterProcess, prometheus: PrometheusServer) -> Stop:
    began = time.monotonic()
    adapter.process.signal(signal.SIGTERM)
    readiness = await _first_unready(adapter)
    unready_after = time.monotonic() - began
    during_delay = await ask(plane, adapter, KNOWN)
    prometheus.process.signal(signal.SIGSTOP)
    in_flight = asyncio.create_task(ask(plane, adapter, f"{OTHER}?metricLabelSelector=UUID"))
    await until(lambda: _is_closed(adapter), what="the port is closed", seconds=DELAY + 5)
    closed_after = time.monotonic() - began
    waiting = not in_flight.done()
    prometheus.process.signal(signal.SIGCONT)
    return Stop(
        unready_after=unready_after,
        readiness=readiness,
        during_delay=during_delay,
        closed_after=closed_after,
        waiting=waiting,
        in_flight=await in_flight,
        code=await adapter.process.wait(),
    )


async def ask(plane: ControlPlane, adapter: AdapterProcess, path: str) -> dict[str, str]:
    """Ask as kube-apiserver does, on a connection of its own."""
    async with adapter.client(plane.pki.proxy_client) as http:
        http.headers.update(MASTER)
        return await values(http, path)


async def _first_unready(adapter: AdapterProcess) -> httpx.Response:
    seen: list[httpx.Response] = []

    async def unready() -> bool:
        async with adapter.client() as http:
            seen[:] = [await http.get("/readyz")]
        return not seen[0].is_success

    await until(unready, what="readyz fails", seconds=DELAY)
    return seen[0]


async def _is_closed(adapter: AdapterProcess) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", adapter.port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def test_readyz_fails_at_once(stop: Stop) -> None:
    assert stop.unready_after < 1
    assert stop.readiness.status_code == 500
    assert "[-]shutdown failed" in stop.readiness.text


async def test_serving_goes_on_for_the_delay(stop: Stop) -> None:
    assert stop.during_delay == {"one": "0"}
    assert stop.closed_after >= DELAY


async def test_a_request_in_flight_is_answered(stop: Stop) -> None:
    assert stop.waiting
    assert stop.in_flight == {"one": "627"}


async def test_the_exit_code_is_zero(stop: Stop) -> None:
    assert stop.code == 0
