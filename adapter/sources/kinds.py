"""Which kinds the API server serves, in the order in which a word prefers them."""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

import msgspec

from adapter.errors import ClusterDown
from adapter.model.kinds import Kinds
from adapter.model.objects import Resource
from adapter.sources.backoff import Backoff

Document = TypeVar("Document")
log = logging.getLogger(__name__)
# The metrics APIs list metrics, not kinds of objects; ours would find itself there.
_NOT_KINDS = frozenset({"custom.metrics.k8s.io", "external.metrics.k8s.io", "metrics.k8s.io"})
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_ACCEPT = f"{AGGREGATED},application/json;q=0.9"


class Documents(Protocol):
    """What is asked of kube-apiserver."""

    async def get(self, path: str, *, accept: str) -> bytes:
        """Give the body, or raise ClusterDown."""
        ...


class _Kind(msgspec.Struct, rename="camel"):
    resource: str
    response_kind: Mapping[str, str] | None = None
    scope: str = "Namespaced"
    singular_resource: str = ""
    verbs: list[str] | None = None


class _Version(msgspec.Struct):
    version: str
    resources: list[_Kind] | None = None


class _Name(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Name = msgspec.field(default_factory=_Name)
    versions: list[_Version] | None = None


class _Aggregated(msgspec.Struct):
    kind: str = ""
    items: list[_Group] | None = None


class _LegacyVersion(msgspec.Struct):
    version: str


class _LegacyGroup(msgspec.Struct, rename="camel"):
    name: str
    versions: list[_LegacyVersion] | None = None
    preferred_version: _LegacyVersion | None = None


class _LegacyGroups(msgspec.Struct):
    groups: list[_LegacyGroup] | None = None


class _LegacyKind(msgspec.Struct, rename="camel"):
    name: str
    kind: str = ""
    singular_name: str = ""
    namespaced: bool = False
    verbs: list[str] | None = None


class _LegacyKinds(msgspec.Struct):
    resources: list[_LegacyKind] | None = None


async def fetch_kinds(api: Documents) -> Kinds:
    """Give every listable kind: core first, then the groups in the server's order.

    Within a group the preferred version comes first and a kind is taken once. Subresources and
    the metrics APIs are left out. A group that cannot be read is left out too. Raises ClusterDown.
    """
    core = await _legacy_kinds(api, "/api/v1", "", "v1")
    if not core:
        message = "kube-apiserver lists no core kinds"
        raise ClusterDown(message)
    return Kinds(_once([*core, *await _groups(api)]))


class KindsRefresh:
    """Keeps `current` as the API server has it, asked every `interval` seconds.

    It stays the same object until the kinds differ.
    """

    def __init__(self, api: Documents, interval: float, *, backoff: Backoff | None = None) -> None:
        """Start with the kinds that every cluster has."""
        self.current = Kinds()
        self._api = api
        self._interval = interval
        self._backoff = backoff or Backoff(first=0.5, most=30.0)
        self._failing = False

    async def run(self) -> None:
        """Refresh for ever; a failure keeps what is known and is logged once."""
        while True:
            try:
                self._take(await fetch_kinds(self._api))
            except ClusterDown as error:
                await self._failed(error)
                continue
            self._failing = False
            self._backoff.reset()
            await asyncio.sleep(self._interval)

    def _take(self, kinds: Kinds) -> None:
        if kinds != self.current:
            self.current = kinds

    async def _failed(self, error: ClusterDown) -> None:
        if not self._failing:
            log.warning("kinds not refreshed", extra={"cause": str(error)})
        self._failing = True
        await asyncio.sleep(self._backoff.next())


async def _groups(api: Documents) -> list[Resource]:
    body = await api.get("/apis", accept=_ACCEPT)
    aggregated = _decoded(body, _Aggregated)
    if aggregated.kind == "APIGroupDiscoveryList":
        return [kind for group in aggregated.items or [] for kind in _aggregated_kinds(group)]
    found: list[Resource] = []
    for group in _decoded(body, _LegacyGroups).groups or []:
        found += await _legacy_group(api, group)
    return found


def _aggregated_kinds(group: _Group) -> Iterator[Resource]:
    name = group.metadata.name
    for version in group.versions or []:
        for entry in version.resources or []:
            kind = (entry.response_kind or {}).get("kind", "")
            if name not in _NOT_KINDS and kind and "list" in (entry.verbs or []):
                yield Resource(
                    group=name,
                    version=version.version,
                    plural=entry.resource,
                    singular=entry.singular_resource or kind.lower(),
                    kind=kind,
                    namespaced=entry.scope != "Cluster",
                )


async def _legacy_group(api: Documents, group: _LegacyGroup) -> list[Resource]:
    if group.name in _NOT_KINDS:
        return []
    found: list[Resource] = []
    for version in _preferred_first(group):
        path = f"/apis/{group.name}/{version}"
        try:
            found += await _legacy_kinds(api, path, group.name, version)
        except ClusterDown as error:
            log.info("group left out", extra={"path": path, "cause": str(error)})
    return found


def _preferred_first(group: _LegacyGroup) -> list[str]:
    versions = [entry.version for entry in group.versions or []]
    first = group.preferred_version.version if group.preferred_version else ""
    return sorted(versions, key=lambda version: version != first)


async def _legacy_kinds(api: Documents, path: str, group: str, version: str) -> list[Resource]:
    body = await api.get(path, accept="application/json")
    return [
        Resource(
            group=group,
            version=version,
            plural=entry.name,
            singular=entry.singular_name or entry.kind.lower(),
            kind=entry.kind,
            namespaced=entry.namespaced,
        )
        for entry in _decoded(body, _LegacyKinds).resources or []
        if "/" not in entry.name and "list" in (entry.verbs or [])
    ]


def _once(resources: Iterable[Resource]) -> list[Resource]:
    first: dict[str, Resource] = {}
    for resource in resources:
        first.setdefault(resource.qualified, resource)
    return list(first.values())


def _decoded(body: bytes, kind: type[Document]) -> Document:
    try:
        return msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError) as error:
        message = f"kube-apiserver's discovery is not understood: {error}"
        raise ClusterDown(message) from error
