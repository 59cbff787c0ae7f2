"""Handshakes: what is served, who may show a certificate, and what changes while running."""

import logging
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from adapter.errors import InputError
from adapter.model.identity import FrontProxy
from adapter.security.tls import ServingCertificate
from adapter.settings import ServingSettings
from certs.authority import Authority, Pair, self_signed
from tests.security.handshakes import shake, visitor
from tests.security.making import FOR_CLIENTS, IS_AUTHORITY, Signer, days, der, pem

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.create("front-proxy-ca")


@pytest.fixture(scope="module")
def front(authority: Authority) -> Pair:
    return authority.issue_client("front-proxy-client")


@pytest.fixture
def settings(tmp_path: Path) -> ServingSettings:
    certificate, key = self_signed().write(tmp_path, "serving")
    return ServingSettings(cert_file=certificate, key_file=key)


def replace_pair(settings: ServingSettings) -> Pair:
    """Write another pair over the served one."""
    assert settings.cert_file is not None
    pair = self_signed()
    pair.write(settings.cert_file.parent, "serving", force=True)
    return pair


def serving(settings: ServingSettings, *bundle: bytes) -> ServingCertificate:
    """What serves in a cluster whose front proxy's authorities are these."""
    proxy = FrontProxy(ca_pem=b"".join(bundle)) if bundle else None
    return ServingCertificate(settings, lambda: proxy)


def test_without_a_certificate_clients_are_served(
    settings: ServingSettings, authority: Authority, tmp_path: Path
) -> None:
    server = serving(settings, authority.certificate_pem).context
    assert shake(server, visitor(tmp_path)).shown_to_server is None


@pytest.mark.parametrize("name", ["localhost", None], ids=["named", "unnamed"])
def test_a_front_proxys_certificate_reaches_the_server(
    settings: ServingSettings, authority: Authority, front: Pair, tmp_path: Path, name: str | None
) -> None:
    server = serving(settings, authority.certificate_pem).context
    assert shake(server, visitor(tmp_path, front), name).shown_to_server == der(front)


def test_an_expired_certificate_reaches_the_server_too(
    settings: ServingSettings, authority: Authority, tmp_path: Path
) -> None:
    """So that its owner gets an answer, 401, in place of a connection that breaks."""
    expired = authority.issue_client("front", validity=days(-3, -1, now=NOW))
    server = serving(settings, authority.certificate_pem).context
    assert shake(server, visitor(tmp_path, expired)).shown_to_server == der(expired)


def test_a_certificate_of_another_authority_breaks_the_handshake(
    settings: ServingSettings, authority: Authority, tmp_path: Path
) -> None:
    other = Authority.create("front-proxy-ca").issue_client("front-proxy-client")
    server = serving(settings, authority.certificate_pem).context
    with pytest.raises(ssl.SSLCertVerificationError):
        shake(server, visitor(tmp_path, other))


def test_a_serving_certificate_breaks_the_handshake(
    settings: ServingSettings, authority: Authority, tmp_path: Path
) -> None:
    wrong = authority.issue_server("front-proxy-client", ["front"])
    server = serving(settings, authority.certificate_pem).context
    with pytest.raises(ssl.SSLCertVerificationError, match="purpose"):
        shake(server, visitor(tmp_path, wrong))


def test_without_a_front_proxy_a_certificate_breaks_the_handshake(
    settings: ServingSettings, front: Pair, tmp_path: Path
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        shake(serving(settings).context, visitor(tmp_path, front))


def test_an_intermediate_is_an_authority_without_its_root(
    settings: ServingSettings, tmp_path: Path
) -> None:
    root, middle = Signer("root"), Signer("middle")
    bundle = pem(root.sign("middle", [IS_AUTHORITY], key=middle.key))
    leaf, key = middle.with_key("front", [FOR_CLIENTS])
    pair = Pair(certificate_pem=pem(leaf), private_key_pem=key)
    shown = shake(serving(settings, bundle).context, visitor(tmp_path, pair)).shown_to_server
    assert shown == leaf.public_bytes(Encoding.DER)


def accepted(server: ssl.SSLContext, directory: Path, pairs: Sequence[Pair]) -> list[bool]:
    """Which of the pairs get through the handshake."""
    outcomes = []
    for pair in pairs:
        try:
            shake(server, visitor(directory, pair))
            outcomes.append(True)
        except ssl.SSLCertVerificationError:
            outcomes.append(False)
    return outcomes


def test_a_changed_authority_holds_from_the_next_handshake(
    settings: ServingSettings, authority: Authority, front: Pair, tmp_path: Path
) -> None:
    """Unknown, old, old and new, new alone, as a rotation goes; the names are the same."""
    following = Authority.create("front-proxy-ca")
    pairs = [front, following.issue_client("front-proxy-client")]
    old, new = authority.certificate_pem, following.certificate_pem
    proxies: list[FrontProxy | None] = [None]
    server = ServingCertificate(settings, lambda: proxies[-1]).context
    outcomes = [accepted(server, tmp_path, pairs)]
    for bundle in (old, old + new, new):
        proxies.append(FrontProxy(ca_pem=bundle))
        outcomes.append(accepted(server, tmp_path, pairs))
    assert outcomes == [[False, False], [True, False], [True, True], [False, True]]


def test_a_changed_pair_is_served_from_the_next_handshake(
    settings: ServingSettings, tmp_path: Path
) -> None:
    certificate = serving(settings)
    shake(certificate.context, visitor(tmp_path))
    pair = replace_pair(settings)
    assert shake(certificate.context, visitor(tmp_path)).shown_to_client == der(pair)


def test_half_a_change_leaves_the_pair_before_and_is_told_once(
    settings: ServingSettings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificate = serving(settings)
    before = shake(certificate.context, visitor(tmp_path)).shown_to_client
    assert settings.cert_file is not None
    settings.cert_file.write_bytes(self_signed().certificate_pem)
    with caplog.at_level(logging.INFO, "adapter"):
        shown = [shake(certificate.context, visitor(tmp_path)).shown_to_client for _ in range(2)]
    assert shown == [before, before]
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_the_second_half_of_a_change_is_taken_up(settings: ServingSettings, tmp_path: Path) -> None:
    certificate, pair = serving(settings), self_signed()
    assert settings.cert_file is not None
    assert settings.key_file is not None
    settings.cert_file.write_bytes(pair.certificate_pem)
    shake(certificate.context, visitor(tmp_path))
    settings.key_file.write_bytes(pair.private_key_pem)
    assert shake(certificate.context, visitor(tmp_path)).shown_to_client == der(pair)


def test_files_that_vanish_leave_the_pair_before(settings: ServingSettings, tmp_path: Path) -> None:
    certificate = serving(settings)
    before = shake(certificate.context, visitor(tmp_path)).shown_to_client
    assert settings.key_file is not None
    settings.key_file.unlink()
    assert shake(certificate.context, visitor(tmp_path)).shown_to_client == before


def test_an_authority_changes_although_the_pair_cannot_be_used(
    settings: ServingSettings, authority: Authority, front: Pair, tmp_path: Path
) -> None:
    proxies: list[FrontProxy | None] = [None]
    certificate = ServingCertificate(settings, lambda: proxies[-1])
    assert settings.key_file is not None
    settings.key_file.write_text("no key")
    proxies.append(FrontProxy(ca_pem=authority.certificate_pem))
    assert accepted(certificate.context, tmp_path, [front]) == [True]


def test_an_unusable_authority_leaves_clients_without_certificates_served(
    settings: ServingSettings, tmp_path: Path
) -> None:
    server = serving(settings, b"no certificate").context
    assert shake(server, visitor(tmp_path)).shown_to_client is not None


def test_tls_1_1_is_refused(settings: ServingSettings, tmp_path: Path) -> None:
    client = visitor(tmp_path)
    client.set_ciphers("DEFAULT@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        client.minimum_version = client.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError, match="UNSUPPORTED_PROTOCOL"):
        shake(serving(settings).context, client)


def test_the_lowest_version_can_be_raised(settings: ServingSettings, tmp_path: Path) -> None:
    strict = ServingSettings(
        cert_file=settings.cert_file, key_file=settings.key_file, min_version="VersionTLS13"
    )
    client = visitor(tmp_path)
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError, match="UNSUPPORTED_PROTOCOL"):
        shake(serving(strict).context, client)


def test_only_the_chosen_cipher_suites_are_spoken(
    settings: ServingSettings, tmp_path: Path
) -> None:
    chosen = ServingSettings(
        cert_file=settings.cert_file,
        key_file=settings.key_file,
        ciphers="TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    )
    client = visitor(tmp_path)
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    spoken = shake(serving(chosen).context, client).client.cipher()
    assert spoken is not None
    assert spoken[0] == "ECDHE-ECDSA-AES256-GCM-SHA384"


def test_an_unknown_cipher_suite_is_an_error_of_the_flags(settings: ServingSettings) -> None:
    wrong = ServingSettings(
        cert_file=settings.cert_file, key_file=settings.key_file, ciphers="TLS_NONE"
    )
    with pytest.raises(InputError, match=r"--tls-cipher-suites: unknown .* TLS_NONE"):
        serving(wrong)


def test_a_pair_that_cannot_be_used_is_an_error_of_the_flags(tmp_path: Path) -> None:
    settings = ServingSettings(cert_file=tmp_path / "no.crt", key_file=tmp_path / "no.key")
    with pytest.raises(InputError, match=r"no\.crt cannot be read: No such file"):
        serving(settings)


def test_a_pair_is_loaded_until_it_expires(settings: ServingSettings) -> None:
    """The pair was made for a year."""
    times = [NOW, NOW + timedelta(days=366)]
    certificate = ServingCertificate(settings, lambda: None, now=lambda: times.pop(0))
    assert [certificate.loaded, certificate.loaded] == [True, False]
    assert abs(certificate.expires_at - (NOW + timedelta(days=365))) < timedelta(hours=1)
