"""The whole adapter in this process, before a scene of Prometheus and a small cluster."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx

from adapter.options import parse
from adapter.rules.config import RulesFile
from adapter.rules.dcgm import builtin_rules
from adapter.serve import _compose, _Composed
from adapter.sources.rule_files import RuleFiles
from tests.cases.scenes import Scene
from tests.cases.tenancy import Tenancy
from tests.cluster.processes import until
from tests.cluster.textserver import TextServer
from tests.fakes.cluster_state import pod
from tests.fakes.kubernetes import FakeKubernetes

P1 = "/apis/custom.metrics.k8s.io/v1beta1"
P2 = "/apis/custom.metrics.k8s.io/v1beta2"
TOKEN = "autoscaler"  # noqa: S105  (no secret: the cluster is a fake)
READY_SECONDS = 20
# Values change within a test, so they are asked anew each time; discovery goes round quickly.
FLAGS = (
    "--metrics-relist-interval=1s",
    "--freshness=1ms",
    "--max-staleness=1ms",
    "--authentication-skip-lookup",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What all cases share."""

    folder: Path
    kubernetes: FakeKubernetes
    tenancy: Tenancy
    pages: TextServer

    def publish(self, scene: Scene, text: str, page: int = 0) -> None:
        """Print another text for a scene; it counts from the next scrape on."""
        self.pages.publish(scene.path(page), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """An adapter that runs; `http` asks it as the autoscaler does."""

    http: httpx.AsyncClient
    composed: _Composed

    async def values(self, path: str, root: str = P1) -> dict[str, str]:
        """Object name to quantity; an error as `{code: message}`."""
        answer = await self.http.get(f"{root}/{path}")
        if answer.status_code != 200:
            return {str(answer.status_code): answer.json()["message"]}
        return {item["describedObject"]["name"]: item["value"] for item in answer.json()["items"]}

    async def both(self, path: str) -> dict[str, str]:
        """The same, after a look that both versions say it."""
        older, newer = await self.values(path, P1), await self.values(path, P2)
        assert older == newer
        return newer

    async def gives(self, path: str, wanted: dict[str, str]) -> bool:
        """Whether both versions say what is wanted by now; meanwhile they may differ."""
        older, newer = await self.values(path, P1), await self.values(path, P2)
        return older == newer == wanted

    async def offered(self) -> set[str]:
        """The names in the group's resource list."""
        answer = await self.http.get(P1)
        assert answer.status_code == 200
        return {each["name"] for each in answer.json()["resources"]}

    async def knows(self, name: str) -> bool:
        """Tell whether `pods/METRIC` or the like is offered."""
        return name in await self.offered()


def populate(kubernetes: FakeKubernetes) -> None:
    """Two nodes, and in namespace ml the pods llm-0 and llm-1 (app=llm) and web-0, all running."""
    for node in ("gpu-a", "gpu-b"):
        kubernetes.put("/api/v1/nodes", named(node, zone=node[-1]))
    for namespace in ("ml", "gpu-operator"):
        kubernetes.put("/api/v1/namespaces", named(namespace, team=namespace))
    kubernetes.put("/api/v1/pods", pod("ml", "llm-0", app="llm", node="gpu-a"))
    kubernetes.put("/api/v1/pods", pod("ml", "llm-1", app="llm", node="gpu-b"))
    kubernetes.put("/api/v1/pods", pod("ml", "web-0", app="web", node="gpu-b"))
    kubernetes.put("/api/v1/pods", pod("gpu-operator", "dcgm-exp-a", app="dcgm", node="gpu-a"))
    kubernetes.tokens[TOKEN] = {"username": "hpa", "groups": ["system:masters"]}


def named(name: str, **labels: str) -> dict[str, Any]:
    """An object of which only its name and labels matter."""
    return {"metadata": {"name": name, "labels": labels}}


@asynccontextmanager
async def adapter(
    stage: Stage, scene: Scene, rules: str, *flags: str, ready: bool = True, prefix: str = ""
) -> AsyncIterator[Adapter]:
    """Run the adapter with the rules (a list in YAML; none: the built-in ones) until the end.

    `ready` waits until it says so; `prefix` comes behind Prometheus's address.
    """
    url = f"{stage.tenancy.url(scene.name)}{prefix}"
    given = [*_given(stage, scene, rules), f"--prometheus-url={url}", *FLAGS, *flags]
    settings = parse(given)
    async with AsyncExitStack() as stack:
        files = RuleFiles(settings.config) if settings.config else None
        rules_file = files.rules if files else RulesFile(rules=builtin_rules())
        composed = await _compose(stack, settings, rules_file, files)
        transport = httpx.ASGITransport(cast("Any", composed.http.config.app))
        http = await stack.enter_async_context(_client(transport))
        stack.push_async_callback(_stop, _started(composed))
        if ready:
            await until(lambda: _is_ready(http), what="readyz", seconds=READY_SECONDS)
        yield Adapter(http=http, composed=composed)


def _started(composed: _Composed) -> list[asyncio.Task[None]]:
    return [asyncio.ensure_future(run()) for run in composed.loops.values()]


async def _stop(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(ended, asyncio.CancelledError)


def _given(stage: Stage, scene: Scene, rules: str) -> list[str]:
    kubeconfig = stage.kubernetes.kubeconfig(stage.folder)
    accounts = ("lister", "authentication", "authorization")
    given = [f"--{account}-kubeconfig={kubeconfig}" for account in accounts]
    given.append(f"--cert-dir={stage.folder}")
    if rules:
        file = stage.folder / f"{scene.name}.yaml"
        file.write_text(rules if "ules:" in rules else f"rules:{rules}")
        given.append(f"--config={file}")
    return given


def _client(transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    headers: Mapping[str, str] = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(transport=transport, base_url="https://adapter", headers=headers)


async def _is_ready(http: httpx.AsyncClient) -> bool:
    return (await http.get("/readyz")).is_success
