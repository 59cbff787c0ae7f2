"""An authority (CA), the pairs it signs, and a self-signed pair: EC P-256, SHA-256, X.509 v3."""

import base64
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from certs.errors import CertificateError
from certs.extensions import (
    Validity,
    authority_certificate,
    is_authority,
    issued_by,
    leaf_certificate,
)
from certs.files import write_private
from certs.names import alternative_names, is_address, is_dns_name, subject
from certs.pem import PrivateKey, certificate_pem, key_pem, load_certificate, load_key

AUTHORITY_DAYS = 3650
PAIR_DAYS = 365

__all__ = ["AUTHORITY_DAYS", "PAIR_DAYS", "Authority", "Pair", "Validity", "self_signed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A certificate and its private key (PKCS 8, not encrypted), both PEM."""

    certificate_pem: bytes
    private_key_pem: bytes = field(repr=False)

    def write(self, directory: Path, name: str, *, force: bool = False) -> tuple[Path, Path]:
        """Write `<name>.crt` and `<name>.key`, mode 0600, and give their paths, certificate first.

        Raises CertificateError when one exists and force is not given, or can't be written.
        """
        certificate, key = directory / f"{name}.crt", directory / f"{name}.key"
        contents = {key: self.private_key_pem, certificate: self.certificate_pem}
        write_private(contents, force=force)
        return certificate, key


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """A certificate authority that signs leaves only."""

    certificate: x509.Certificate
    private_key: PrivateKey = field(repr=False)

    @classmethod
    def create(cls, common_name: str, *, validity: Validity | None = None) -> Self:
        """A new authority, valid for ten years unless said otherwise."""
        key = ec.generate_private_key(ec.SECP256R1())
        span = validity or Validity.days(AUTHORITY_DAYS)
        builder = authority_certificate(subject(common_name), key, span)
        return cls(certificate=builder.sign(key, hashes.SHA256()), private_key=key)

    @classmethod
    def load(cls, certificate: Path, private_key: Path) -> Self:
        """The authority in two PEM files; raises CertificateError naming the file that is wrong."""
        loaded, key = load_certificate(certificate), load_key(private_key)
        if loaded.public_key() != key.public_key():
            raise CertificateError(f"{private_key} is not the key of {certificate}")
        if not is_authority(loaded):
            raise CertificateError(f"{certificate} is no authority's certificate: it lacks CA:TRUE")
        return cls(certificate=loaded, private_key=key)

    @property
    def certificate_pem(self) -> bytes:
        """The authority's own certificate."""
        return certificate_pem(self.certificate)

    @property
    def private_key_pem(self) -> bytes:
        """The authority's private key, PKCS 8, not encrypted."""
        return key_pem(self.private_key)

    def ca_bundle(self) -> str:
        """The certificate as APIService's `spec.caBundle` wants it: base64 of the PEM, one line."""
        return base64.b64encode(self.certificate_pem).decode("ascii")

    def write(self, directory: Path, name: str, *, force: bool = False) -> tuple[Path, Path]:
        """Write `<name>.crt` and `<name>.key` as Pair.write does."""
        pair = Pair(certificate_pem=self.certificate_pem, private_key_pem=self.private_key_pem)
        return pair.write(directory, name, force=force)

    def issue_server(
        self,
        common_name: str,
        dns_names: Sequence[str],
        ip_addresses: Sequence[str] = (),
        *,
        validity: Validity | None = None,
    ) -> Pair:
        """A serving pair for the names (purpose serverAuth), valid for a year unless said otherwise.

        Raises CertificateError on a name that a certificate can't carry.
        """
        names = alternative_names(dns_names, ip_addresses)
        purpose = ExtendedKeyUsageOID.SERVER_AUTH
        return self._issue(subject(common_name), purpose, names, validity)

    def issue_client(
        self,
        common_name: str,
        organizations: Sequence[str] = (),
        *,
        validity: Validity | None = None,
    ) -> Pair:
        """A client pair (clientAuth): Kubernetes reads CN as the user and each O as a group.

        Raises CertificateError on a name that a certificate can't carry.
        """
        purpose = ExtendedKeyUsageOID.CLIENT_AUTH
        return self._issue(subject(common_name, organizations), purpose, None, validity)

    def _issue(
        self,
        name: x509.Name,
        purpose: x509.ObjectIdentifier,
        alternatives: x509.SubjectAlternativeName | None,
        validity: Validity | None,
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        span = validity or Validity.days(PAIR_DAYS)
        builder = leaf_certificate(name, self.certificate.subject, key, purpose, span)
        builder = builder.add_extension(issued_by(self.certificate), critical=False)
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        return _pair(builder.sign(self.private_key, hashes.SHA256()), key)


def self_signed(
    extra_names: Sequence[str] = (),
    *,
    hostname: str | None = None,
    validity: Validity | None = None,
) -> Pair:
    """A serving pair that nobody vouches for: localhost, 127.0.0.1, the host's name, extra names.

    For a server that was given no pair; valid for a year unless said otherwise. Extra names may be
    DNS names or IP addresses. `hostname` is this machine's unless given; one that a certificate
    can't carry is left out.
    """
    host = socket.gethostname() if hostname is None else hostname
    names = ["localhost", *([host] if is_dns_name(host) else []), *extra_names]
    dns_names = [name for name in names if not is_address(name)]
    addresses = ["127.0.0.1", *(name for name in names if is_address(name))]
    key = ec.generate_private_key(ec.SECP256R1())
    own, purpose = subject("localhost"), ExtendedKeyUsageOID.SERVER_AUTH
    span = validity or Validity.days(PAIR_DAYS)
    builder = leaf_certificate(own, own, key, purpose, span)
    builder = builder.add_extension(alternative_names(dns_names, addresses), critical=False)
    return _pair(builder.sign(key, hashes.SHA256()), key)


def _pair(certificate: x509.Certificate, key: PrivateKey) -> Pair:
    return Pair(certificate_pem=certificate_pem(certificate), private_key_pem=key_pem(key))
