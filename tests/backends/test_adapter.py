"""The whole adapter, as a process, before each backend: what is listed, values, refusals."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from tests.backends.adapters import GROUP, WORD
from tests.backends.backends import Backend
from tests.cluster.adapter import AdapterProcess
from tests.fakes.kubernetes import FakeKubernetes

pytestmark = pytest.mark.anyio
RULES = {
    "rules": [
        {
            "seriesQuery": '{UUID!=""}',
            "resources": {
                "overrides": {
                    "exported_pod": {"resource": "pod"},
                    "exported_namespace": {"resource": "namespace"},
                    "node": {"resource": "node"},
                }
            },
            "name": {"matches": "^DCGM_FI_(.*)$", "as": name},
            "metricsQuery": query,
        }
        for name, query in {
            "${1}_current": "<<.Series>>{<<.LabelMatchers>>}",
            "${1}_over_time": "ceil(avg_over_time(<<.Series>>{<<.LabelMatchers>>}[3m]))",
            "${1}_sum": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
            "${1}_wrong": "<<.Series>>{<<.LabelMatchers>>} * on (node) <<.Series>>",
            "${1}_nan": "<<.Series>>{<<.LabelMatchers>>} * 0 / 0",
        }.items()
    ]
}


@pytest.fixture(scope="session")
async def adapters(
    running: dict[str, Backend],
    kubernetes: FakeKubernetes,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """An adapter for each backend, ready, as clients that ask it as the autoscaler does."""
    folder = tmp_path_factory.mktemp("adapters")
    rules = folder / "rules.yaml"
    rules.write_text(json.dumps(RULES))
    async with AsyncExitStack() as stack:
        found = {}
        for name, backend in running.items():
            process = _adapter(folder / name, backend, rules, kubernetes.kubeconfig(folder))
            await stack.enter_async_context(process)
            found[name] = await stack.enter_async_context(process.client())
            found[name].headers["Authorization"] = f"Bearer {WORD}"
        yield found


def _adapter(folder: Path, backend: Backend, rules: Path, kubeconfig: Path) -> AdapterProcess:
    flags = ("--authentication-skip-lookup", "--shutdown-delay=0s", "--strict")
    return AdapterProcess(
        folder=folder,
        kubeconfig=kubeconfig,
        prometheus_url=backend.url,
        config=rules,
        flags=flags,
    )


@pytest.fixture
def adapter(adapters: dict[str, httpx.AsyncClient], backend: Backend) -> httpx.AsyncClient:
    """The one before this backend."""
    return adapters[backend.name]


async def values(adapter: httpx.AsyncClient, path: str) -> dict[str, str]:
    """Give object names and quantities."""
    answer = await adapter.get(f"{GROUP}/{path}")
    assert answer.status_code == 200, answer.text
    return {item["describedObject"]["name"]: item["value"] for item in answer.json()["items"]}


async def test_every_series_is_listed_on_each_kind_that_its_labels_name(
    adapter: httpx.AsyncClient,
) -> None:
    listed = {one["name"] for one in (await adapter.get(GROUP)).json()["resources"]}
    fields = ("DEV_GPU_UTIL", "DEV_FB_USED")
    kinds = ("pods", "nodes", "namespaces")
    assert {f"{kind}/{field}_current" for kind in kinds for field in fields} <= listed
    assert {name for name in listed if "steps_total" in name} == set()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("namespaces/ml/pods/*/DEV_GPU_UTIL_current", {"llm-0": "10500m", "llm-1": "30500m"}),
        ("namespaces/ml/pods/llm-1/DEV_GPU_UTIL_over_time", {"llm-1": "31"}),
        ("namespaces/ml/pods/*/DEV_FB_USED_sum", {"llm-0": "1k", "llm-1": "3k"}),
        # The mean of two devices for utilisation, the sum for memory.
        ("nodes/gpu-a/DEV_GPU_UTIL_current", {"gpu-a": "20500m"}),
        ("nodes/gpu-a/DEV_FB_USED_current", {"gpu-a": "4k"}),
        ("namespaces/ml/metrics/DEV_FB_USED_current", {"ml": "4k"}),
    ],
)
async def test_values_are_the_same_before_every_backend(
    adapter: httpx.AsyncClient, path: str, expected: dict[str, str]
) -> None:
    assert await values(adapter, path) == expected


async def test_a_pod_without_a_series_is_404(adapter: httpx.AsyncClient) -> None:
    answer = await adapter.get(f"{GROUP}/namespaces/ml/pods/idle/DEV_GPU_UTIL_current")
    assert answer.status_code == 404


async def test_nan_is_404_whether_the_backend_says_it_or_leaves_it_out(
    adapter: httpx.AsyncClient,
) -> None:
    answer = await adapter.get(f"{GROUP}/namespaces/ml/pods/llm-0/DEV_GPU_UTIL_nan")
    assert answer.status_code == 404


async def test_a_query_that_the_backend_refuses_is_500_with_its_words(
    adapter: httpx.AsyncClient,
) -> None:
    answer = await adapter.get(f"{GROUP}/namespaces/ml/pods/llm-0/DEV_GPU_UTIL_wrong")
    assert answer.status_code == 500
    assert "duplicate" in answer.json()["message"]
