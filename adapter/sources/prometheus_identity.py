"""Which servers are believed and which certificate is shown, from files."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import httpx


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """`ca_file` None takes the system's authorities; without a `pair` nothing is shown.

    `secure` false leaves the authorities out: plain HTTP needs none, and they take long to load.
    """

    ca_file: Path | None = None
    pair: tuple[Path, Path] | None = None
    verified: bool = True
    secure: bool = True

    @property
    def files(self) -> tuple[Path, ...]:
        """Give the files that it is read from."""
        return tuple(filter(None, (self.ca_file, *(self.pair or ()))))

    def context(self) -> ssl.SSLContext:
        """Read the files; raises OSError or ValueError for what cannot be used."""
        context = self.believing()
        if self.pair:
            context.load_cert_chain(*self.pair, password=_no_password)
        if not self.verified:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def believing(self) -> ssl.SSLContext:
        """Read the authorities alone; raises as `context`."""
        if self.ca_file is None and self.secure:
            # The system's own authorities and, where an image has none, the usual public ones.
            context = httpx.create_ssl_context()
            context.load_default_certs()
            return context
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self.ca_file is not None:
            context.load_verify_locations(self.ca_file)
        return context


def _no_password() -> str:
    message = "the key is encrypted"
    raise ValueError(message)
