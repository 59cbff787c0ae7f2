"""Which pod is on which node with which GPUs."""

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from tests.cluster.fleet import Binding, Slot
from tests.cluster.pods import Pod


@dataclass(slots=True, kw_only=True)
class Allocation:
    """GPUs of nodes given to the containers of pods, lowest index first; pods known by uid."""

    nodes: Mapping[str, int]
    _placed: dict[str, str] = field(default_factory=dict, init=False)
    """Pod uid to its node."""
    _slots: dict[str, list[Slot]] = field(default_factory=dict, init=False)
    """Pod uid to its GPUs."""
    _owners: dict[Slot, Binding] = field(default_factory=dict, init=False)
    _turn: Iterator[int] = field(default_factory=itertools.count, init=False)

    def place(self, pod: Pod) -> str | None:
        """The node for a pod, in turn among those with room; None when it fits nowhere."""
        known = self._placed.get(pod.metadata.uid)
        if known is not None:
            return known
        fitting = [name for name in self.nodes if len(self._free(name)) >= pod.gpus]
        if not fitting:
            return None
        node = fitting[next(self._turn) % len(fitting)]
        self._give(pod, node)
        return node

    def take(self, pod: Pod) -> None:
        """Give GPUs to a pod that is on a node already, however it came there."""
        if pod.metadata.uid not in self._placed and pod.spec.node_name in self.nodes:
            self._give(pod, pod.spec.node_name)

    def release(self, uid: str) -> bool:
        """Take a pod's GPUs back; whether it was on a node."""
        for slot in self._slots.pop(uid, []):
            del self._owners[slot]
        return self._placed.pop(uid, None) is not None

    def keep_only(self, uids: Collection[str]) -> None:
        """Forget all other pods."""
        for uid in self._placed.keys() - set(uids):
            self.release(uid)

    def bindings(self) -> Mapping[Slot, Binding]:
        """Who has which GPU."""
        return dict(self._owners)

    def _free(self, node: str) -> list[Slot]:
        slots = [Slot(node=node, index=index) for index in range(self.nodes[node])]
        return [slot for slot in slots if slot not in self._owners]

    def _give(self, pod: Pod, node: str) -> None:
        containers = [each for each in pod.spec.containers for _ in range(each.gpus)]
        meta = pod.metadata
        given = dict(zip(self._free(node), containers, strict=False))
        self._placed[meta.uid] = node
        self._slots[meta.uid] = list(given)
        for slot, container in given.items():
            self._owners[slot] = Binding(
                namespace=meta.namespace, pod=meta.name, container=container.name
            )
