"""The one place where an error becomes an answer: a `Status` of meta.k8s.io/v1, as JSON.

Shape and reasons follow apimachinery's metav1.Status; clients decode it by its Content-Type and
show `message` to people, so it is one line and stable.
"""

import logging
from collections.abc import Mapping

import msgspec
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adapter.errors import (
    ApiError,
    BadRequest,
    ClusterDown,
    DeadlineExceeded,
    InternalError,
    MethodNotAllowed,
    NotFound,
    PrometheusDown,
    ServiceUnavailable,
    SourceError,
    TooManyRequests,
    Unauthorized,
)

LONGEST_MESSAGE = 300
NO_SUCH_ROUTE = "the server could not find the requested resource"
NO_SUCH_METHOD = "the server does not allow this method on the requested resource"

_HEADERS = {
    "content-type": "application/json",
    "cache-control": "no-cache, private",
    "x-content-type-options": "nosniff",
}
_log = logging.getLogger(__name__)


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """metav1.Status in its own field order; `details` and an empty `reason` are left out."""

    kind: str = "Status"
    api_version: str = msgspec.field(default="v1", name="apiVersion")
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    status: str = "Failure"
    message: str
    reason: str | msgspec.UnsetType = msgspec.UNSET
    details: Mapping[str, object] | msgspec.UnsetType = msgspec.UNSET
    code: int


def to_response(error: Exception) -> Response:
    """Give the Status for any error; what nobody foresaw is logged and told as a 500.

    The body ends with a newline. 405 carries Allow, 429 carries Retry-After of a second; nothing
    else does, as clients that see Retry-After sleep and ask again.
    """
    known = as_api_error(error)
    return Response(
        msgspec.json.encode(_status(known)) + b"\n",
        status_code=known.code,
        headers=_HEADERS | _extra_headers(known),
    )


def as_api_error(error: Exception) -> ApiError:
    """Give the ApiError that says what `error` means to a client."""
    match error:
        case ApiError():
            return error
        case PrometheusDown():
            return ServiceUnavailable(str(error))
        case ClusterDown() | SourceError():
            return _internal(str(error))
        case TimeoutError():
            return DeadlineExceeded("Timeout: request did not complete within its deadline")
        case HTTPException() | RequestValidationError():
            return _from_framework(error)
        case _:
            _log.error("unforeseen error", exc_info=error)
            return _internal("unforeseen error, the server's log has it")


def shortened(text: str) -> str:
    """Give `text` on one line, cut to what fits in an event and in `kubectl describe`."""
    line = _one_line(text)
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 3] + "..."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _status(error: ApiError) -> Status:
    message = "Unauthorized" if isinstance(error, Unauthorized) else _one_line(error.message)
    details = msgspec.UNSET if error.details is None else error.details
    return Status(
        message=message, reason=error.reason or msgspec.UNSET, details=details, code=error.code
    )


def _extra_headers(error: ApiError) -> dict[str, str]:
    if isinstance(error, MethodNotAllowed):
        return {"allow": "GET, HEAD"}
    if isinstance(error, TooManyRequests):
        return {"retry-after": "1"}
    return {}


def _internal(cause: str) -> InternalError:
    details = {"causes": [{"message": shortened(cause)}]}
    return InternalError(shortened(f"Internal error occurred: {cause}"), details=details)


def _from_framework(error: HTTPException | RequestValidationError) -> ApiError:
    if isinstance(error, RequestValidationError):
        return BadRequest("the request's parameters cannot be read")
    if error.status_code == 404:
        return NotFound(NO_SUCH_ROUTE, details={})
    if error.status_code == 405:
        return MethodNotAllowed(NO_SUCH_METHOD)
    if 400 <= error.status_code < 500:
        return BadRequest(error.detail)
    return _internal(error.detail)
