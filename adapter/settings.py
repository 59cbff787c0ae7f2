"""What the flags decide, as plain values; `flags.py` reads them from the command line."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusSettings:
    """How Prometheus is reached; `url` keeps its path prefix, query and user-info as given.

    `force_get` sends even what is too long for most servers by GET. `strict` takes an answer that
    says that it is partial for none.
    """

    url: str = "https://localhost"
    verb: str = "GET"
    force_get: bool = False
    strict: bool = False
    timeout: float = 10.0
    headers: tuple[tuple[str, str], ...] = ()
    token_file: Path | None = None
    ca_file: Path | None = None
    client_cert_file: Path | None = None
    client_key_file: Path | None = None
    auth_incluster: bool = False
    auth_config: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoverySettings:
    """When Prometheus is asked what exists, and how far it looks back; seconds."""

    relist_interval: float = 600.0
    max_age: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingSettings:
    """How old an answer may be, seconds: `freshness` in health, `max_staleness` in an outage."""

    freshness: float = 5.0
    max_staleness: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingSettings:
    """Where and with which certificate requests are taken; `port` 0 lets the system choose."""

    bind_address: str = "0.0.0.0"  # noqa: S104  (the incumbent's default: pods are reached on all)
    port: int = 443
    cert_dir: Path = Path("apiserver.local.config/certificates")
    cert_file: Path | None = None
    key_file: Path | None = None
    ciphers: str | None = None
    min_version: str = "VersionTLS12"
    shutdown_delay: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationSettings:
    """Who is believed; names left empty come from the cluster's ConfigMap."""

    kubeconfig: Path | None = None
    token_ttl: float = 10.0
    skip_lookup: bool = False
    tolerate_lookup_failure: bool = False
    requestheader_ca_file: Path | None = None
    requestheader_allowed_names: tuple[str, ...] = ()
    requestheader_username_headers: tuple[str, ...] = ("x-remote-user",)
    requestheader_group_headers: tuple[str, ...] = ("x-remote-group",)
    requestheader_extra_prefixes: tuple[str, ...] = ("x-remote-extra-",)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationSettings:
    """Who decides what is allowed, and for how many seconds a decision is kept."""

    kubeconfig: Path | None = None
    allow_ttl: float = 10.0
    deny_ttl: float = 10.0
    always_allow_paths: tuple[str, ...] = ("/healthz", "/readyz", "/livez")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the flags decide; `ignored` names flags that were given and have no effect."""

    config: Path | None = None
    lister_kubeconfig: Path | None = None
    verbosity: int = 0
    prometheus: PrometheusSettings = field(default_factory=PrometheusSettings)
    prometheus_url_given: bool = False
    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    reading: ReadingSettings = field(default_factory=ReadingSettings)
    serving: ServingSettings = field(default_factory=ServingSettings)
    authentication: AuthenticationSettings = field(default_factory=AuthenticationSettings)
    authorization: AuthorizationSettings = field(default_factory=AuthorizationSettings)
    ignored: tuple[str, ...] = ()
