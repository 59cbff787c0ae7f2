"""Whether a sample can be of the pod that bears its name now."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from adapter.model.objects import ObjectRef, Pod
from adapter.rules.dcgm import resembles_target, says_exporter

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

    def is_exporter(self, labels: Mapping[str, str]) -> bool:
        """Tell whether `pod` and `namespace` of a GPU's sample are its exporter's own.

        Where the labels do not say it, the address that was scraped does, when it is a pod's; only
        where neither is known the names are compared.
        """
        if says_exporter(labels):
            return True
        named = self.pod(labels.get("namespace", ""), labels.get("pod", ""))
        scraped = _address(labels.get("instance", ""))
        if named and named.ip and scraped:
            return named.ip == scraped
        return resembles_target(labels)


def _address(instance: str) -> str:
    """Give the address in `instance`, empty when it is a name that somebody put there."""
    host = instance.rpartition(":")[0].strip("[]")
    return host if ":" in host or host.replace(".", "").isdigit() else ""


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
