"""What goes into each kind of certificate, in the order a certificate prints it.

Extensions follow RFC 5280 as Go's and OpenSSL's verifiers want them: basicConstraints and keyUsage
critical, subject and authority key identifiers, SAN on serving certificates, one extended key usage.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from cryptography import x509

from certs.pem import PrivateKey

_CLOCK_SKEW = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """When a certificate holds: both bounds with a time zone, both included, to the second."""

    not_before: datetime
    not_after: datetime

    @classmethod
    def days(cls, count: int, *, now: datetime | None = None) -> Self:
        """From an hour ago, for machines whose clock is late, until `count` days from now."""
        moment = now or datetime.now(UTC)
        return cls(not_before=moment - _CLOCK_SKEW, not_after=moment + timedelta(days=count))


def authority_certificate(
    name: x509.Name, key: PrivateKey, validity: Validity
) -> x509.CertificateBuilder:
    """Self-issued, may sign leaves and no further authorities."""
    return (
        _certificate(name, name, key, validity)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
    )


def leaf_certificate(
    name: x509.Name,
    issuer: x509.Name,
    key: PrivateKey,
    purpose: x509.ObjectIdentifier,
    validity: Validity,
) -> x509.CertificateBuilder:
    """Good for one purpose (serverAuth or clientAuth) and signs nothing."""
    return (
        _certificate(name, issuer, key, validity)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    )


def issued_by(authority: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    """The extension that names the authority's key, as the authority itself names it."""
    try:
        own = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        own = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own)


def is_authority(certificate: x509.Certificate) -> bool:
    """Whether the certificate says that it may sign others."""
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _certificate(
    name: x509.Name, issuer: x509.Name, key: PrivateKey, validity: Validity
) -> x509.CertificateBuilder:
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.not_before)
        .not_valid_after(validity.not_after)
        .add_extension(identifier, critical=False)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )
