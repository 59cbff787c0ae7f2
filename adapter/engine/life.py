"""Whether a sample can be of the pod that bears its name now."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from adapter.model.objects import ObjectRef, Pod

# A device's series names the node that the device is in; the first that is a real node counts,
# as `Hostname` may also be the exporter's pod.
_NODE_LABELS = ("node", "Hostname", "hostname")


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What is known of living pods, asked for each sample, so each part must answer from memory.

    `pod` gives the living pod of a namespace and name, `node_names` the names that are nodes',
    `synced` tells whether the pods are known at all.
    """

    pod: Callable[[str, str], Pod | None]
    node_names: Callable[[], Collection[str]]
    synced: Callable[[], bool]

    def alive(self, ref: ObjectRef, labels: Mapping[str, str]) -> bool:
        """Tell whether a sample with `labels` is of the living pod `ref`.

        It is not when no such pod lives, when `pod_uid` is another pod's that had the name before,
        or when the sample's device is in another node, where a pod of this name was before. Series
        without a device say nothing about the pod's node: their `node` may be their exporter's.
        Before the pods are known everything counts as alive.
        """
        if not self.synced():
            return True
        living = self.pod(ref.namespace, ref.name)
        if living is None or _differs(labels.get("pod_uid", ""), living.uid):
            return False
        return not (living.node and _differs(_node_of(labels, self.node_names()), living.node))


def _differs(told: str, known: str) -> bool:
    return bool(told and known and told != known)


def _node_of(labels: Mapping[str, str], node_names: Collection[str]) -> str:
    # Called for each sample, so without generators.
    if "UUID" not in labels and "uuid" not in labels:
        return ""
    for label in _NODE_LABELS:
        if (name := labels.get(label)) in node_names:
            return name or ""
    return ""
