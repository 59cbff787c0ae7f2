"""Every error this program raises on purpose.

AdapterError
├── InputError             the user's flags or files are wrong; all problems together, exit code 2
├── SourceError            something outside did not answer as it should
│   ├── PrometheusDown     no usable answer: refused, timed out, 5xx, not JSON   -> 503
│   ├── QueryRefused       Prometheus understood and said no (400, 422)          -> 500
│   ├── EndpointMissing    the backend does not have this endpoint (404, 405, 501)
│   └── ClusterDown        kube-apiserver gave no usable answer                  -> 500
└── ApiError               becomes a Status with this code and reason
    ├── BadRequest 400, Unauthorized 401, Forbidden 403, NotFound 404
    ├── MethodNotAllowed 405, NotAcceptable 406, TooManyRequests 429
    └── InternalError 500, ServiceUnavailable 503, DeadlineExceeded 504
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


class AdapterError(Exception):
    """Base of all errors raised on purpose; its text is one line for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault of the input, told so that it can be mended without reading code.

    `line` counts from 1, 0 when unknown; `rule` is the number of the rule in its list, from 1,
    0 when the fault is outside any rule; `key` is the path of the key inside the rule or file.
    """

    file: str
    line: int = 0
    rule: int = 0
    key: str = ""
    fault: str
    cure: str

    def __str__(self) -> str:
        """Give `FILE:LINE: rule N: KEY: FAULT; CURE`, without the parts that are unknown."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        rule = f"rule {self.rule}: " if self.rule else ""
        key = f"{self.key}: " if self.key else ""
        return f"{place}: {rule}{key}{self.fault}; {self.cure}"


class InputError(AdapterError):
    """Flags or a file cannot be used; carries every problem found, in the file's order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Keep `problems`, at least one."""
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class SourceError(AdapterError):
    """A source did not answer as it should; the text names the cause, never a credential."""


class PrometheusDown(SourceError):
    """Prometheus gave no usable answer."""


class QueryRefused(SourceError):
    """Prometheus refused the query; the text is its own words."""


class EndpointMissing(SourceError):
    """The backend does not serve this endpoint, or not with these parameters."""


class ClusterDown(SourceError):
    """kube-apiserver gave no usable answer."""


class ApiError(AdapterError):
    """An answer that is not a success; `api/status.py` alone turns it into a Status."""

    code: ClassVar[int] = 500
    reason: ClassVar[str] = "InternalError"

    def __init__(self, message: str, *, details: Mapping[str, object] | None = None) -> None:
        """Keep the Status message and, where the API gives any, its details object."""
        super().__init__(message)
        self.message = message
        self.details = details


class BadRequest(ApiError):
    """The request cannot be understood."""

    code = 400
    reason = "BadRequest"


class Unauthorized(ApiError):
    """Nobody we know is asking."""

    code = 401
    reason = "Unauthorized"


class Forbidden(ApiError):
    """Whoever asks may not."""

    code = 403
    reason = "Forbidden"


class NotFound(ApiError):
    """What was asked for is not there; the message goes on with the reason."""

    code = 404
    reason = "NotFound"


class MethodNotAllowed(ApiError):
    """Only GET and HEAD are served."""

    code = 405
    reason = "MethodNotAllowed"


class NotAcceptable(ApiError):
    """None of the media types asked for is served."""

    code = 406
    reason = "NotAcceptable"


class TooManyRequests(ApiError):
    """More requests are in flight than this process takes."""

    code = 429
    reason = "TooManyRequests"


class InternalError(ApiError):
    """The rule or this program is at fault."""


class ServiceUnavailable(ApiError):
    """What we depend on does not answer; sent without Retry-After."""

    code = 503
    reason = "ServiceUnavailable"


class DeadlineExceeded(ApiError):
    """Our own deadline passed."""

    code = 504
    reason = "Timeout"
