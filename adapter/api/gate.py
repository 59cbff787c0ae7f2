"""The gate before everything that is served: who asks, and may he?"""

from collections.abc import Callable, Sequence
from typing import Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from adapter.api.status import to_response
from adapter.errors import ApiError, TooManyRequests
from adapter.model.identity import Access, PathAccess, User
from adapter.security.authorization import MASTERS, access_of
from adapter.security.remote_headers import Headers


class Authenticates(Protocol):
    """Finds the user of a request."""

    async def authenticate(self, headers: Headers, peer_certificate: bytes | None) -> User:
        """Give the user or raise Unauthorized."""
        ...

    def strip(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        """Give the headers without credentials."""
        ...


class Authorizes(Protocol):
    """Decides what a user may."""

    async def authorize(self, user: User, access: Access) -> None:
        """Return, or raise Forbidden or InternalError."""
        ...


class Gate:
    """ASGI middleware: a request reaches `app` with a user who may, or on an open path.

    `open_paths` are exact, or a prefix when they end in `*`; they never open a path of a resource.
    Behind the gate no header carries a credential; `scope["state"]["user"]` is the user, absent on
    an open path. More than `most_at_once` requests are refused with 429, open paths and
    system:masters (kube-apiserver's probe of availability) apart.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticates,
        authorizer: Authorizes,
        open_paths: Sequence[str],
        *,
        scoped: Callable[[Access], Access] = lambda access: access,
        most_at_once: int = 400,
    ) -> None:
        """Guard `app`; `scoped` gives what a right is needed for where the path says it unfitly."""
        self._app = app
        self._scoped = scoped
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._open = frozenset(path for path in open_paths if not path.endswith("*"))
        self._open_prefixes = tuple(path[:-1] for path in open_paths if path.endswith("*"))
        self._most_at_once = most_at_once
        self._at_once = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through or answer it with a Status; start-up and shut-down pass."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._guard(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        access = access_of(scope["method"], scope["path"])
        if self._is_open(access):
            await self._app(self._clean(scope), receive, send)
            return
        try:
            user = await self._admit(scope, access)
        except ApiError as error:
            await to_response(error)(scope, receive, send)
            return
        self._at_once += 1
        try:
            await self._app(self._clean(scope, user), receive, send)
        finally:
            self._at_once -= 1

    async def _admit(self, scope: Scope, access: Access) -> User:
        certificate = scope.get("state", {}).get("peer_certificate")
        user = await self._authenticator.authenticate(scope["headers"], certificate)
        await self._authorizer.authorize(user, self._scoped(access))
        if self._at_once >= self._most_at_once and MASTERS not in user.groups:
            raise TooManyRequests("too many requests at once, try again in a second")
        return user

    def _clean(self, scope: Scope, user: User | None = None) -> Scope:
        state = {**scope.get("state", {})} | ({"user": user} if user else {})
        return {**scope, "headers": self._authenticator.strip(scope["headers"]), "state": state}

    def _is_open(self, access: Access) -> bool:
        if not isinstance(access, PathAccess):
            return False
        return access.path in self._open or access.path.startswith(self._open_prefixes)
