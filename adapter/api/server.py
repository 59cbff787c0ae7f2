"""The HTTP server: its socket, its TLS and its manners."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from adapter.api.protocol import PeerCertificateProtocol
from adapter.errors import InputError, Problem
from adapter.security.tls import ServingCertificate
from adapter.settings import ServingSettings

# kube-apiserver keeps idle connections for 90 s: it, not we, closes them, or it meets a closed one.
_KEEP_ALIVE = 120
_DRAIN = 30
_BACKLOG = 1024
_ALL_ADDRESSES = frozenset({"0.0.0.0", "::"})  # noqa: S104  (compared, not chosen)


class _Server(uvicorn.Server):
    """uvicorn without its own handling of signals, which would skip the delay before the stop."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to whoever runs it."""
        yield


def http_server(app: ASGIApp, certificate: ServingCertificate) -> uvicorn.Server:
    """Give the server of `app`; its certificate is the one that is current with each connection."""
    config = uvicorn.Config(
        app,
        http=PeerCertificateProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_DRAIN,
        ssl_context_factory=lambda _config, _default: certificate.context,
    )
    return _Server(config)


def listening(settings: ServingSettings) -> socket.socket:
    """Give the listening socket; raises InputError when the address or port cannot be had."""
    address, port = settings.bind_address, settings.port
    try:
        return _bound(address, port)
    except OSError as error:
        fault = f"cannot listen on {address} port {port}: {error.strerror or error}"
        cure = "give a free port with --secure-port and an address of this host's"
        raise InputError([Problem(file="command line", fault=fault, cure=cure)]) from error


def _bound(address: str, port: int) -> socket.socket:
    """Give a listening socket; either address that means all means both families, as in Go."""
    if address in _ALL_ADDRESSES and socket.has_dualstack_ipv6():
        return socket.create_server(
            ("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=_BACKLOG
        )
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family, backlog=_BACKLOG)
