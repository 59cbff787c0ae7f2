"""Success answers: JSON, documents with an ETag, plain text."""

import hashlib
from dataclasses import dataclass

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from adapter.api.media import JSON
from adapter.api.status import NO_SUCH_METHOD
from adapter.errors import MethodNotAllowed

_INDENTING_AGENTS = ("curl", "Wget", "Mozilla/5.0")


@dataclass(frozen=True, slots=True)
class Document:
    """A body made ahead; its tag comes from the bytes alone, so replicas give the same one."""

    body: bytes
    media_type: str = JSON

    @property
    def tag(self) -> str:
        """Give the strong ETag, quotes included."""
        return f'"{self.digest}"'

    @property
    def digest(self) -> str:
        """Give the SHA-512 of the body in upper-case hexadecimal."""
        return hashlib.sha512(self.body).hexdigest().upper()


def encode(value: object) -> bytes:
    """Give `value` as one line of JSON with the newline that clients of this API know."""
    return msgspec.json.encode(value) + b"\n"


def first_value(request: Request, key: str) -> str:
    """Give the first value of a query parameter, empty when it is absent: the first one wins."""
    return next(iter(request.query_params.getlist(key)), "")


def refuse_watch(request: Request) -> None:
    """Raise MethodNotAllowed when the client wants to be told of changes: nobody tells them here."""
    if first_value(request, "watch").lower() in {"true", "1", "t"}:
        raise MethodNotAllowed(NO_SUCH_METHOD)


def json_answer(request: Request, body: bytes, media_type: str = JSON) -> Response:
    """Give a 200 with `body`, indented when a person seems to be looking."""
    return Response(_for_reader(request, body), headers={"content-type": media_type})


def tagged_answer(request: Request, document: Document) -> Response:
    """Give the document, or 304 when the client shows that it has exactly these bytes."""
    shown = Document(_for_reader(request, document.body), document.media_type)
    headers = {"etag": shown.tag, "vary": "Accept"}
    if _has(request, shown.tag):
        return Response(status_code=304, headers=headers)
    return Response(shown.body, headers=headers | {"content-type": shown.media_type})


def _for_reader(request: Request, body: bytes) -> bytes:
    return msgspec.json.format(body, indent=2) + b"\n" if _indented(request) else body


def _indented(request: Request) -> bool:
    asked = first_value(request, "pretty")
    if asked:
        return asked not in {"false", "0"}
    return request.headers.get("user-agent", "").startswith(_INDENTING_AGENTS)


def _has(request: Request, tag: str) -> bool:
    held = request.headers.get("if-none-match", "")
    return any(part.strip().removeprefix("W/") in {tag, "*"} for part in held.split(","))
