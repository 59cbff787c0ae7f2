"""A real Prometheus whose answers are partial: its remote store is not there."""

import time
from pathlib import Path

import pytest

from adapter.errors import EndpointMissing, PrometheusDown
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry
from tests.backends.adapters import GROUP, WORD
from tests.cluster.adapter import AdapterProcess
from tests.cluster.prometheus import PrometheusServer
from tests.fakes.kubernetes import FakeKubernetes

pytestmark = pytest.mark.anyio
QUERY = "DCGM_FI_DEV_GPU_UTIL"


@pytest.fixture
async def seen(cut_off: PrometheusServer) -> str:
    """Its address, once it has something to show."""
    await cut_off.wait_for(QUERY)
    return cut_off.url


async def test_its_own_samples_are_used_and_the_rest_is_counted(seen: str) -> None:
    telemetry = Telemetry()
    client = Prometheus(PrometheusSettings(url=seen), telemetry)
    assert sorted(sample.value for sample in await client.query(QUERY)) == [10.5, 30.5]
    await client.aclose()
    name = "gpu_metrics_adapter_prometheus_partial_answers_total"
    assert telemetry.registry.get_sample_value(name, {"path": "/api/v1/query"}) == 1


async def test_what_it_cannot_tell_by_name_is_told_by_its_series(seen: str) -> None:
    """With `remote_read` Prometheus says of names and labels that the store has none."""
    client = Prometheus(PrometheusSettings(url=seen), Telemetry())
    now = time.time()
    with pytest.raises(EndpointMissing, match="not implemented"):
        await client.metric_names(QUERY, start=now - 60, end=now)
    assert len(await client.series(QUERY, start=now - 60, end=now)) == 2
    await client.aclose()


async def test_the_whole_adapter_answers_503_when_it_is_strict(
    seen: str, kubernetes: FakeKubernetes, tmp_path: Path
) -> None:
    flags = ("--authentication-skip-lookup", "--shutdown-delay=0s", "--strict")
    kubeconfig = kubernetes.kubeconfig(tmp_path)
    process = AdapterProcess(
        folder=tmp_path, kubeconfig=kubeconfig, prometheus_url=seen, flags=flags
    )
    async with process, process.client() as http:
        http.headers["Authorization"] = f"Bearer {WORD}"
        answer = await http.get(f"{GROUP}/namespaces/ml/pods/*/DEV_GPU_UTIL_current")
    assert answer.status_code == 503
    assert "retry-after" not in answer.headers


async def test_strict_takes_them_for_an_outage_and_says_why(seen: str) -> None:
    client = Prometheus(PrometheusSettings(url=seen, strict=True), Telemetry())
    with pytest.raises(PrometheusDown, match=r"in part only: remote_read.*connection refused"):
        await client.query(QUERY)
    await client.aclose()
