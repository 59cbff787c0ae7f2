"""With which address, certificates and credentials Prometheus is asked."""

import base64
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from adapter.errors import InputError, Problem
from adapter.settings import PrometheusSettings
from adapter.sources import kube_config
from adapter.sources.files import Changes

log = logging.getLogger(__name__)
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A URL's parts: `base` with the path prefix, without a slash at its end; the URL's own query.

    `basic` is the Authorization value of its user-info, empty when it has none.
    """

    base: str
    query: str
    basic: str

    def at(self, path: str) -> httpx.URL:
        """Give the URL of an endpoint; it carries no user-info."""
        return httpx.URL(f"{self.base}{path}" + (f"?{self.query}" if self.query else ""))


def address(text: str) -> Address:
    """Read `--prometheus-url`; raises InputError, which does not repeat the text."""
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError) as error:
        raise _bad_url("is not a URL") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise _bad_url("is not an http or https URL with a host")
    path = url.raw_path.partition(b"?")[0].decode().rstrip("/")
    word = f"{url.username}:{url.password}".encode()
    return Address(
        base=f"{url.scheme}://{url.netloc.decode()}{path}",
        query=url.query.decode(),
        basic=f"Basic {base64.b64encode(word).decode()}" if url.userinfo else "",
    )


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

    A new token is used from the next request on, a new client pair from the next connection on.
    """

    def __init__(self, settings: PrometheusSettings) -> None:
        """Read every file once; raises InputError naming each that cannot be used."""
        self._settings = in_cluster(settings)
        self._basic = address(settings.url).basic
        self._token = ""
        self._borrowed = ""
        self._borrows = self._settings.auth_config is not None and not settings.ca_file
        self._pair = _pair(self._settings)
        self._token_changes = Changes(*filter(None, [self._settings.token_file]))
        self._pair_changes = Changes(*self._pair or ())
        problems: list[Problem] = []
        self.context = _context(self._settings, problems)
        _try(problems, "--prometheus-auth-config", self._settings.auth_config, lambda: None)
        _try(problems, "--prometheus-token-file", self._settings.token_file, self._read_token)
        pair_file = self._pair[0] if self._pair else None
        _try(problems, "--prometheus-client-tls-cert-file", pair_file, self._load_pair)
        if problems:
            raise InputError(problems)

    async def headers(self) -> list[tuple[str, str]]:
        """Give the headers for the next request, after a look at the files.

        An Authorization header given by flag wins, then the token, then the kubeconfig's, then the
        URL's user-info. Raises InputError when the kubeconfig cannot be used.
        """
        self._refresh()
        await self._borrow()
        given = list(self._settings.headers)
        if any(name.lower() == "authorization" for name, _ in given):
            return given
        token = f"Bearer {self._token}" if self._token else ""
        authorization = token or self._borrowed or self._basic
        return [*given, ("Authorization", authorization)] if authorization else given

    def renew(self) -> bool:
        """Read the credentials again after a 401; tell whether there are any to try again with."""
        self._token_changes.forget()
        self._borrows = bool(self._borrowed)
        return self._borrows or self._settings.token_file is not None

    async def _borrow(self) -> None:
        file = self._settings.auth_config
        if file is None or not self._borrows:
            return
        configuration = await kube_config.load(file)
        self._borrowed = await kube_config.authorization(configuration)
        kube_config.trust(configuration, self.context)
        self._borrows = False

    def _refresh(self) -> None:
        try:
            self._read_token()
            self._load_pair()
        except (OSError, ValueError) as error:
            log.warning("credentials for Prometheus not read again", extra={"cause": str(error)})

    def _read_token(self) -> None:
        file = self._settings.token_file
        if file is not None and self._token_changes.changed():
            self._token = file.read_text().strip()

    def _load_pair(self) -> None:
        cert, key = self._pair or (None, None)
        if cert and self._pair_changes.changed():
            self.context.load_cert_chain(cert, key, password=_no_password)


def _pair(settings: PrometheusSettings) -> tuple[Path, Path] | None:
    cert, key = settings.client_cert_file, settings.client_key_file
    return (cert, key) if cert and key else None


def _context(settings: PrometheusSettings, problems: list[Problem]) -> ssl.SSLContext:
    file = settings.ca_file
    if file is None and settings.url.lower().startswith("https:"):
        # The system's own authorities and, where an image has none, the usual public ones.
        context = httpx.create_ssl_context()
        context.load_default_certs()
        return context
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _try(problems, "--prometheus-ca-file", file, lambda: context.load_verify_locations(file))
    return context


def _no_password() -> str:
    message = "the key is encrypted"
    raise ValueError(message)


def _try(problems: list[Problem], key: str, file: Path | None, read: Callable[[], None]) -> None:
    if file is None:
        return
    try:
        file.read_bytes()
        read()
    except (OSError, ValueError) as error:
        problems.append(
            Problem(
                file=str(file),
                key=key,
                fault=f"cannot be used: {error}",
                cure="give a readable file",
            )
        )


def _bad_url(fault: str) -> InputError:
    return InputError(
        [
            Problem(
                file="command line",
                key="--prometheus-url",
                fault=fault,
                cure="give one like http://prometheus-operated.prometheus.svc:9090",
            )
        ]
    )
