"""The front proxy that the flags describe, where they stand in for the cluster's ConfigMap."""

from pathlib import Path

from cryptography import x509

from adapter.errors import InputError, Problem
from adapter.model.identity import FrontProxy
from adapter.settings import AuthenticationSettings


def front_proxy_of(settings: AuthenticationSettings) -> FrontProxy | None:
    """Give what `--requestheader-client-ca-file` and its sisters say, None without that flag.

    With it all comes from the flags and nothing from the ConfigMap, as in every aggregated API
    server; the file is read once. Raises InputError when it has no certificate.
    """
    path = settings.requestheader_ca_file
    if path is None:
        return None
    return FrontProxy(
        ca_pem=_authority(path),
        allowed_names=settings.requestheader_allowed_names,
        username_headers=_lower(settings.requestheader_username_headers),
        group_headers=_lower(settings.requestheader_group_headers),
        extra_prefixes=_lower(settings.requestheader_extra_prefixes),
    )


def _authority(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        x509.load_pem_x509_certificates(content)
    except (OSError, ValueError) as exc:
        problem = Problem(
            file=str(path),
            key="--requestheader-client-ca-file",
            fault=f"no PEM certificates can be read from it: {exc}",
            cure="name the file that kube-apiserver has as its own --requestheader-client-ca-file",
        )
        raise InputError([problem]) from exc
    return content


def _lower(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in names)
