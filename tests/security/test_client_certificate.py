"""Which client certificates a front proxy's authority vouches for."""

from collections.abc import Sequence

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID
from hypothesis import given
from hypothesis import strategies as st

from adapter.security.client_certificate import verify
from certs.authority import Authority
from tests.security.making import FOR_CLIENTS, IS_AUTHORITY, NOON, Signer, days, der, pem

SIGNS_NOTHING = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=False,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def authority(first: int = -1, last: int = 1) -> Authority:
    """An authority that holds from day `first` to day `last`."""
    return Authority.create("front-proxy-ca", validity=days(first, last))


def believed(signer: Signer, extensions: Sequence[tuple[x509.ExtensionType, bool]]) -> str:
    """What becomes of a certificate for `front` with these extensions."""
    leaf = signer.sign("front", extensions)
    return verify(leaf.public_bytes(Encoding.DER), pem(signer.own([IS_AUTHORITY])), NOON)


def test_a_client_certificate_of_the_authority_gives_its_common_name() -> None:
    ca = authority()
    pair = ca.issue_client("front-proxy-client", validity=days(-1, 1))
    assert verify(der(pair), ca.certificate_pem, NOON) == "front-proxy-client"


def test_each_certificate_of_the_bundle_is_an_authority() -> None:
    old, new = authority(), authority()
    pair = old.issue_client("front", validity=days(-1, 1))
    for bundle in (
        old.certificate_pem + new.certificate_pem,
        new.certificate_pem + old.certificate_pem,
    ):
        assert verify(der(pair), bundle, NOON) == "front"


def test_an_authority_of_the_same_name_with_another_key_is_refused() -> None:
    pair = authority().issue_client("front", validity=days(-1, 1))
    with pytest.raises(ValueError, match="no authority of the front proxy signed it"):
        verify(der(pair), authority().certificate_pem, NOON)


def test_a_serving_certificate_is_refused() -> None:
    ca = authority()
    pair = ca.issue_server("front", ["front"], validity=days(-1, 1))
    with pytest.raises(ValueError, match="lack clientAuth"):
        verify(der(pair), ca.certificate_pem, NOON)


def test_an_expired_certificate_is_refused() -> None:
    ca = authority(first=-9, last=9)
    pair = ca.issue_client("front", validity=days(-3, -1))
    with pytest.raises(ValueError, match="it expired at 2026-11-30T12:00:00Z"):
        verify(der(pair), ca.certificate_pem, NOON)


def test_a_certificate_of_tomorrow_is_refused() -> None:
    ca = authority(first=-9, last=9)
    pair = ca.issue_client("front", validity=days(1, 3))
    with pytest.raises(ValueError, match="it is not valid before 2026-12-02T12:00:00Z"):
        verify(der(pair), ca.certificate_pem, NOON)


def test_a_certificate_does_not_outlive_its_authority() -> None:
    ca = authority(first=-9, last=-1)
    pair = ca.issue_client("front", validity=days(-3, 3))
    with pytest.raises(ValueError, match="it expired at 2026-11-30T12:00:00Z"):
        verify(der(pair), ca.certificate_pem, NOON)


def test_without_extended_key_usages_a_certificate_is_good_for_all() -> None:
    assert believed(Signer("ca"), []) == "front"


def test_any_extended_key_usage_covers_clients() -> None:
    uses = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE])
    assert believed(Signer("ca"), [(uses, False)]) == "front"


def test_an_unknown_critical_extension_is_refused() -> None:
    unknown = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")
    with pytest.raises(ValueError, match=r"unknown critical extension, 1\.2\.3\.4"):
        believed(Signer("ca"), [FOR_CLIENTS, (unknown, True)])


def test_a_leaf_signs_nobody() -> None:
    signer = Signer("leaf")
    leaf = signer.own([(x509.BasicConstraints(ca=False, path_length=None), True)])
    forged = signer.sign("front", [FOR_CLIENTS]).public_bytes(Encoding.DER)
    with pytest.raises(ValueError, match="no authority"):
        verify(forged, pem(leaf), NOON)


def test_an_authority_that_may_not_sign_certificates_signs_nobody() -> None:
    signer = Signer("ca")
    own = signer.own([IS_AUTHORITY, (SIGNS_NOTHING, True)])
    forged = signer.sign("front", [FOR_CLIENTS]).public_bytes(Encoding.DER)
    with pytest.raises(ValueError, match="no authority"):
        verify(forged, pem(own), NOON)


def test_an_intermediate_in_the_bundle_needs_no_root() -> None:
    root, middle = Signer("root"), Signer("middle")
    bundle = pem(root.sign("middle", [IS_AUTHORITY], key=middle.key))
    leaf = middle.sign("front", [FOR_CLIENTS]).public_bytes(Encoding.DER)
    assert verify(leaf, bundle, NOON) == "front"


def test_of_several_common_names_the_last_counts() -> None:
    """As Go reads them; the others must not open the door."""
    assert verify_names(["admin", "front"]) == "front"


def test_without_a_common_name_it_is_empty() -> None:
    assert verify_names([]) == ""


def verify_names(names: list[str]) -> str:
    """The common name that counts for a subject with these."""
    signer = Signer("ca")
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name) for name in names])
    leaf = signer.sign_subject(subject, [FOR_CLIENTS]).public_bytes(Encoding.DER)
    return verify(leaf, pem(signer.own([IS_AUTHORITY])), NOON)


@pytest.fixture(scope="module")
def bundle() -> bytes:
    return authority().certificate_pem


@given(st.binary())
def test_garbage_is_refused_in_words(bundle: bytes, garbage: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        verify(garbage, bundle, NOON)


def test_a_bundle_without_certificates_is_refused_in_words() -> None:
    pair = authority().issue_client("front", validity=days(-1, 1))
    with pytest.raises(ValueError, match=r"."):
        verify(der(pair), b"no bundle", NOON)
