"""Which objects of the cluster are there: pods from the watch, other kinds from short-lived lists."""

import time
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from adapter.errors import ClusterDown
from adapter.model.kinds import PODS
from adapter.model.objects import ObjectRef, Pod, Resource
from adapter.model.selector import Selector
from adapter.sources.errors import ClusterRefused
from adapter.sources.metadata import Listing, Named
from adapter.sources.pods import LIVING, Inventory
from adapter.sources.shared import Shared

METADATA_ONLY = (
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;q=0.9"
)
PAGE = "1000"
Known = Mapping[ObjectRef, Mapping[str, str]]


class Lists(Protocol):
    """What is asked of kube-apiserver."""

    async def get(self, path: str, params: Mapping[str, str], *, accept: str) -> bytes:
        """Give the body, or raise ClusterDown."""
        ...


class Objects:
    """Live objects by kind, namespace and labels.

    Pods come from `inventory`; until it has synced, and for every other kind, one metadata-only
    list a kind and namespace is shared by all who ask within `ttl` seconds.
    """

    def __init__(
        self,
        api: Lists,
        inventory: Inventory,
        *,
        ttl: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask nothing yet."""
        self._api = api
        self._inventory = inventory
        self._lists: Shared[tuple[Resource, str], Known] = Shared(ttl=ttl, clock=clock)

    async def select(
        self, resource: Resource, namespace: str, selector: Selector
    ) -> list[ObjectRef]:
        """Give the live objects that `selector` selects, ordered by namespace and name.

        `namespace` is empty for cluster-scoped kinds; for others empty means all namespaces.
        A kind that the API server does not serve has no objects. Raises ClusterDown.
        """
        return list(await self.labelled(resource, namespace, selector))

    async def labelled(
        self, resource: Resource, namespace: str, selector: Selector
    ) -> dict[ObjectRef, Mapping[str, str]]:
        """Give what `select` gives, in that order, with the objects' labels. Raises ClusterDown."""
        if _are_pods(resource) and self._inventory.synced:
            return self._pods(namespace, selector)
        known = await self._known(resource, namespace)
        return {ref: labels for ref, labels in known.items() if selector.matches(labels)}

    async def exists(self, resource: Resource, ref: ObjectRef) -> bool:
        """Tell whether the object is there; a pod that has ended is not. Raises ClusterDown."""
        if _are_pods(resource) and self._inventory.synced:
            return self._inventory.get(ref.namespace, ref.name) is not None
        return ref in await self._known(resource, ref.namespace)

    def pod(self, namespace: str, name: str) -> Pod | None:
        """Give what the watch knows of a living pod, None while it knows nothing."""
        return self._inventory.get(namespace, name)

    def _pods(self, namespace: str, selector: Selector) -> dict[ObjectRef, Mapping[str, str]]:
        pods = self._inventory.in_namespace(namespace) if namespace else self._inventory.all()
        return {
            ObjectRef(pod.namespace, pod.name): pod.labels
            for pod in pods
            if selector.matches(pod.labels)
        }

    async def _known(self, resource: Resource, namespace: str) -> Known:
        return await self._lists.get(
            (resource, namespace), lambda: self._fetch(resource, namespace)
        )

    async def _fetch(self, resource: Resource, namespace: str) -> Known:
        path = collection_path(resource, namespace)
        params = {"limit": PAGE, **(LIVING if _are_pods(resource) else {})}
        items: list[Named] = []
        while True:
            page = await self._page(path, params)
            items += page.items or []
            if not page.metadata.continue_:
                return _by_ref(resource, items)
            params = params | {"continue": page.metadata.continue_}

    async def _page(self, path: str, params: Mapping[str, str]) -> Listing[Named]:
        try:
            body = await self._api.get(path, params, accept=METADATA_ONLY)
            return msgspec.json.decode(body, type=Listing[Named])
        except ClusterRefused as error:
            if error.status == 404:
                return Listing()
            raise
        except ValueError as error:
            message = f"kube-apiserver's list at {path} is not understood: {error}"
            raise ClusterDown(message) from error


def collection_path(resource: Resource, namespace: str) -> str:
    """Give the path under which a kind is listed, in one namespace or, with none, everywhere."""
    root = f"/apis/{resource.group}" if resource.group else "/api"
    within = f"/namespaces/{namespace}" if resource.namespaced and namespace else ""
    return f"{root}/{resource.version}{within}/{resource.plural}"


def _are_pods(resource: Resource) -> bool:
    return resource.qualified == PODS.qualified


def _by_ref(resource: Resource, items: list[Named]) -> Known:
    found = {
        ObjectRef(item.metadata.namespace if resource.namespaced else "", item.metadata.name): (
            item.metadata.labels or {}
        )
        for item in items
    }
    return {ref: found[ref] for ref in sorted(found, key=lambda ref: (ref.namespace, ref.name))}
