"""Whether a client certificate was signed by an authority of the front proxy, and for whom.

The rules are those of Go's crypto/x509, which every aggregated API server uses: each certificate of
the bundle is an authority by itself (intermediates need no root), a certificate without extended
key usages is good for all uses, and no alternative name is needed, as front proxies have none.
Only the bundle's own certificates sign: intermediates that a client sends along are not used.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Kind = TypeVar("Kind", bound=x509.ExtensionType)

_CLIENT_USES = {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
_UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm, x509.DuplicateExtension)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCertificate:
    """A certificate whose signature and purpose are right, at some time.

    It holds from `not_before` to `not_after`, while its authority holds too; both have a time zone
    and are included.
    """

    common_name: str
    not_before: datetime
    not_after: datetime

    def check(self, now: datetime) -> None:
        """Raise ValueError when the certificate or its authority does not hold `now`."""
        if now < self.not_before:
            raise ValueError(f"it is not valid before {self.not_before:%Y-%m-%dT%H:%M:%SZ}")
        if now > self.not_after:
            raise ValueError(f"it expired at {self.not_after:%Y-%m-%dT%H:%M:%SZ}")


def verify(der: bytes, ca_pem: bytes, now: datetime) -> str:
    """Give the common name of a certificate that one of the authorities signed for clients.

    Raises ValueError, with the cause in a few words, when it is not to be believed `now`.
    """
    certificate = examine(der, ca_pem)
    certificate.check(now)
    return certificate.common_name


def examine(der: bytes, ca_pem: bytes) -> ClientCertificate:
    """Check all but the time, so that the outcome can be kept; raises ValueError as `verify` does."""
    try:
        leaf = x509.load_der_x509_certificate(der)
        authorities = x509.load_pem_x509_certificates(ca_pem)
        authority = _signer(leaf, authorities)
        _check_purpose(leaf)
    except _UNREADABLE as exc:
        raise ValueError(str(exc)) from exc
    return ClientCertificate(
        common_name=_common_name(leaf),
        not_before=max(leaf.not_valid_before_utc, authority.not_valid_before_utc),
        not_after=min(leaf.not_valid_after_utc, authority.not_valid_after_utc),
    )


def _signer(leaf: x509.Certificate, authorities: list[x509.Certificate]) -> x509.Certificate:
    signers = [ca for ca in authorities if _may_sign(ca) and _signed(leaf, ca)]
    if not signers:
        raise ValueError("no authority of the front proxy signed it")
    return max(signers, key=lambda ca: ca.not_valid_after_utc)


def _signed(leaf: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(authority)
    except (*_UNREADABLE, InvalidSignature):
        return False
    return True


def _may_sign(authority: x509.Certificate) -> bool:
    constraints = _extension(authority, x509.BasicConstraints)
    usage = _extension(authority, x509.KeyUsage)
    return constraints is not None and constraints.ca and (usage is None or usage.key_cert_sign)


def _check_purpose(leaf: x509.Certificate) -> None:
    for extension in leaf.extensions:
        if extension.critical and isinstance(extension.value, x509.UnrecognizedExtension):
            raise ValueError(f"it has an unknown critical extension, {extension.oid.dotted_string}")
    uses = _extension(leaf, x509.ExtendedKeyUsage)
    if uses is not None and _CLIENT_USES.isdisjoint(uses):
        raise ValueError("it is not for clients: its extended key usages lack clientAuth")


def _extension(certificate: x509.Certificate, kind: type[Kind]) -> Kind | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _common_name(certificate: x509.Certificate) -> str:
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[-1].value) if names else ""
