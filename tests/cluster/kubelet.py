"""A small stand-in for scheduler and kubelets: pods get a node, run, and go away when deleted."""

import asyncio
import itertools
import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import httpx
import msgspec

from tests.cluster import pods
from tests.cluster.allocation import Allocation
from tests.cluster.fleet import Binding, Slot
from tests.cluster.pods import Event, Pod, PodList

MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}
RETRY_SECONDS = 0.5
GONE = (404, 409)
"""The pod has been deleted or changed meanwhile: the watch tells what is next."""

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Kubelet:
    """Registers nodes and runs pods on them as long as `async with` lives.

    Nodes are chosen in turn among those with enough free GPUs; a pod that fits nowhere stays
    Pending until one does. A pod is Running and Ready as soon as it is on a node; a status that
    somebody else has set is left as it is. kube-apiserver's outages are waited out.
    """

    http: httpx.AsyncClient
    """Speaks to kube-apiserver as an administrator."""
    nodes: Mapping[str, int]
    """Node name to its number of GPUs."""
    _allocation: Allocation = field(init=False)
    _pods: dict[str, Pod] = field(default_factory=dict, init=False)
    _addresses: Iterator[int] = field(default_factory=lambda: itertools.count(2), init=False)
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    async def __aenter__(self) -> Self:
        self._allocation = Allocation(nodes=self.nodes)
        for name, gpus in self.nodes.items():
            await self._register(name, gpus)
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def bindings(self) -> Mapping[Slot, Binding]:
        """Which container has which GPU now, as the exporter wants to know it."""
        return self._allocation.bindings()

    def running(self, namespace: str) -> list[tuple[str, str]]:
        """The pods of a namespace that are on a node, as namespace and name."""
        metas = [pod.metadata for pod in self._pods.values() if pod.spec.node_name]
        return sorted((meta.namespace, meta.name) for meta in metas if meta.namespace == namespace)

    async def _register(self, name: str, gpus: int) -> None:
        answer = await self.http.post("/api/v1/nodes", json=pods.node(name, gpus=gpus))
        if answer.status_code != httpx.codes.CONFLICT:
            answer.raise_for_status()
        status = pods.node_status(gpus=gpus, now=_now())
        path = f"/api/v1/nodes/{name}/status"
        (await self.http.patch(path, json=status, headers=MERGE_PATCH)).raise_for_status()

    async def _run(self) -> None:
        while True:
            try:
                await self._follow(await self._list())
            except (httpx.HTTPError, msgspec.DecodeError) as error:
                logger.warning("kubelet lost kube-apiserver: %r", error)
            await asyncio.sleep(RETRY_SECONDS)

    async def _list(self) -> str:
        """Take up all pods there are; gives the version from which to watch."""
        answer = await self.http.get("/api/v1/pods")
        answer.raise_for_status()
        listed = msgspec.json.decode(answer.content, type=PodList)
        self._pods = {pod.metadata.uid: pod for pod in listed.items}
        self._allocation.keep_only(self._pods)
        for pod in listed.items:
            await self._advance(pod)
        return listed.metadata.resource_version

    async def _follow(self, version: str) -> None:
        """Watch until kube-apiserver ends the watch or says that the version is too old."""
        query = {"watch": "true", "resourceVersion": version}
        timeout = httpx.Timeout(30, read=None)
        async with self.http.stream("GET", "/api/v1/pods", params=query, timeout=timeout) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                event = msgspec.json.decode(line, type=Event)
                if event.type == "ERROR":
                    return
                await self._note(event)

    async def _note(self, event: Event) -> None:
        pod = event.object
        if event.type == "DELETED":
            self._pods.pop(pod.metadata.uid, None)
            await self._release(pod)
            return
        self._pods[pod.metadata.uid] = pod
        await self._advance(pod)

    async def _advance(self, pod: Pod) -> None:
        """Do the one thing that brings a pod on; its outcome comes back as an event."""
        if pod.metadata.deletion_timestamp:
            await self._finalize(pod)
        elif pod.finished:
            await self._release(pod)
        elif not pod.spec.node_name:
            await self._bind(pod)
        else:
            await self._start(pod)

    async def _bind(self, pod: Pod) -> None:
        node = self._allocation.place(pod)
        if node is not None:
            await self._send("POST", f"{pod.path}/binding", pods.binding(pod, node))

    async def _start(self, pod: Pod) -> None:
        self._allocation.take(pod)
        if pod.status.phase == "Pending":
            number = next(self._addresses)
            ip = f"10.244.{number // 250 % 250}.{number % 250 + 1}"
            await self._send("PATCH", f"{pod.path}/status", pods.running(pod, ip=ip, now=_now()))

    async def _finalize(self, pod: Pod) -> None:
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod.metadata.uid}}
        await self._send("DELETE", pod.path, options)

    async def _release(self, pod: Pod) -> None:
        """Give a pod's GPUs back and try the pods that wait for one."""
        if self._allocation.release(pod.metadata.uid):
            for waiting in [each for each in self._pods.values() if not each.spec.node_name]:
                await self._advance(waiting)

    async def _send(self, method: str, path: str, body: Mapping[str, object]) -> None:
        headers = MERGE_PATCH if method == "PATCH" else None
        answer = await self.http.request(method, path, json=body, headers=headers)
        if answer.status_code not in GONE:
            answer.raise_for_status()


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
