"""Certificates that `certs` does not make, and small stand-ins for the cluster."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from adapter.errors import ClusterDown
from adapter.model.identity import Access, Decision, User
from certs.authority import Pair, Validity
from certs.pem import key_pem

IS_AUTHORITY = (x509.BasicConstraints(ca=True, path_length=None), True)
FOR_CLIENTS = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False)
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


@dataclass
class Clock:
    """A monotonic clock that a test turns; seconds."""

    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Cluster:
    """Judges tokens and access as told, and remembers what it was asked."""

    owners: dict[str, User] = field(default_factory=dict)
    decision: Decision = field(default_factory=lambda: Decision(allowed=True))
    down: bool = False
    tokens: list[str] = field(default_factory=list)
    reviews: list[tuple[User, Access]] = field(default_factory=list)

    async def token(self, token: str) -> User | None:
        self.tokens.append(token)
        self._answer()
        return self.owners.get(token)

    async def access(self, user: User, access: Access) -> Decision:
        self.reviews.append((user, access))
        self._answer()
        return self.decision

    def _answer(self) -> None:
        if self.down:
            raise ClusterDown("kube-apiserver: connection refused")


def der(pair: Pair) -> bytes:
    """Give what a client that shows the pair's certificate sends."""
    return ssl.PEM_cert_to_DER_cert(pair.certificate_pem.decode())


def pem(certificate: x509.Certificate) -> bytes:
    """Give the certificate as a bundle has it."""
    return certificate.public_bytes(Encoding.PEM)


def days(first: int, last: int, *, now: datetime = NOON) -> Validity:
    """Give a validity in days from `now`."""
    return Validity(not_before=now + timedelta(days=first), not_after=now + timedelta(days=last))


@dataclass(frozen=True)
class Signer:
    """A key with a name, for certificates of any shape."""

    name: str
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def sign(
        self,
        subject: str,
        extensions: Sequence[tuple[x509.ExtensionType, bool]] = (),
        *,
        key: ec.EllipticCurvePrivateKey | None = None,
    ) -> x509.Certificate:
        """Give a certificate for `subject`, valid a day around NOON; the key is new unless given."""
        return self.sign_subject(_name(subject), extensions, key=key)

    def sign_subject(
        self,
        subject: x509.Name,
        extensions: Sequence[tuple[x509.ExtensionType, bool]] = (),
        *,
        key: ec.EllipticCurvePrivateKey | None = None,
    ) -> x509.Certificate:
        """Give the same for a subject of any shape."""
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(_name(self.name))
            .public_key((key or ec.generate_private_key(ec.SECP256R1())).public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOON - timedelta(days=1))
            .not_valid_after(NOON + timedelta(days=1))
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self.key, hashes.SHA256())

    def with_key(
        self, subject: str, extensions: Sequence[tuple[x509.ExtensionType, bool]]
    ) -> tuple[x509.Certificate, bytes]:
        """Give a certificate and its key as PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        return self.sign(subject, extensions, key=key), key_pem(key)

    def own(self, extensions: Sequence[tuple[x509.ExtensionType, bool]]) -> x509.Certificate:
        """Give the signer's own certificate, signed by itself."""
        return self.sign(self.name, extensions, key=self.key)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
