"""Certificates and private keys to and from PEM."""

from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from certs.errors import CertificateError

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


def certificate_pem(certificate: x509.Certificate) -> bytes:
    """The certificate as one PEM block."""
    return certificate.public_bytes(serialization.Encoding.PEM)


def key_pem(key: PrivateKey) -> bytes:
    """The key as PKCS 8, not encrypted."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def load_certificate(path: Path) -> x509.Certificate:
    """The first certificate of the file; raises CertificateError naming the file."""
    content = read(path)
    try:
        return x509.load_pem_x509_certificate(content)
    except ValueError as exc:
        raise CertificateError(f"{path}: no PEM certificate in it") from exc


def load_key(path: Path) -> PrivateKey:
    """The private key of the file, EC or RSA; raises CertificateError naming the file."""
    content = read(path)
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except TypeError as exc:
        raise CertificateError(f"{path}: the key has a password: give one without") from exc
    except (ValueError, UnsupportedAlgorithm) as exc:
        raise CertificateError(f"{path}: no PEM private key in it") from exc
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise CertificateError(f"{path}: the key is neither EC nor RSA")
    return key


def read(path: Path) -> bytes:
    """The file's bytes; raises CertificateError with path and cause."""
    try:
        return path.read_bytes()
    except OSError as exc:
        raise CertificateError(f"{path}: cannot be read: {exc.strerror}") from exc
