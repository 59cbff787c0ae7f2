"""TLS handshakes in memory."""

import contextlib
import ssl
from dataclasses import dataclass
from pathlib import Path

from certs.authority import Pair


@dataclass(frozen=True)
class Handshake:
    """Both ends of a connection that is open."""

    server: ssl.SSLObject
    client: ssl.SSLObject

    @property
    def shown_to_server(self) -> bytes | None:
        """The client's certificate."""
        return self.server.getpeercert(binary_form=True)

    @property
    def shown_to_client(self) -> bytes | None:
        """The server's certificate."""
        return self.client.getpeercert(binary_form=True)


def shake(
    server: ssl.SSLContext, client: ssl.SSLContext, name: str | None = "localhost"
) -> Handshake:
    """Shake hands; raises what the end that refuses raises."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = Handshake(
        server=server.wrap_bio(to_server, to_client, server_side=True),
        client=client.wrap_bio(to_client, to_server, server_hostname=name),
    )
    for _ in range(3):
        for end in (ends.client, ends.server):
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
    return ends


def visitor(directory: Path, pair: Pair | None = None) -> ssl.SSLContext:
    """A client that believes every server and shows the pair, if any."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if pair is not None:
        context.load_cert_chain(*pair.write(directory, "client", force=True))
    return context
