"""Real TLS handshakes on 127.0.0.1."""

import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from certs.authority import Authority, Pair


def serving_context(
    directory: Path, pair: Pair, client_authority: Authority | None = None
) -> ssl.SSLContext:
    """A server's context; with an authority, clients must show a certificate signed by it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair.write(directory, "server"))
    if client_authority is not None:
        context.load_verify_locations(cadata=client_authority.certificate_pem.decode())
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def trusting(certificate_pem: bytes) -> ssl.SSLContext:
    """A client's context that trusts one certificate, checks names, and checks RFC 5280 strictly."""
    context = ssl.create_default_context(cadata=certificate_pem.decode())
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> None:
    """Shake hands and pass a byte each way; raises what the client, or else the server, raises."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        serving = pool.submit(_serve_once, listener, server)
        try:
            _visit(listener.getsockname(), client, name)
        finally:
            failure = serving.exception(timeout=5)
        if failure is not None:
            raise failure


def _visit(address: tuple[str, int], context: ssl.SSLContext, name: str) -> None:
    with (
        closing(socket.create_connection(address, timeout=5)) as raw,
        context.wrap_socket(raw, server_hostname=name) as secured,
    ):
        secured.sendall(b"?")
        # In TLS 1.3 a server that refuses the client's certificate says so only here.
        if secured.recv(1) != b"!":
            raise ssl.SSLError("the server hung up")


def _serve_once(listener: socket.socket, context: ssl.SSLContext) -> None:
    raw, _ = listener.accept()
    raw.settimeout(5)
    with closing(raw), context.wrap_socket(raw, server_side=True) as secured:
        secured.recv(1)
        secured.sendall(b"!")
