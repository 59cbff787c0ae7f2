"""Authorities that other programs made: used when they can be, refused by name when not."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

from certs.authority import Authority
from certs.errors import CertificateError
from tests.certs.loopback import handshake, serving_context, trusting

PKCS8 = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)


def bare_certificate(key: rsa.RSAPrivateKey, *, ca: bool | None) -> bytes:
    """Self-signed, without key identifiers; `ca` None leaves basicConstraints out too."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "foreign")])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(days=1))
    )
    if ca is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), True)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def files(folder: Path, certificate: bytes, key: bytes) -> tuple[Path, Path]:
    paths = folder / "ca.crt", folder / "ca.key"
    for path, content in zip(paths, (certificate, key), strict=True):
        path.write_bytes(content)
    return paths


@pytest.fixture(scope="module")
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def test_an_rsa_authority_without_key_identifiers_signs(
    rsa_key: rsa.RSAPrivateKey, tmp_path: Path
) -> None:
    certificate = bare_certificate(rsa_key, ca=True)
    key = rsa_key.private_bytes(*PKCS8, serialization.NoEncryption())
    authority = Authority.load(*files(tmp_path, certificate, key))
    server = serving_context(tmp_path, authority.issue_server("adapter", ["localhost"]))
    client = trusting(certificate)
    client.verify_flags &= ~client.verify_flags.VERIFY_X509_STRICT  # it has no key identifier
    handshake(server, client, "localhost")


def test_a_certificate_that_does_not_say_what_it_is_is_no_authority(
    rsa_key: rsa.RSAPrivateKey, tmp_path: Path
) -> None:
    key = rsa_key.private_bytes(*PKCS8, serialization.NoEncryption())
    with pytest.raises(CertificateError, match=r"ca\.crt is no authority's certificate"):
        Authority.load(*files(tmp_path, bare_certificate(rsa_key, ca=None), key))


def test_a_key_with_a_password_is_refused(tmp_path: Path) -> None:
    certificate = Authority.create("ca").certificate_pem
    locked = serialization.BestAvailableEncryption(b"secret")
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(*PKCS8, locked)
    with pytest.raises(CertificateError, match=r"ca\.key: the key has a password"):
        Authority.load(*files(tmp_path, certificate, key))


def test_a_key_of_another_kind_is_refused(tmp_path: Path) -> None:
    certificate = Authority.create("ca").certificate_pem
    key = ed25519.Ed25519PrivateKey.generate()
    content = key.private_bytes(*PKCS8, serialization.NoEncryption())
    with pytest.raises(CertificateError, match=r"ca\.key: the key is neither EC nor RSA"):
        Authority.load(*files(tmp_path, certificate, content))


def test_a_file_without_a_key_is_refused(tmp_path: Path) -> None:
    certificate = Authority.create("ca").certificate_pem
    with pytest.raises(CertificateError, match=r"ca\.key: no PEM private key in it"):
        Authority.load(*files(tmp_path, certificate, certificate))


def test_clients_that_trust_two_authorities_do_not_notice_the_change(tmp_path: Path) -> None:
    old, new = Authority.create("ca"), Authority.create("ca")
    client = trusting(new.certificate_pem + old.certificate_pem)
    for name, authority in (("old", old), ("new", new)):
        (tmp_path / name).mkdir()
        pair = authority.issue_server("adapter", ["localhost"])
        handshake(serving_context(tmp_path / name, pair), client, "localhost")


def test_the_module_runs_as_the_command_does(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "certs", "ca", "--directory", tmp_path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [f"{tmp_path}/ca.crt", f"{tmp_path}/ca.key"]
