"""What uvicorn does not tell the application: the certificate that the client showed."""

import asyncio
import ssl

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class PeerCertificateProtocol(HttpToolsProtocol):
    """Puts the client certificate's DER into `scope["state"]["peer_certificate"]`.

    None without TLS or certificate. It leans on uvicorn's `app_state`, which each request's state
    is a copy of; the minor version of uvicorn is pinned for it.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a new connection; its handshake is done."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "peer_certificate": _peer_certificate(transport)}


def _peer_certificate(transport: asyncio.Transport) -> bytes | None:
    connection: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    return None if connection is None else connection.getpeercert(binary_form=True)
