"""A real Prometheus that keeps its own labels, for checks that look at it."""

from collections.abc import AsyncIterator

import pytest

from tests.cluster.binaries import ready_prometheus_program
from tests.cluster.errors import MissingToolError
from tests.cluster.place import Place
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.textserver import TextServer

PAGE = """\
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="exporter-a"} 90
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-2",Hostname="exporter-a"} 10
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",UUID="GPU-3",Hostname="exporter-a"} 4294967295
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_GPU_TEMP{namespace="ml",pod="llm-0",UUID="GPU-1"} 40
# TYPE jobs_total counter
jobs_total{namespace="ml",pod="llm-0"} 5
# TYPE latency_seconds histogram
latency_seconds_count{namespace="ml",pod="llm-0"} 5
# TYPE ratio gauge
ratio{namespace="ml",pod="llm-0"} NaN
ratio{namespace="ml",pod="llm-1"} 1
# TYPE queue_length gauge
queue_length{namespace="ml",pod="llm-0"} 3
queue_length{namespace="web",pod="llm-0"} 4
"""
EXPORTER = {"namespace": "gpu-operator", "pod": "exporter-a", "service": "exporter"}


@pytest.fixture(scope="session")
async def prometheus_url(
    anyio_backend: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[str]:
    """The address of a Prometheus that scraped PAGE a few times, a second apart."""
    try:
        program = ready_prometheus_program(Place.here())
    except MissingToolError as error:
        pytest.fail(str(error), pytrace=False)
    async with TextServer() as pages:
        pages.publish("/metrics", PAGE)
        target = Target(address=pages.address, path="/metrics", labels=EXPORTER)
        folder = tmp_path_factory.mktemp("checked")
        async with PrometheusServer(program=program, folder=folder, targets=[target]) as server:
            await server.wait_for("count_over_time(queue_length[1m]) > 3")
            yield server.url
