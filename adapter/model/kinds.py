"""The resource mapper: which kind a word in a rule or in a path means."""

from collections.abc import Iterable

from adapter.model.objects import Resource


def _core(plural: str, kind: str, *, namespaced: bool = True) -> Resource:
    return Resource(plural=plural, singular=kind.lower(), kind=kind, namespaced=namespaced)


def _in(group: str, plural: str, kind: str) -> Resource:
    return Resource(group=group, plural=plural, singular=kind.lower(), kind=kind, namespaced=True)


PODS = _core("pods", "Pod")
NODES = _core("nodes", "Node", namespaced=False)
NAMESPACES = _core("namespaces", "Namespace", namespaced=False)
SERVICES = _core("services", "Service")

# What every cluster has, so that rules are understood before, and without, its discovery.
BUILT_IN = (
    PODS,
    NODES,
    NAMESPACES,
    SERVICES,
    _core("persistentvolumes", "PersistentVolume", namespaced=False),
    _core("persistentvolumeclaims", "PersistentVolumeClaim"),
    _core("replicationcontrollers", "ReplicationController"),
    _in("apps", "deployments", "Deployment"),
    _in("apps", "replicasets", "ReplicaSet"),
    _in("apps", "statefulsets", "StatefulSet"),
    _in("apps", "daemonsets", "DaemonSet"),
    _in("batch", "jobs", "Job"),
    _in("batch", "cronjobs", "CronJob"),
    _in("networking.k8s.io", "ingresses", "Ingress"),
)


class Kinds:
    """An immutable set of kinds in order of preference: core first, then as discovery lists them.

    `Kinds()` holds BUILT_IN; a refreshed set from the API server replaces it whole. Two sets are
    equal when they mean the same by every word.
    """

    def __init__(self, resources: Iterable[Resource] = BUILT_IN) -> None:
        """Index `resources`; where a word means several, the earlier wins."""
        self._all = tuple(resources)
        self._by_word: dict[str, list[Resource]] = {}
        for resource in self._all:
            for word in {resource.plural.lower(), resource.singular.lower()}:
                self._by_word.setdefault(word, []).append(resource)

    def __eq__(self, other: object) -> bool:
        """Tell whether `other` holds the same kinds in the same order."""
        return self._all == other._all if isinstance(other, Kinds) else NotImplemented

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(self._all)

    def find(self, word: str, group: str = "") -> Resource | None:
        """Give the kind that `word` (singular or plural, any case) means, None if there is none.

        An empty `group` takes the first kind with that word; else the exact group, then a group
        that has `group` as a prefix (`storage` finds `storage.k8s.io`).
        """
        candidates = self._by_word.get(word.lower(), [])
        if not group:
            return candidates[0] if candidates else None
        exact = (kind for kind in candidates if kind.group == group)
        prefixed = (kind for kind in candidates if kind.group.startswith(group))
        return next(exact, None) or next(prefixed, None)

    def find_qualified(self, text: str) -> Resource | None:
        """Give the kind for `pods`, `pod` or `deployments.apps`, as they stand in a path."""
        word, _, group = text.partition(".")
        return self.find(word, group)
