"""Who lives: the pods of the cluster, by a watch that leaves out the ones that have ended."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from adapter.model.objects import Pod
from adapter.sources.backoff import Backoff
from adapter.sources.metadata import Metadata
from adapter.sources.watching import ListWatch, Watched
from adapter.telemetry import Telemetry

LIVING: Mapping[str, str] = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
_ENDED = frozenset({"Succeeded", "Failed"})


class Inventory:
    """The living pods, as far as the watch has told; reading costs no request.

    `synced` turns true with the first complete list and stays true: later, in an outage, what was
    known last goes on being answered.
    """

    def __init__(self) -> None:
        """Know nothing."""
        self.synced = False
        self._pods: dict[str, dict[str, Pod]] = {}
        self._sorted: dict[str, tuple[Pod, ...]] = {}
        self._nodes: frozenset[str] | None = frozenset()
        self._change = asyncio.Event()

    def get(self, namespace: str, name: str) -> Pod | None:
        """Give the living pod of that name, None if there is none."""
        return self._pods.get(namespace, {}).get(name)

    def in_namespace(self, namespace: str) -> Sequence[Pod]:
        """Give the living pods of a namespace, ordered by name."""
        if namespace not in self._pods:
            return ()
        if namespace not in self._sorted:
            pods = self._pods[namespace]
            self._sorted[namespace] = tuple(pods[name] for name in sorted(pods))
        return self._sorted[namespace]

    def all(self) -> Sequence[Pod]:
        """Give every living pod, ordered by namespace and name."""
        return tuple(pod for space in sorted(self._pods) for pod in self.in_namespace(space))

    def __len__(self) -> int:
        """Give the number of living pods."""
        return sum(len(pods) for pods in self._pods.values())

    @property
    def node_names(self) -> frozenset[str]:
        """Give the nodes that living pods run on."""
        if self._nodes is None:
            self._nodes = frozenset(pod.node for pod in self.all() if pod.node)
        return self._nodes

    async def changed(self) -> None:
        """Wait for the next change."""
        await self._change.wait()

    def replace(self, pods: Iterable[Pod]) -> None:
        """Forget all pods and know exactly these."""
        self._pods, self._sorted = {}, {}
        for pod in pods:
            self._pods.setdefault(pod.namespace, {})[pod.name] = pod
        self.synced = True
        self._tell()

    def put(self, pod: Pod) -> None:
        """Know `pod`, new or changed; most events change nothing that is read."""
        if self.get(pod.namespace, pod.name) == pod:
            return
        self._pods.setdefault(pod.namespace, {})[pod.name] = pod
        self._sorted.pop(pod.namespace, None)
        self._tell()

    def drop(self, namespace: str, name: str) -> None:
        """Forget a pod; one that is not known is no fault."""
        pods = self._pods.get(namespace, {})
        if pods.pop(name, None) is None:
            return
        self._sorted.pop(namespace, None)
        if not pods:
            del self._pods[namespace]
        self._tell()

    def _tell(self) -> None:
        self._nodes = None
        change, self._change = self._change, asyncio.Event()
        change.set()


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Status(msgspec.Struct, rename="camel"):
    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    host_ip: str = msgspec.field(default="", name="hostIP")

    @property
    def own_ip(self) -> str:
        """Give the pod's address, empty when it is its node's, which others have too."""
        return self.pod_ip if self.pod_ip != self.host_ip else ""


class PodDocument(msgspec.Struct):
    """The fields of a pod that are read."""

    metadata: Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def ended(self) -> bool:
        """Tell whether the pod has run to its end and will never run again."""
        return self.status.phase in _ENDED

    def pod(self) -> Pod:
        """Give the plain value."""
        return Pod(
            namespace=self.metadata.namespace,
            name=self.metadata.name,
            uid=self.metadata.uid,
            node=self.spec.node_name,
            ip=self.status.own_ip,
            labels=self.metadata.labels or {},
        )


class PodWatch:
    """Keeps `inventory` true; `run()` never ends."""

    def __init__(
        self, api: Watched, telemetry: Telemetry, *, backoff: Backoff | None = None
    ) -> None:
        """Ask nothing yet."""
        self.inventory = Inventory()
        self._telemetry = telemetry
        self._watch = ListWatch(
            api,
            self,
            kind=PodDocument,
            path="/api/v1/pods",
            params=LIVING,
            backoff=backoff or Backoff(),
        )

    async def run(self) -> None:
        """Watch for ever."""
        await self._watch.run()

    def replace(self, items: list[PodDocument]) -> None:
        """Take a complete list."""
        self.inventory.replace(item.pod() for item in items if not item.ended)
        self._count()

    def put(self, item: PodDocument) -> None:
        """Take a new or changed pod; one that has ended leaves, whatever the event is called."""
        if item.ended:
            return self.drop(item)
        self.inventory.put(item.pod())
        return self._count()

    def drop(self, item: PodDocument) -> None:
        """Take a pod's end."""
        self.inventory.drop(item.metadata.namespace, item.metadata.name)
        self._count()

    def _count(self) -> None:
        self._telemetry.pods.set(len(self.inventory))
