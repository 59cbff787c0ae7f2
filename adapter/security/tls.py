"""The TLS side of serving: which pair is shown, and whose client certificates are asked for.

A client certificate is asked for and not required. OpenSSL refuses, within the handshake, one that
no authority of the front proxy signed or that is not for clients, and Python's ssl has no way to
let it pass: the connection is reset. One that expired passes, so that it gets an answer: 401. Who
is believed is not decided here at all, but at each request, by adapter/security/authentication.py.
"""

import logging
import ssl
from collections.abc import Callable
from datetime import UTC, datetime

from adapter.errors import InputError, Problem
from adapter.model.identity import FrontProxy
from adapter.security.ciphers import openssl_list
from adapter.security.serving_pair import Stamp, pair_files
from adapter.settings import ServingSettings

_VERSIONS = {
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}
# X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python has no name for.
_ANY_TIME = ssl.VerifyFlags(0x200000)

_log = logging.getLogger(__name__)


class ServingCertificate:
    """The pair that is served, and the context that serves it.

    Files and authority are looked at with each handshake: whatever has changed holds from then on,
    connections that are open keep what they have. A pair that cannot be used is told in the log
    once, and the one before is served on.
    """

    def __init__(
        self,
        settings: ServingSettings,
        front_proxy: Callable[[], FrontProxy | None],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Load the pair, or make one; raises InputError when there is none to be had."""
        self._settings = settings
        self._front_proxy = front_proxy
        self._now = now
        self._ciphers = _ciphers(settings)
        self._files = pair_files(settings)
        self._seen = self._sources()
        self._current, self._expires_at = self._first()
        self._context = self._bare()
        self._context.sni_callback = self._switch

    @property
    def context(self) -> ssl.SSLContext:
        """Give the context to listen with, the same for ever."""
        return self._context

    @property
    def expires_at(self) -> datetime:
        """Give the end of the served pair's validity."""
        return self._expires_at

    @property
    def loaded(self) -> bool:
        """Tell whether a pair is served that has not expired."""
        return self._now() < self._expires_at

    def refresh(self) -> None:
        """Take up what has changed of files and authority; called by each handshake."""
        sources = self._sources()
        if sources == self._seen:
            return
        self._seen = sources
        try:
            self._current, self._expires_at = self._load()
        except ValueError as fault:
            cause = str(fault)
            _log.error("serving pair not usable, serving the one before", extra={"cause": cause})
            self._trust_authority(self._current)
            return
        _log.info("serving pair or front proxy's authority changed")

    def _switch(self, connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        # OpenSSL calls this for every handshake, with and without a server name.
        self.refresh()
        connection.context = self._current

    def _sources(self) -> tuple[Stamp, bytes]:
        proxy = self._front_proxy()
        return self._files.stamp(), proxy.ca_pem if proxy else b""

    def _first(self) -> tuple[ssl.SSLContext, datetime]:
        try:
            return self._load()
        except ValueError as fault:
            problem = Problem(
                file="command line",
                key="--tls-cert-file, --tls-private-key-file",
                fault=str(fault),
                cure="give a PEM certificate and its key without a password",
            )
            raise InputError([problem]) from fault

    def _load(self) -> tuple[ssl.SSLContext, datetime]:
        context = self._bare()
        expires_at = self._files.load_into(context)
        self._trust_authority(context)
        return context, expires_at

    def _trust_authority(self, context: ssl.SSLContext) -> None:
        _, authority = self._seen
        if not authority:
            return
        try:
            context.load_verify_locations(cadata=authority.decode("ascii", "ignore"))
        except ssl.SSLError as exc:
            _log.error("front proxy's authority not usable", extra={"cause": exc.reason})

    def _bare(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = _VERSIONS[self._settings.min_version]
        context.verify_mode = ssl.CERT_OPTIONAL
        # As Go has it, an intermediate in the bundle is an authority without its root.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _ANY_TIME
        if self._ciphers:
            context.set_ciphers(self._ciphers)
        return context


def _ciphers(settings: ServingSettings) -> str:
    try:
        return openssl_list(settings.ciphers or "")
    except ValueError as fault:
        problem = Problem(
            file="command line",
            key="--tls-cipher-suites",
            fault=str(fault),
            cure="take them out; without the flag OpenSSL's safe ones are used",
        )
        raise InputError([problem]) from fault
