"""The OpenAPI documents that kube-apiserver merges into its own.

v3 describes what is served, one document a group version. v2 is valid and empty: what it listed
would only be renamed and merged, and nothing reads it.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapter.api.answers import Document, encode, first_value, tagged_answer
from adapter.api.media import JSON, require_json
from adapter.api.schemas import RESOURCE_LIST, STATUS, reference, schemas, type_name
from adapter.api.wire import GROUP, LIST_KIND, VERSIONS

Json = dict[str, object]

TITLE = "gpu-metrics-adapter"
_FOREVER = "public, immutable, max-age=31536000"
_WHAT_FOLLOWS = {
    "name": "The object's name, or * for all that labelSelector selects.",
    "namespace": "The objects' namespace.",
    "resource": "The kind as pods, pod or deployments.apps.",
    "metric": "The metric's name.",
}
_EXAMPLES = {
    "name": "*",
    "namespace": "default",
    "resource": "pods",
    "metric": "DEV_GPU_UTIL_current",
    "labelSelector": "app=llm",
    "metricLabelSelector": "modelName=H200",
}
_SELECTORS = {
    "labelSelector": "Which objects, by their labels; counts when the name is *.",
    "metricLabelSelector": "Which series, by their labels.",
}


class OpenApi:
    """Serves `/openapi/v2`, `/openapi/v3` and its parts, made once."""

    def __init__(self, version: str) -> None:
        """Make the documents; `version` is the program's."""
        self._parts = {name: Document(encode(v3_document(name, version))) for name in VERSIONS}
        self._v2 = Document(encode(v2_document(version)))
        self._v3 = Document(encode(_index(self._parts)))

    def routes(self) -> list[Route]:
        """Give the routes of all documents."""
        parts = [
            Route(f"/openapi/v3/apis/{GROUP}/{version}", _endpoint(document))
            for version, document in self._parts.items()
        ]
        whole = [("/openapi/v2", self._v2), ("/openapi/v3", self._v3)]
        return [Route(path, _endpoint(document)) for path, document in whole] + parts


def v2_document(version: str) -> Json:
    """Give a Swagger 2.0 document without paths."""
    info = {"title": TITLE, "version": version}
    return {"swagger": "2.0", "info": info, "paths": {}, "definitions": {}}


def v3_document(group_version: str, version: str) -> Json:
    """Give the OpenAPI 3.0 document of one group version; `version` is the program's."""
    root = f"/apis/{GROUP}/{group_version}"
    metric = "{resource}/{name}/{metric}"
    values = {
        f"{root}/{metric}": "ObjectMetric",
        f"{root}/namespaces/{{namespace}}/{metric}": "NamespacedObjectMetric",
        f"{root}/namespaces/{{namespace}}/metrics/{{metric}}": "NamespaceMetric",
    }
    listing = _operation(group_version, "APIResources", [], RESOURCE_LIST)
    kind = type_name(group_version, LIST_KIND)
    paths: Json = {f"{root}/": {"get": listing}}
    for path, name in values.items():
        paths[path] = {"get": _operation(group_version, name, _parameters(path), kind)}
    return {
        "openapi": "3.0.0",
        "info": {"title": TITLE, "version": version},
        "paths": paths,
        "components": {"schemas": schemas(group_version)},
    }


def _index(parts: dict[str, Document]) -> Json:
    """Give the root of v3: our own group versions only, any other key would hide a real one."""
    return {
        "paths": {
            f"apis/{GROUP}/{version}": {
                "serverRelativeURL": (f"/openapi/v3/apis/{GROUP}/{version}?hash={document.digest}")
            }
            for version, document in parts.items()
        }
    }


def _endpoint(document: Document) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        require_json(request.headers.get("accept", ""))
        response = tagged_answer(request, document)
        if first_value(request, "hash") == document.digest:
            response.headers["cache-control"] = _FOREVER
        return response

    return endpoint


def _operation(group_version: str, name: str, parameters: list[Json], body: str) -> Json:
    return {
        "operationId": f"readCustomMetrics{group_version.capitalize()}{name}",
        "parameters": parameters,
        "responses": {
            "200": _answer("OK", body),
            "default": _answer("What went wrong", STATUS),
        },
    }


def _answer(description: str, schema: str) -> Json:
    return {"description": description, "content": {JSON: {"schema": reference(schema)}}}


def _parameters(path: str) -> list[Json]:
    in_path = [_parameter("path", name) for name in _WHAT_FOLLOWS if f"{{{name}}}" in path]
    return in_path + [_parameter("query", name) for name in _SELECTORS]


def _parameter(place: str, name: str) -> Json:
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "description": (_WHAT_FOLLOWS | _SELECTORS)[name],
        "schema": {"type": "string"},
        "example": _EXAMPLES[name],
    }
