"""The OpenAPI documents that kube-apiserver merges into its own.

v3 describes what is served, one document a group version. v2 is valid and empty: what it listed
would only be renamed and merged, and nothing reads it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapter.api.answers import Document, encode, first_value, tagged_answer
from adapter.api.apis import Api
from adapter.api.describing import Description, Operation
from adapter.api.groups import Remembered
from adapter.api.media import JSON, require_json
from adapter.api.schemas import RESOURCE_LIST, STATUS, reference

Json = dict[str, object]
Endpoint = Callable[[Request], Awaitable[Response]]

TITLE = "gpu-metrics-adapter"
_FOREVER = "public, immutable, max-age=31536000"


class OpenApi:
    """Serves `/openapi/v2`, `/openapi/v3` and its parts; only its index ever changes."""

    def __init__(self, version: str, apis: Sequence[Api]) -> None:
        """Make the documents; `version` is the program's."""
        self._apis = tuple(apis)
        self._parts = {
            f"apis/{api.group.name}/{name}": Document(
                encode(v3_document(f"/apis/{api.group.name}/{name}", name, description, version))
            )
            for api in apis
            for name, description in api.descriptions.items()
        }
        self._v2 = _always(Document(encode(v2_document(version))))
        self._v3 = Remembered(self._listed, lambda keys: Document(encode(self._index(keys))))

    def routes(self) -> list[Route]:
        """Give the routes of all documents."""
        parts = [
            Route(f"/openapi/v3/{key}", _endpoint(_always(document)))
            for key, document in self._parts.items()
        ]
        return [
            Route("/openapi/v2", _endpoint(self._v2)),
            Route("/openapi/v3", _endpoint(self._v3)),
            *parts,
        ]

    def _listed(self) -> tuple[str, ...]:
        wanted = [api for api in self._apis if api.wanted()]
        return tuple(f"apis/{one.group.name}/{name}" for one in wanted for name in one.descriptions)

    def _index(self, keys: Sequence[str]) -> Json:
        # Our own group versions only: any other key would hide a real one.
        paths = {key: {"serverRelativeURL": self._address(key)} for key in keys}
        return {"paths": paths}

    def _address(self, key: str) -> str:
        return f"/openapi/v3/{key}?hash={self._parts[key].digest}"


def v2_document(version: str) -> Json:
    """Give a Swagger 2.0 document without paths."""
    info = {"title": TITLE, "version": version}
    return {"swagger": "2.0", "info": info, "paths": {}, "definitions": {}}


def v3_document(root: str, name: str, description: Description, version: str) -> Json:
    """Give the OpenAPI 3.0 document of the group version `name` below `root`.

    `version` is the program's.
    """
    listing = Operation(path="/", name="APIResources", body=RESOURCE_LIST, parameters=())
    operations = (listing, *description.operations)
    prefix = f"{description.prefix}{name.capitalize()}"
    return {
        "openapi": "3.0.0",
        "info": {"title": TITLE, "version": version},
        "paths": {f"{root}{one.path}": {"get": _operation(prefix, one)} for one in operations},
        "components": {"schemas": description.schemas},
    }


def _always(document: Document) -> Callable[[], Document]:
    return lambda: document


def _endpoint(document: Callable[[], Document]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        require_json(request.headers.get("accept", ""))
        current = document()
        response = tagged_answer(request, current)
        if first_value(request, "hash") == current.digest:
            response.headers["cache-control"] = _FOREVER
        return response

    return endpoint


def _operation(prefix: str, operation: Operation) -> Json:
    return {
        "operationId": f"{prefix}{operation.name}",
        "parameters": [parameter.document() for parameter in operation.parameters],
        "responses": {
            "200": _answer("OK", operation.body),
            "default": _answer("What went wrong", STATUS),
        },
    }


def _answer(description: str, schema: str) -> Mapping[str, object]:
    return {"description": description, "content": {JSON: {"schema": reference(schema)}}}
