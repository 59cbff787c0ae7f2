"""Certificates do what they are for, and nothing else, in real handshakes."""

import base64
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from certs.authority import Authority, Pair, Validity, self_signed
from certs.errors import CertificateError
from tests.certs.loopback import handshake, serving_context, trusting

PAST = Validity(
    not_before=datetime(2020, 1, 1, tzinfo=UTC), not_after=datetime(2020, 1, 2, tzinfo=UTC)
)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.create("test-ca")


def parsed(pair: Pair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate_pem)


def test_a_serving_pair_is_trusted_under_each_of_its_names(
    authority: Authority, tmp_path: Path
) -> None:
    pair = authority.issue_server("adapter", ["adapter.metrics.svc", "localhost"], ["127.0.0.1"])
    server = serving_context(tmp_path, pair)
    client = trusting(authority.certificate_pem)
    for name in ("adapter.metrics.svc", "localhost", "127.0.0.1"):
        handshake(server, client, name)


def test_a_serving_pair_is_refused_under_another_name(authority: Authority, tmp_path: Path) -> None:
    server = serving_context(tmp_path, authority.issue_server("adapter", ["adapter.metrics.svc"]))
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(server, trusting(authority.certificate_pem), "adapter.other.svc")


def test_another_authority_of_the_same_name_is_not_trusted(
    authority: Authority, tmp_path: Path
) -> None:
    impostor = Authority.create("test-ca")
    server = serving_context(tmp_path, impostor.issue_server("adapter", ["localhost"]))
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, trusting(authority.certificate_pem), "localhost")


def test_an_expired_serving_pair_is_refused(authority: Authority, tmp_path: Path) -> None:
    pair = authority.issue_server("adapter", ["localhost"], validity=PAST)
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        handshake(serving_context(tmp_path, pair), trusting(authority.certificate_pem), "localhost")


def test_a_client_pair_is_accepted_by_a_server_that_asks_for_one(
    authority: Authority, tmp_path: Path
) -> None:
    client = trusting(authority.certificate_pem)
    client.load_cert_chain(*authority.issue_client("front-proxy").write(tmp_path, "client"))
    pair = authority.issue_server("adapter", ["localhost"])
    handshake(serving_context(tmp_path, pair, authority), client, "localhost")


def test_a_serving_pair_is_no_client_pair(authority: Authority, tmp_path: Path) -> None:
    pair = authority.issue_server("adapter", ["localhost"])
    client = trusting(authority.certificate_pem)
    client.load_cert_chain(*pair.write(tmp_path, "client"))
    with pytest.raises(ssl.SSLError):
        handshake(serving_context(tmp_path, pair, authority), client, "localhost")


def test_a_client_pair_is_no_serving_pair(authority: Authority, tmp_path: Path) -> None:
    server = serving_context(tmp_path, authority.issue_client("localhost"))
    with pytest.raises(ssl.SSLCertVerificationError, match="purpose"):
        handshake(server, trusting(authority.certificate_pem), "localhost")


def test_an_expired_client_pair_is_refused(authority: Authority, tmp_path: Path) -> None:
    client = trusting(authority.certificate_pem)
    expired = authority.issue_client("front-proxy", validity=PAST)
    client.load_cert_chain(*expired.write(tmp_path, "client"))
    pair = authority.issue_server("adapter", ["localhost"])
    with pytest.raises(ssl.SSLError):
        handshake(serving_context(tmp_path, pair, authority), client, "localhost")


def test_a_leaf_cannot_sign(authority: Authority, tmp_path: Path) -> None:
    """Its files are refused as an authority, so nothing of ours makes a chain below a leaf."""
    files = authority.issue_client("nobody").write(tmp_path, "leaf")
    with pytest.raises(CertificateError, match=r"leaf\.crt is no authority's certificate"):
        Authority.load(*files)


def test_the_authority_may_sign_leaves_only(authority: Authority) -> None:
    extensions = authority.certificate.extensions
    constraints = extensions.get_extension_for_class(x509.BasicConstraints)
    usage = extensions.get_extension_for_class(x509.KeyUsage)
    assert (constraints.critical, constraints.value.ca, constraints.value.path_length) == (
        True,
        True,
        0,
    )
    assert (usage.critical, usage.value.key_cert_sign, usage.value.crl_sign) == (True, True, True)


def test_a_client_pair_carries_user_and_groups(authority: Authority) -> None:
    certificate = parsed(authority.issue_client("jane", ["dev", "gpu"]))
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert [name.value for name in names] == ["jane"]
    assert [group.value for group in groups] == ["dev", "gpu"]


def test_each_leaf_has_one_purpose(authority: Authority) -> None:
    pairs = (authority.issue_server("a", ["localhost"]), authority.issue_client("a"))
    purposes = [
        list(parsed(pair).extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)
        for pair in pairs
    ]
    assert purposes == [[ExtendedKeyUsageOID.SERVER_AUTH], [ExtendedKeyUsageOID.CLIENT_AUTH]]


def test_keys_are_on_the_curve_p256_and_never_shared(authority: Authority) -> None:
    keys = [parsed(authority.issue_client("a")).public_key() for _ in range(2)]
    assert all(isinstance(key, ec.EllipticCurvePublicKey) for key in keys)
    assert {key.curve.name for key in keys if isinstance(key, ec.EllipticCurvePublicKey)} == {
        "secp256r1"
    }
    assert keys[0] != keys[1]


def test_validity_begins_an_hour_early_for_late_clocks(authority: Authority) -> None:
    noon = datetime(2030, 6, 1, 12, tzinfo=UTC)
    certificate = parsed(authority.issue_client("a", validity=Validity.days(30, now=noon)))
    assert certificate.not_valid_before_utc == noon - timedelta(hours=1)
    assert certificate.not_valid_after_utc == datetime(2030, 7, 1, 12, tzinfo=UTC)


def test_the_ca_bundle_is_base64_of_the_pem(authority: Authority) -> None:
    assert base64.b64decode(authority.ca_bundle(), validate=True) == authority.certificate_pem


def test_an_authority_read_back_signs_what_the_first_one_is_trusted_for(
    authority: Authority, tmp_path: Path
) -> None:
    loaded = Authority.load(*authority.write(tmp_path, "ca"))
    pair = loaded.issue_server("adapter", ["localhost"])
    handshake(serving_context(tmp_path, pair), trusting(authority.certificate_pem), "localhost")


def test_the_key_of_another_authority_is_refused(authority: Authority, tmp_path: Path) -> None:
    certificate, _ = authority.write(tmp_path, "one")
    _, key = Authority.create("other").write(tmp_path, "two")
    with pytest.raises(CertificateError, match=r"two\.key is not the key of .*one\.crt"):
        Authority.load(certificate, key)


@pytest.mark.parametrize("content", [b"", b"-----BEGIN CERTIFICATE-----\nx\n", b"\x00\xff"])
def test_a_broken_authority_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ca.crt").write_bytes(content)
    (tmp_path / "ca.key").write_bytes(content)
    with pytest.raises(CertificateError, match=r"ca\.crt: no PEM certificate in it"):
        Authority.load(tmp_path / "ca.crt", tmp_path / "ca.key")


@pytest.mark.parametrize(
    ("dns_names", "addresses", "message"),
    [
        (["10.0.0.1"], [], "'10.0.0.1' is an IP address"),
        (["a b"], [], "'a b' is not a DNS name"),
        (["bücher.example"], [], "is not a DNS name"),
        (["ok"], ["10.0.0"], "'10.0.0' is not an IP address"),
        ([], [], "at least one"),
    ],
)
def test_a_name_that_no_certificate_can_carry_is_refused(
    authority: Authority, dns_names: list[str], addresses: list[str], message: str
) -> None:
    with pytest.raises(CertificateError, match=message):
        authority.issue_server("adapter", dns_names, addresses)


@pytest.mark.parametrize("name", ["", "n" * 65])
def test_a_common_name_has_1_to_64_characters(authority: Authority, name: str) -> None:
    with pytest.raises(CertificateError, match="1 to 64"):
        authority.issue_client(name)


def test_a_self_signed_pair_is_trusted_by_who_trusts_exactly_it(tmp_path: Path) -> None:
    pair = self_signed(["adapter.metrics.svc", "127.0.0.2"], hostname="host-7")
    server, client = serving_context(tmp_path, pair), trusting(pair.certificate_pem)
    for name in ("localhost", "127.0.0.1", "host-7", "adapter.metrics.svc", "127.0.0.2"):
        handshake(server, client, name)


def test_a_host_name_that_no_certificate_can_carry_is_left_out() -> None:
    names = parsed(self_signed(hostname="not a name")).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.DNSName) == ["localhost"]


def test_a_private_key_is_not_shown_when_a_pair_is_printed(authority: Authority) -> None:
    pair = authority.issue_client("a")
    assert "PRIVATE" not in f"{pair!r} {authority!r}"
