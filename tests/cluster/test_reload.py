"""Rules that change while requests come: no request is dropped, and a bad file changes nothing."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.cluster.adapter import AdapterProcess, adapter_kubeconfig, grant
from tests.cluster.exporter import Exporter
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.prometheus import PrometheusServer
from tests.cluster.scene import eventually, namespace, pod, run_pods
from tests.cluster.test_shutdown import MASTER, ask

pytestmark = pytest.mark.anyio

SPACE = "reload"
MEMORY, OTHERS = (f"namespaces/{SPACE}/pods/*/{name}" for name in ("memory", "others"))
IDLE, DOUBLED, TREBLED = {"one": "627"}, {"one": "1254"}, {"one": "1881"}
RULE = """
rules:
- seriesQuery: DCGM_FI_DEV_FB_USED{exported_pod!=""}
  resources:
    overrides:
      exported_pod: {resource: pod}
      exported_namespace: {resource: namespace}
  name: {as: memory}
  metricsQuery: max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>) * FACTOR
"""
OTHER = RULE.replace("as: memory", "as: others").replace("FACTOR", "3")
BAD = "rules:\n- seriesQuery: up\n"


class Served:
    """An adapter over a folder of rules, and ways to ask it."""

    def __init__(self, plane: ControlPlane, adapter: AdapterProcess, folder: Path) -> None:
        self.adapter, self.other = adapter, folder / "other.yaml"
        self.memory = partial(ask, plane, adapter, MEMORY)
        self.others = partial(ask, plane, adapter, OTHERS)
        self._ours = folder / "ours.yaml"
        self._proxy = plane.pki.proxy_client

    def write(self, factor: int) -> None:
        """Serve the memory times `factor`."""
        self._ours.write_text(RULE.replace("FACTOR", str(factor)))

    async def text(self, path: str) -> str:
        async with self.adapter.client(self._proxy) as http:
            return (await http.get(path, headers=MASTER)).text


@pytest.fixture(scope="module")
async def served(
    plane: ControlPlane,
    kubelet: Kubelet,
    exporter: Exporter,
    prometheus: PrometheusServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Served]:
    """One pod with an idle GPU, whose memory is served."""
    exporter.release()
    await grant(plane)
    folder = tmp_path_factory.mktemp("reload")
    rules = folder / "rules"
    rules.mkdir()
    (rules / "ours.yaml").write_text(RULE.replace("FACTOR", "1"))
    (rules / "other.yaml").write_text(OTHER)
    adapter = AdapterProcess(
        folder=folder,
        kubeconfig=adapter_kubeconfig(plane),
        prometheus_url=prometheus.url,
        config=rules,
        # Discovery by the clock would hide a change that waits for it.
        flags=("--metrics-relist-interval=10m", "--freshness=1s", "--shutdown-delay=0s"),
    )
    async with namespace(plane, kubelet, SPACE):
        await run_pods(plane, pod(SPACE, "one", gpus=1))
        await prometheus.wait_for(f'DCGM_FI_DEV_FB_USED{{exported_namespace="{SPACE}"}}')
        async with adapter:
            yield Served(plane, adapter, rules)


async def test_no_request_is_dropped_while_rules_change(served: Served) -> None:
    served.write(1)
    assert await eventually(served.memory, IDLE) == IDLE
    served.write(2)

    answers = [answer for _ in range(25) for answer in await _four(served)]

    assert [answer for answer in answers if answer not in (IDLE, DOUBLED)] == []
    assert (answers[0], answers[-1]) == (IDLE, DOUBLED)


async def _four(served: Served) -> list[dict[str, str]]:
    # A hundred requests over five seconds: the change comes in their midst.
    await asyncio.sleep(0.2)
    return await asyncio.gather(*(served.memory() for _ in range(4)))


async def test_a_bad_file_is_told_and_serves_on_while_the_others_change(served: Served) -> None:
    served.write(1)
    served.other.write_text(OTHER)
    assert await eventually(served.memory, IDLE) == IDLE
    assert await eventually(served.others, TREBLED) == TREBLED
    served.write(2)
    served.other.write_text(BAD)
    warning = f"warn: config: refused, the rules before it serve on: {served.other}:2: rule 1: "

    async def told() -> bool:
        return warning in await served.text("/readyz?verbose")

    assert await eventually(told, wanted=True)
    assert await eventually(served.memory, DOUBLED) == DOUBLED
    assert await served.others() == TREBLED
    async with served.adapter.client() as http:
        assert (await http.get("/readyz")).status_code == httpx.codes.OK
    assert "config_last_reload_successful 0.0" in await served.text("/metrics")
    log = (served.adapter.folder / "adapter.log").read_text()
    assert log.count('"event": "rules refused"') == 1
