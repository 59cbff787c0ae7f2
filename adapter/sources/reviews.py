"""The cluster's word on who somebody is and what he may do; nothing is kept here."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Protocol, TypeVar

import msgspec

from adapter.errors import ClusterDown
from adapter.model.identity import Access, Decision, PathAccess, ResourceAccess, User
from adapter.sources.backoff import Backoff
from adapter.sources.errors import ClusterRefused, ConnectionLost
from adapter.telemetry import Telemetry

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
Answer = TypeVar("Answer")
_TRIES = 5
_LONGEST_WAIT = 5.0
_PASSING = frozenset({429, 500, 504})


class Posts(Protocol):
    """What is asked of kube-apiserver."""

    async def post(self, path: str, body: Mapping[str, object]) -> bytes:
        """Give the answer's body, or raise ClusterDown."""
        ...


class _User(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str]] | None = None


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: _User = msgspec.field(default_factory=_User)


class _TokenReview(msgspec.Struct):
    status: _TokenStatus = msgspec.field(default_factory=_TokenStatus)


class _AccessStatus(msgspec.Struct):
    allowed: bool = False
    denied: bool = False
    reason: str = ""


class _AccessReview(msgspec.Struct):
    status: _AccessStatus = msgspec.field(default_factory=_AccessStatus)


def _waits() -> Backoff:
    return Backoff(first=0.5, most=2.0)


class Reviews:
    """TokenReview and SubjectAccessReview, each a request of its own.

    A review is tried five times at most, and only after a lost connection, 429, 500, 504 or where
    the server says when to come back: the rule of the delegated authentication and authorization
    of every aggregated API server.
    """

    def __init__(
        self, api: Posts, telemetry: Telemetry, *, backoff: Callable[[], Backoff] = _waits
    ) -> None:
        """Ask nothing yet; `backoff` makes the waits between the tries of one review."""
        self._api = api
        self._telemetry = telemetry
        self._backoff = backoff

    async def token(self, token: str) -> User | None:
        """Give whom `token` belongs to, None when the cluster does not know it.

        Raises ClusterDown when the cluster gives no usable answer.
        """
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        }
        answer = await self._review("token", TOKENS, review, _TokenReview)
        user = answer.status.user
        known = answer.status.authenticated and bool(user.username)
        self._count("token", "allowed" if known else "denied")
        return _user(user) if known else None

    async def access(self, user: User, access: Access) -> Decision:
        """Give the cluster's decision; raises ClusterDown when there is none."""
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": _subject(user) | _attributes(access),
        }
        status = (await self._review("access", ACCESS, review, _AccessReview)).status
        allowed = status.allowed and not status.denied
        self._count("access", "allowed" if allowed else "denied")
        return Decision(allowed=allowed, reason=status.reason)

    async def _review(
        self, kind: str, path: str, review: Mapping[str, object], answer: type[Answer]
    ) -> Answer:
        try:
            return msgspec.json.decode(await self._post(path, review), type=answer)
        except ValueError as error:
            self._count(kind, "failed")
            message = f"kube-apiserver's {kind} review is not understood: {error}"
            raise ClusterDown(message) from error
        except ClusterDown:
            self._count(kind, "failed")
            raise

    async def _post(self, path: str, review: Mapping[str, object]) -> bytes:
        backoff = self._backoff()
        for _ in range(_TRIES - 1):
            try:
                return await self._api.post(path, review)
            except ClusterDown as error:
                if not _worth_another(error):
                    raise
                await asyncio.sleep(_asked(error) or backoff.next())
        return await self._api.post(path, review)

    def _count(self, kind: str, outcome: str) -> None:
        self._telemetry.reviews.labels(kind, outcome).inc()


def _worth_another(error: ClusterDown) -> bool:
    if not isinstance(error, ClusterRefused):
        return isinstance(error, ConnectionLost)
    return error.status in _PASSING or error.retry_after is not None


def _asked(error: ClusterDown) -> float:
    asked = error.retry_after if isinstance(error, ClusterRefused) else None
    return min(asked or 0.0, _LONGEST_WAIT)


def _user(user: _User) -> User:
    extra = user.extra or {}
    return User(
        name=user.username,
        uid=user.uid,
        groups=tuple(user.groups or ()),
        extra=tuple((key, tuple(extra[key])) for key in sorted(extra)),
    )


def _subject(user: User) -> dict[str, object]:
    return {
        "user": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra},
    }


def _attributes(access: Access) -> dict[str, object]:
    match access:
        case PathAccess(verb=verb, path=path):
            return {"nonResourceAttributes": {"path": path, "verb": verb}}
        case ResourceAccess():
            given = {key: value for key, value in asdict(access).items() if value}
            return {"resourceAttributes": given}
