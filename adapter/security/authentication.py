"""Who asks: the user a front proxy names, or the owner of a bearer token; nobody else.

Client certificates speak for front proxies alone. Users come with tokens: a certificate signed by
the cluster's own client CA names nobody here.
"""

import hmac
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

from adapter.errors import SourceError, Unauthorized
from adapter.model.identity import FrontProxy, User
from adapter.security.client_certificate import examine
from adapter.security.remote_headers import Headers, RemoteHeaders
from adapter.sources.shared import Shared

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"

_CERTIFICATES_KEPT = 64
_TOKENS_KEPT = 8192

_log = logging.getLogger(__name__)


class Tokens(Protocol):
    """What is asked of the cluster."""

    async def token(self, token: str) -> User | None:
        """Give the token's owner, None when there is none; raises SourceError without an answer."""
        ...


def utc_now() -> datetime:
    """Give the time, with its zone."""
    return datetime.now(UTC)


class Authenticator:
    """Finds the user of a request, or says that there is none.

    `front_proxy` gives what holds at the moment: certificates are judged by it at each request, so
    a changed authority counts on connections that are open already. An answer about a token is kept
    for `ttl` seconds of `clock`, and asked for once for everybody who waits.
    """

    def __init__(
        self,
        front_proxy: Callable[[], FrontProxy | None],
        tokens: Tokens,
        *,
        ttl: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """Ask nothing yet; `now` judges the validity of certificates."""
        self._front_proxy = front_proxy
        self._tokens = tokens
        self._now = now
        self._digest_key = secrets.token_bytes(32)
        self._owners: Shared[bytes, tuple[User | None]] = Shared(
            ttl=ttl, clock=clock, limit=_TOKENS_KEPT
        )
        self._reader = lru_cache(1)(RemoteHeaders)
        self._examine = lru_cache(_CERTIFICATES_KEPT)(examine)
        self._last_complaint = ""

    async def authenticate(self, headers: Headers, peer_certificate: bytes | None) -> User:
        """Give the user; `headers` are a request's, their names in lower case, `peer_certificate`
        is the DER that the connection's client showed.

        Raises Unauthorized for everybody else, also while the cluster cannot judge a token.
        """
        user = self._proxied(headers, peer_certificate) or await self._token_owner(headers)
        if user is None:
            raise Unauthorized("Unauthorized")
        return _among_authenticated(user)

    def strip(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        """Give `headers` without tokens and without what front proxies write."""
        return self._reader(self._front_proxy()).strip(headers)

    def _proxied(self, headers: Headers, peer_certificate: bytes | None) -> User | None:
        proxy = self._front_proxy()
        if proxy is None or peer_certificate is None:
            return None
        try:
            self._check_proxy(peer_certificate, proxy)
        except ValueError as fault:
            self._complain("client certificate not believed", str(fault))
            return None
        return self._reader(proxy).user(headers)

    def _check_proxy(self, peer_certificate: bytes, proxy: FrontProxy) -> None:
        certificate = self._examine(peer_certificate, proxy.ca_pem)
        certificate.check(self._now())
        if proxy.allowed_names and certificate.common_name not in proxy.allowed_names:
            raise ValueError(f"its common name {certificate.common_name!r} is no front proxy's")

    async def _token_owner(self, headers: Headers) -> User | None:
        token = _bearer(headers)
        if not token:
            return None

        async def review() -> tuple[User | None]:
            return (await self._tokens.token(token),)

        # Tokens themselves are not kept: a dump of the memory shows digests.
        digest = hmac.digest(self._digest_key, token.encode(), "sha256")
        try:
            (owner,) = await self._owners.get(digest, review)
        except SourceError as error:
            self._complain("token not judged", str(error))
            return None
        return owner

    def _complain(self, event: str, cause: str) -> None:
        """Log a cause once, until there is another one."""
        if cause != self._last_complaint:
            self._last_complaint = cause
            _log.warning(event, extra={"cause": cause})


def _bearer(headers: Headers) -> str:
    value = next((value for name, value in headers if name == b"authorization"), b"")
    scheme, _, rest = value.partition(b" ")
    token = rest.partition(b" ")[0]
    if scheme.lower() != b"bearer" or not token.isascii():
        return ""
    return token.decode("ascii")


def _among_authenticated(user: User) -> User:
    if user.name == "system:anonymous" or {AUTHENTICATED, UNAUTHENTICATED} & set(user.groups):
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))
