"""What a request asks for in the words of RBAC, and whether the cluster allows it."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from adapter.errors import Forbidden, InternalError, SourceError
from adapter.model.identity import Access, Decision, PathAccess, ResourceAccess, User
from adapter.model.kinds import Kinds
from adapter.settings import AuthorizationSettings
from adapter.sources.shared import Shared

MASTERS = "system:masters"
CUSTOM_METRICS = "custom.metrics.k8s.io"

_VERBS = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_VERBS_WITHOUT_NAME = {"get": "list", "delete": "deletecollection"}
_NAMESPACE_SUBRESOURCES = {"status", "finalize"}
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_DECISIONS_KEPT = 8192
_LONGEST_KEPT = 10_000


class Reviews(Protocol):
    """What is asked of the cluster."""

    async def access(self, user: User, access: Access) -> Decision:
        """Give the cluster's decision; raises SourceError without an answer."""
        ...


def access_of(method: str, path: str) -> Access:
    """Give the attributes of a request as Kubernetes' RequestInfo derives them.

    `path` is decoded. Three segments and fewer are a path for RBAC, as is anything outside `/apis`:
    the core group's `/api` is not served here. Watches are not served either, so a request without
    a name lists.
    """
    parts = path.strip("/").split("/")
    if len(parts) < 4 or parts[0] != "apis":
        return PathAccess(verb=method.lower(), path=path)
    _, group, version, *rest = parts
    in_namespace = rest[0] == "namespaces" and len(rest) > 1
    namespace = rest[1] if in_namespace else ""
    if in_namespace and len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        rest = rest[2:]
    resource, name, subresource, *_ = (*rest, "", "")
    verb = _VERBS.get(method, "")
    return ResourceAccess(
        verb=verb if name else _VERBS_WITHOUT_NAME.get(verb, verb),
        group=group,
        version=version,
        resource=resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
    )


def at_its_scope(access: Access, kinds: Kinds) -> Access:
    """Give `access` with no namespace where the kind has none.

    A namespaced path reaches a node too, as the autoscaler asks for one; rights in a namespace are
    no rights on what lies outside it.
    """
    if not isinstance(access, ResourceAccess) or access.group != CUSTOM_METRICS:
        return access
    kind = kinds.find_qualified(access.resource)
    return access if kind is None or kind.namespaced else replace(access, namespace="")


class Authorizer:
    """Asks the cluster by SubjectAccessReview, keeps the decision for some seconds, shares it.

    Group system:masters may do everything without a review, as everywhere in Kubernetes.
    """

    def __init__(
        self,
        reviews: Reviews,
        settings: AuthorizationSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask nothing yet; permissions and refusals are kept for the settings' seconds of `clock`."""
        self._reviews = reviews
        self._settings = settings
        self._decisions: Shared[tuple[User, Access], Decision] = Shared(
            ttl=self._kept_for, clock=clock, limit=_DECISIONS_KEPT
        )

    async def authorize(self, user: User, access: Access) -> None:
        """Return when `user` may.

        Raises Forbidden, with Kubernetes' words and the cluster's reason, when he may not, and
        InternalError when the cluster does not answer.
        """
        if MASTERS in user.groups:
            return
        try:
            decision = await self._decide(user, access)
        except SourceError as error:
            raise _undecided(error) from error
        if not decision.allowed:
            raise _forbidden(user, access, decision.reason)

    async def _decide(self, user: User, access: Access) -> Decision:
        async def review() -> Decision:
            return await self._reviews.access(user, access)

        # Paths are the client's: without a bound it could fill the memory with long ones.
        if _length(access) > _LONGEST_KEPT:
            return await review()
        return await self._decisions.get((user, access), review)

    def _kept_for(self, decision: Decision) -> float:
        return self._settings.allow_ttl if decision.allowed else self._settings.deny_ttl


def _length(access: Access) -> int:
    if isinstance(access, PathAccess):
        return len(access.path)
    return (
        len(access.group)
        + len(access.version)
        + len(access.namespace)
        + len(access.resource)
        + len(access.name)
        + len(access.subresource)
    )


def _undecided(error: SourceError) -> InternalError:
    cause = f"the cluster did not decide whether this is allowed: {error}"
    return InternalError(
        f"Internal error occurred: {cause}", details={"causes": [{"message": cause}]}
    )


def _forbidden(user: User, access: Access, reason: str) -> Forbidden:
    refusal = _refusal(user, access).translate(_HTML) + (f": {reason}" if reason else "")
    if isinstance(access, PathAccess):
        return Forbidden(f"forbidden: {refusal}", details={})
    named = f" {_quoted(access.name)}" if access.name else ""
    given = {"name": access.name, "group": access.group, "kind": access.resource}
    return Forbidden(
        f"{access.resource}.{access.group}{named} is forbidden: {refusal}",
        details={key: value for key, value in given.items() if value},
    )


def _refusal(user: User, access: Access) -> str:
    who = f"User {_quoted(user.name)} cannot {access.verb}"
    if isinstance(access, PathAccess):
        return f"{who} path {_quoted(access.path)}"
    what = f"{access.resource}/{access.subresource}" if access.subresource else access.resource
    where = (
        f"in the namespace {_quoted(access.namespace)}"
        if access.namespace
        else "at the cluster scope"
    )
    return f"{who} resource {_quoted(what)} in API group {_quoted(access.group)} {where}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
