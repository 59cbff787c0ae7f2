"""The files of the serving pair: found, made when there are none, loaded."""

import ssl
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from cryptography import x509

from adapter.errors import InputError, Problem
from adapter.settings import ServingSettings
from certs.authority import self_signed
from certs.errors import CertificateError

_NAME = "apiserver"

Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFiles:
    """A certificate with its chain, and its key, both PEM."""

    certificate: Path
    key: Path

    def stamp(self) -> Stamp:
        """Give what changes when a file is written or a link to it is turned; empty without files."""
        try:
            found = [path.stat() for path in (self.certificate, self.key)]
        except OSError:
            return ()
        return tuple((state.st_mtime_ns, state.st_size, state.st_ino) for state in found)

    def load_into(self, context: ssl.SSLContext) -> datetime:
        """Make `context` serve with the pair; give when it expires.

        Raises ValueError, in one line that names the file, when it cannot be used.
        """
        leaf = _certificate(self.certificate)
        _read(self.key)
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except ssl.SSLError as exc:
            fault = f"{self.key} is no PEM key of {self.certificate} ({exc.reason})"
            raise ValueError(fault) from exc
        return leaf.not_valid_after_utc


def pair_files(settings: ServingSettings) -> PairFiles:
    """Give the files of the flags; without flags `apiserver.crt` and `.key` of the folder.

    A self-signed pair is written there when they are not. Raises InputError when that cannot be.
    """
    if settings.cert_file is not None and settings.key_file is not None:
        return PairFiles(certificate=settings.cert_file, key=settings.key_file)
    folder = settings.cert_dir
    files = PairFiles(certificate=folder / f"{_NAME}.crt", key=folder / f"{_NAME}.key")
    if not (files.certificate.exists() and files.key.exists()):
        _make(folder)
    return files


def _make(folder: Path) -> None:
    try:
        self_signed().write(folder, _NAME)
    except CertificateError as exc:
        problem = Problem(
            file=str(folder),
            key="--cert-dir",
            fault=f"no self-signed pair can be put there: {exc}",
            cure="name a folder that is empty or new and may be written to, or give "
            "--tls-cert-file and --tls-private-key-file",
        )
        raise InputError([problem]) from exc


def _certificate(path: Path) -> x509.Certificate:
    content = _read(path)
    try:
        return x509.load_pem_x509_certificate(content)
    except ValueError as exc:
        raise ValueError(f"{path} has no PEM certificate in it") from exc


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        raise ValueError(f"{path} cannot be read: {exc.strerror}") from exc


def _no_password() -> NoReturn:
    """Stands in for OpenSSL's question on the terminal."""
    raise ValueError("the key has a password; a server needs one without")
