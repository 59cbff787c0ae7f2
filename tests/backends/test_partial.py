"""A real Prometheus whose answers are partial: its remote store is not there."""

import pytest

from adapter.errors import PrometheusDown
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry
from tests.cluster.prometheus import PrometheusServer

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


async def test_strict_takes_them_for_an_outage_and_says_why(seen: str) -> None:
    client = Prometheus(PrometheusSettings(url=seen, strict=True), Telemetry())
    with pytest.raises(PrometheusDown, match=r"in part only: remote_read.*connection refused"):
        await client.query(QUERY)
    await client.aclose()
