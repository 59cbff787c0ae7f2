"""The discovery documents: which groups, versions and metrics there are.

All are made from memory and always 2xx: kube-apiserver takes anything else for an outage of the
whole group. Sources: meta.k8s.io/v1 APIGroupList, APIGroup, APIResourceList and
apidiscovery.k8s.io/v2 APIGroupDiscoveryList.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapter.api.answers import Document, encode, json_answer, tagged_answer
from adapter.api.media import AGGREGATED, prefers_aggregated
from adapter.api.wire import GROUP, LIST_KIND, VERSIONS
from adapter.model.objects import Resource

Json = dict[str, object]


class Offered(Protocol):
    """One metric on one kind of object."""

    @property
    def metric(self) -> str:
        """Give the metric's name."""
        ...

    @property
    def resource(self) -> Resource:
        """Give the kind of object."""
        ...


class Catalogue(Protocol):
    """What is on offer; immutable, so that documents made from it stay right."""

    @property
    def offers(self) -> Iterable[Offered]:
        """Give every offer."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One line of the resource list: `pods/gpu_util`; `parent` is a resource with its group."""

    parent: str
    metric: str
    namespaced: bool


# What custom-metrics-apiserver lists while it has nothing: some clients take an empty list of a
# group for an error.
PLACEHOLDER = Entry("", "custommetric", namespaced=False)


def entries(offers: Iterable[Offered]) -> list[Entry]:
    """Give the sorted lines, never none; lines of one parent agree on its scope.

    Where they did not, kube-apiserver would drop the whole group version.
    """
    found = sorted(
        {
            Entry(offer.resource.qualified, offer.metric, offer.resource.namespaced)
            for offer in offers
        }
    )
    scopes = {entry.parent: entry.namespaced for entry in found}
    agreed = {Entry(line.parent, line.metric, scopes[line.parent]) for line in found}
    return sorted(agreed) or [PLACEHOLDER]


def resource_list(version: str, lines: Iterable[Entry]) -> bytes:
    """Give the APIResourceList of one version."""
    return encode(
        {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": f"{GROUP}/{version}",
            "resources": [
                {
                    "name": f"{line.parent}/{line.metric}",
                    "singularName": "",
                    "namespaced": line.namespaced,
                    "kind": LIST_KIND,
                    "verbs": ["get"],
                }
                for line in lines
            ],
        }
    )


def aggregated_list(lines: Iterable[Entry]) -> Document:
    """Give the APIGroupDiscoveryList v2: parents that are not served, metrics below them."""
    listed = list(lines)
    versions = [
        {"version": version, "resources": _parents(version, listed), "freshness": "Current"}
        for version in VERSIONS
    ]
    body = {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [{"metadata": {"name": GROUP}, "versions": versions}],
    }
    return Document(encode(body), AGGREGATED)


def group() -> Json:
    """Give the APIGroup, v1beta2 first and preferred."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group_body()}


def group_list() -> Document:
    """Give the APIGroupList, for clients that do not know the aggregated form."""
    body = {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group_body()]}
    return Document(encode(body))


@dataclass(frozen=True, slots=True)
class _Documents:
    catalogue: Catalogue
    resources: dict[str, bytes]
    aggregated: Document


class DiscoveryDocuments:
    """Serves the documents, made anew only when the catalogue has been swapped."""

    def __init__(self, catalogue: Callable[[], Catalogue]) -> None:
        """Take the catalogue of the moment from `catalogue`."""
        self._catalogue = catalogue
        self._made = _make(catalogue())
        self._groups = group_list()

    def routes(self) -> list[Route]:
        """Give the routes under `/apis` that are no values."""
        lists = [Route(f"/apis/{GROUP}/{version}", self._list_of(version)) for version in VERSIONS]
        return [Route("/apis", self._apis), Route(f"/apis/{GROUP}", self._group), *lists]

    async def _apis(self, request: Request) -> Response:
        if prefers_aggregated(request.headers.get("accept", "")):
            return tagged_answer(request, self._current().aggregated)
        return tagged_answer(request, self._groups)

    async def _group(self, request: Request) -> Response:
        return json_answer(request, encode(group()))

    def _list_of(self, version: str) -> Callable[[Request], Awaitable[Response]]:
        # Without a tag: kube-apiserver may send the aggregated document's here.
        async def endpoint(request: Request) -> Response:
            return json_answer(request, self._current().resources[version])

        return endpoint

    def _current(self) -> _Documents:
        catalogue = self._catalogue()
        if catalogue is not self._made.catalogue:
            self._made = _make(catalogue)
        return self._made


def _make(catalogue: Catalogue) -> _Documents:
    lines = entries(catalogue.offers)
    resources = {version: resource_list(version, lines) for version in VERSIONS}
    return _Documents(catalogue, resources, aggregated_list(lines))


def _group_body() -> Json:
    versions = [{"groupVersion": f"{GROUP}/{version}", "version": version} for version in VERSIONS]
    return {"name": GROUP, "versions": versions, "preferredVersion": versions[0]}


def _parents(version: str, lines: list[Entry]) -> list[Json]:
    return [
        _parent(version, name, list(metrics))
        for name, metrics in groupby(lines, key=lambda line: line.parent)
    ]


def _parent(version: str, name: str, lines: list[Entry]) -> Json:
    return {
        "resource": name,
        # Empty, not absent: clients then drop the parent and keep what is below it.
        "responseKind": {"group": "", "version": "", "kind": ""},
        "scope": "Namespaced" if lines[0].namespaced else "Cluster",
        "singularResource": "",
        "verbs": [],
        "subresources": [_subresource(version, line.metric) for line in lines],
    }


def _subresource(version: str, metric: str) -> Json:
    return {
        "subresource": metric,
        "responseKind": {"group": GROUP, "version": version, "kind": LIST_KIND},
        "verbs": ["get"],
    }
