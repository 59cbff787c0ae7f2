"""What uvicorn leaves out: the certificate that the client showed, and a stop that is not held up."""

import asyncio
import ssl

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from adapter.api.status import to_response
from adapter.errors import BadRequest

_FAREWELL = 1.0
"""Seconds that a client has to answer the end of its TLS session before the connection is cut."""


class PeerCertificateProtocol(HttpToolsProtocol):
    """Puts the client certificate's DER into `scope["state"]["peer_certificate"]`.

    None without TLS or certificate. It leans on uvicorn's `app_state`, which each request's state
    is a copy of; the minor version of uvicorn is pinned for it. A connection that we close is gone
    a second later, also when its client does not say goodbye, as idle ones never do.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a new connection; its handshake is done."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "peer_certificate": _peer_certificate(transport)}

    def shutdown(self) -> None:
        """Close the connection, after the answer that is under way."""
        super().shutdown()
        self._see_it_closed()

    def on_response_complete(self) -> None:
        """Go on to the next request, or see that a closed connection ends."""
        super().on_response_complete()
        self._see_it_closed()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP with a Status, as everything else is answered."""
        answer = to_response(BadRequest(f"the request is no HTTP: {msg}"))
        lines = [STATUS_LINE[400].rstrip(), b"connection: close"]
        lines += [name + b": " + value for name, value in answer.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self.transport.close()
        self._see_it_closed()

    def _see_it_closed(self) -> None:
        if self.transport.is_closing():
            self.loop.call_later(_FAREWELL, self.transport.abort)


def _peer_certificate(transport: asyncio.Transport) -> bytes | None:
    connection: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    return None if connection is None else connection.getpeercert(binary_form=True)
