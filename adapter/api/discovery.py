"""The discovery documents: which groups, versions and metrics there are.

All are made from memory and always 2xx: kube-apiserver takes anything else for an outage of the
whole group. Sources: meta.k8s.io/v1 APIGroupList, APIGroup, APIResourceList and
apidiscovery.k8s.io/v2 APIGroupDiscoveryList.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapter.api.answers import Document, encode, json_answer, tagged_answer
from adapter.api.groups import Group, Line, Lines, Remembered
from adapter.api.media import AGGREGATED, prefers_aggregated

Json = dict[str, object]
Endpoint = Callable[[Request], Awaitable[Response]]


def resource_list(group: str, version: str, lines: Iterable[Line]) -> bytes:
    """Give the APIResourceList of one version."""
    return encode(
        {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": f"{group}/{version}",
            "resources": [
                {
                    "name": line.name,
                    "singularName": "",
                    "namespaced": line.namespaced,
                    "kind": line.kind,
                    "verbs": line.verbs,
                }
                for line in lines
            ],
        }
    )


def aggregated_list(listed: Iterable[tuple[Group, Lines]]) -> Document:
    """Give the APIGroupDiscoveryList v2: parents that are not served, metrics below them."""
    body = {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_aggregated_group(group, lines) for group, lines in listed],
    }
    return Document(encode(body), AGGREGATED)


def group_document(group: Group) -> Json:
    """Give the APIGroup, the preferred version first."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group_body(group)}


def group_list(groups: Iterable[Group]) -> Document:
    """Give the APIGroupList, for clients that do not know the aggregated form."""
    bodies = [_group_body(group) for group in groups]
    return Document(encode({"kind": "APIGroupList", "apiVersion": "v1", "groups": bodies}))


class DiscoveryDocuments:
    """Serves the documents of `groups`, made anew only when what they list has changed."""

    def __init__(self, groups: Sequence[Group]) -> None:
        """Make the documents of what is listed now."""
        self._groups = tuple(groups)
        self._list = group_list(self._groups)
        self._aggregated = Remembered(
            lambda: tuple(group.lines() for group in self._groups),
            lambda lines: aggregated_list(zip(self._groups, lines, strict=True)),
        )

    def routes(self) -> list[Route]:
        """Give the routes under `/apis` that are no values."""
        return [
            Route("/apis", self._apis),
            *(Route(f"/apis/{group.name}", _whole(group)) for group in self._groups),
            *(
                Route(f"/apis/{group.name}/{version}", _resources(group, version))
                for group in self._groups
                for version in group.versions
            ),
        ]

    async def _apis(self, request: Request) -> Response:
        if prefers_aggregated(request.headers.get("accept", "")):
            return tagged_answer(request, self._aggregated())
        return tagged_answer(request, self._list)


def _whole(group: Group) -> Endpoint:
    body = encode(group_document(group))

    async def endpoint(request: Request) -> Response:
        return json_answer(request, body)

    return endpoint


def _resources(group: Group, version: str) -> Endpoint:
    made = Remembered(group.lines, lambda lines: resource_list(group.name, version, lines))

    # Without a tag: kube-apiserver may send the aggregated document's here.
    async def endpoint(request: Request) -> Response:
        return json_answer(request, made())

    return endpoint


def _group_body(group: Group) -> Json:
    versions = [
        {"groupVersion": f"{group.name}/{version}", "version": version}
        for version in group.versions
    ]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def _aggregated_group(group: Group, lines: Lines) -> Json:
    versions = [
        {
            "version": version,
            "resources": _resources_of(group.name, version, lines),
            "freshness": "Current",
        }
        for version in group.versions
    ]
    return {"metadata": {"name": group.name}, "versions": versions}


def _resources_of(group: str, version: str, lines: Lines) -> list[Json]:
    by_parent = groupby(lines, key=lambda line: line.parent)
    return [_resource(group, version, parent, list(below)) for parent, below in by_parent]


def _resource(group: str, version: str, name: str, lines: list[Line]) -> Json:
    first = lines[0]
    below = [line for line in lines if line.metric]
    described: Json = {
        "resource": name,
        # Empty, not absent: clients then drop the parent and keep what is below it.
        "responseKind": _kind("", "", "") if below else _kind(group, version, first.kind),
        "scope": "Namespaced" if first.namespaced else "Cluster",
        "singularResource": "",
        "verbs": [] if below else first.verbs,
    }
    if not below:
        return described
    return described | {"subresources": [_subresource(group, version, line) for line in below]}


def _subresource(group: str, version: str, line: Line) -> Json:
    return {
        "subresource": line.metric,
        "responseKind": _kind(group, version, line.kind),
        "verbs": line.verbs,
    }


def _kind(group: str, version: str, kind: str) -> Json:
    return {"group": group, "version": version, "kind": kind}
