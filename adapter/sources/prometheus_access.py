"""With which certificates and credentials Prometheus is asked."""

import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from adapter.errors import InputError, Problem
from adapter.settings import PrometheusSettings
from adapter.sources import kube_config
from adapter.sources.files import Changes
from adapter.sources.prometheus_address import address
from adapter.sources.prometheus_identity import Identity
from adapter.sources.prometheus_secrets import Secrets

log = logging.getLogger(__name__)
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

Headers = list[tuple[str, str]]


def in_cluster(settings: PrometheusSettings) -> PrometheusSettings:
    """Give the settings with what `auth_incluster` stands for; a CA file of one's own wins."""
    if not settings.auth_incluster or settings.ca_file:
        return settings
    return replace(
        settings,
        token_file=settings.token_file or SERVICE_ACCOUNT / "token",
        ca_file=SERVICE_ACCOUNT / "ca.crt",
    )


class Access:
    """The TLS context and the headers of each request, from files that may be replaced.

    Files are looked at before each request: a new token goes with that request, and new
    certificates make a new `context`. What cannot be used is told once in the log, and what was
    read before stays.
    """

    def __init__(self, settings: PrometheusSettings) -> None:
        """Read every file once; raises InputError naming each that cannot be used."""
        self._settings = in_cluster(settings)
        where = address(settings.url)
        self._basic, self._url_secrets = where.basic, where.secrets
        self._headers = [(name.strip(), value.strip(" \t")) for name, value in settings.headers]
        self._kubeconfig = None if settings.ca_file else settings.auth_config
        self._identity = Identity(
            ca_file=self._settings.ca_file,
            pair=_pair(self._settings),
            secure=settings.url.lower().startswith("https:"),
        )
        self._token, self._borrowed = "", ""
        self._told: dict[str, str] = {}
        self._borrows, self._borrowing = False, asyncio.Lock()
        self._token_changes = Changes(*filter(None, [self._settings.token_file]))
        self._kubeconfig_changes = Changes(*filter(None, [self._kubeconfig]))
        if problems := [*self._problems()]:
            raise InputError(problems)
        self._files = Changes(*self._identity.files)
        self._files.changed()
        self.context = self._identity.context()
        _warn_of_the_unused(settings)

    @property
    def secrets(self) -> Secrets:
        """Give what no message may show, as it is now."""
        given = [value for _, value in self._headers]
        credentials = (self._token, self._borrowed, self._basic)
        bare = [credential.rpartition(" ")[2] for credential in (*credentials, *given)]
        return Secrets.of([*self._url_secrets, *given, *credentials, *bare])

    async def headers(self) -> Headers:
        """Give the headers for the next request, after a look at the files.

        An Authorization header given by flag wins, then the token, then the kubeconfig's, then the
        URL's user-info. Raises InputError when the kubeconfig could not be used yet.
        """
        await self._borrow()
        self._try("token", self._read_token)
        self._try("certificates", self._read_identity)
        if any(name.lower() == "authorization" for name, _ in self._headers):
            return self._headers
        token = f"Bearer {self._token}" if self._token else ""
        authorization = token or self._borrowed or self._basic
        return [*self._headers, *([("Authorization", authorization)] if authorization else [])]

    async def renewed(self, refused: Headers) -> Headers | None:
        """Give headers to try once more with after a 401, None when no file could give others.

        The files are read anew unless they gave something other than `refused` already.
        """
        if self._settings.token_file is None and self._kubeconfig is None:
            return None
        if await self.headers() == refused:
            self._token_changes.forget()
            self._borrows = self._kubeconfig is not None
        return await self.headers()

    def expect_tls(self) -> None:
        """Load the system's authorities for plain HTTP as well: a redirect leads to HTTPS."""
        if not self._identity.secure:
            self._identity = replace(self._identity, secure=True)
            self.context = self._identity.context()

    async def _borrow(self) -> None:
        file = self._kubeconfig
        if file is None or not (self._kubeconfig_changes.changed() or self._borrows):
            return
        self._borrows = True
        # Credential plugins are programs: one run serves all who wait.
        async with self._borrowing:
            if self._borrows:
                await self._take_from(file)
                self._borrows = False

    async def _take_from(self, file: Path) -> None:
        try:
            configuration = await kube_config.load(file)
            borrowed = _header_value(await kube_config.authorization(configuration))
        except InputError as error:
            if not self._borrowed:
                raise
            self._tell("kubeconfig", str(error))
            return
        self._borrowed = borrowed
        self._identity = replace(
            self._identity,
            ca_file=_path(configuration.ssl_ca_cert),
            pair=_pair(self._settings) or _both(configuration.cert_file, configuration.key_file),
            verified=bool(configuration.verify_ssl),
        )
        self._files = Changes(*self._identity.files)

    def _read_token(self) -> None:
        file = self._settings.token_file
        if file is not None and self._token_changes.changed():
            self._token = _header_value(file.read_text(encoding="utf-8").strip())

    def _read_identity(self) -> None:
        if self._files.changed():
            self.context = self._identity.context()

    def _try(self, what: str, read: Callable[[], None]) -> None:
        try:
            read()
        except (OSError, ValueError) as error:
            self._tell(what, str(error))

    def _tell(self, what: str, cause: str) -> None:
        if self._told.get(what) != cause:
            self._told[what] = cause
            extra = {"what": what, "cause": cause}
            log.warning("credentials for Prometheus not read again", extra=extra)

    def _problems(self) -> list[Problem]:
        settings, identity = self._settings, self._identity
        cert, key = identity.pair or (None, None)
        files: list[tuple[str, Path | None, Callable[[], object]]] = [
            (_flag("--prometheus-ca-file", settings.ca_file), settings.ca_file, identity.believing),
            ("--prometheus-auth-config", self._kubeconfig, lambda: None),
            (
                _flag("--prometheus-token-file", settings.token_file),
                settings.token_file,
                self._read_token,
            ),
            ("--prometheus-client-tls-key-file", key, lambda: None),
            (
                "--prometheus-client-tls-cert-file",
                cert,
                Identity(pair=identity.pair, secure=False).context,
            ),
        ]
        found = [_unusable(key, file, read) for key, file, read in files if file]
        return [*filter(None, found), *_bad_headers(self._headers)]


def _flag(given: str, file: Path | None) -> str:
    """Give the flag that names `file`, which may be the one that stands for a pod's own files."""
    own = file is not None and file.parent == SERVICE_ACCOUNT
    return "--prometheus-auth-incluster" if own else given


def _pair(settings: PrometheusSettings) -> tuple[Path, Path] | None:
    cert, key = settings.client_cert_file, settings.client_key_file
    return (cert, key) if cert and key else None


def _both(cert: str | None, key: str | None) -> tuple[Path, Path] | None:
    return (Path(cert), Path(key)) if cert and key else None


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _header_value(text: str) -> str:
    """Give `text` when a header can carry it; raises ValueError, which does not repeat it."""
    if _CONTROL.search(text):
        message = "it holds a line break or another control character"
        raise ValueError(message)
    return text


def _bad_headers(headers: Headers) -> list[Problem]:
    return [
        Problem(
            file="command line",
            key="--prometheus-header",
            fault=f"header {number} has a name or value that HTTP cannot carry",
            cure="write it as name=value, without line breaks",
        )
        for number, (name, value) in enumerate(headers, 1)
        if not _NAME.fullmatch(name) or _CONTROL.search(value)
    ]


def _unusable(key: str, file: Path, read: Callable[[], object]) -> Problem | None:
    try:
        file.read_bytes()
        read()
    except (OSError, ValueError) as error:
        fault, cure = f"cannot be used: {error}", "give a readable file"
        return Problem(file=str(file), key=key, fault=fault, cure=cure)
    return None


def _warn_of_the_unused(settings: PrometheusSettings) -> None:
    if settings.ca_file and (settings.auth_incluster or settings.auth_config):
        log.warning(
            "flags without effect",
            extra={
                "flags": "--prometheus-auth-incluster, --prometheus-auth-config",
                "cause": "--prometheus-ca-file is given, which takes their place",
            },
        )
