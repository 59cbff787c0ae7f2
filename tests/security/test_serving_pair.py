"""Which files are served, and what is said when they cannot be."""

import os
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from adapter.errors import InputError
from adapter.security.serving_pair import PairFiles, pair_files
from adapter.settings import ServingSettings
from certs.authority import self_signed


def context() -> ssl.SSLContext:
    """A server's context without a pair."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


def written(directory: Path) -> PairFiles:
    """A good pair in files."""
    certificate, key = self_signed().write(directory, "pair")
    return PairFiles(certificate=certificate, key=key)


def test_the_flags_name_the_files() -> None:
    settings = ServingSettings(cert_file=Path("a.crt"), key_file=Path("a.key"))
    assert pair_files(settings) == PairFiles(certificate=Path("a.crt"), key=Path("a.key"))


def test_without_flags_a_self_signed_pair_is_made_for_the_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    files = pair_files(ServingSettings(cert_dir=folder))
    files.load_into(context())
    assert sorted(path.name for path in folder.iterdir()) == ["apiserver.crt", "apiserver.key"]
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600, 0o600]


def test_a_pair_in_the_folder_is_used_again(tmp_path: Path) -> None:
    settings = ServingSettings(cert_dir=tmp_path)
    before = pair_files(settings).certificate.read_bytes()
    assert pair_files(settings).certificate.read_bytes() == before


def test_half_a_pair_in_the_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "apiserver.key").write_text("mine")
    with pytest.raises(InputError, match="--cert-dir"):
        pair_files(ServingSettings(cert_dir=tmp_path))
    assert (tmp_path / "apiserver.key").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_told_with_the_cure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"--cert-dir: no self-signed pair .* name a folder"):
        pair_files(ServingSettings(cert_dir=tmp_path / "file" / "folder"))


def test_a_key_of_another_certificate_is_named(tmp_path: Path) -> None:
    files = written(tmp_path)
    files.key.write_bytes(self_signed().private_key_pem)
    with pytest.raises(ValueError, match=r"pair\.key is no PEM key of .*pair\.crt"):
        files.load_into(context())


def test_a_file_without_a_certificate_is_named(tmp_path: Path) -> None:
    files = written(tmp_path)
    files.certificate.write_text("none")
    with pytest.raises(ValueError, match=r"pair\.crt has no PEM certificate in it"):
        files.load_into(context())


def test_a_key_with_a_password_is_refused_and_nobody_is_asked_for_it(tmp_path: Path) -> None:
    files = written(tmp_path)
    key = serialization.load_pem_private_key(files.key.read_bytes(), None)
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    with pytest.raises(ValueError, match="the key has a password"):
        files.load_into(context())


def test_a_turned_link_changes_the_stamp(tmp_path: Path) -> None:
    """As the kubelet changes a mounted Secret: the paths stay, a folder's link is turned."""
    for name in ("one", "two"):
        written(tmp_path / name)
        for path in (tmp_path / name).iterdir():
            path.write_text(f"{name} of the same size")
            os.utime(path, (0, 0))
    link = tmp_path / "data"
    link.symlink_to("one")
    files = PairFiles(certificate=link / "pair.crt", key=link / "pair.key")
    before = files.stamp()
    link.unlink()
    link.symlink_to("two")
    assert files.stamp() != before


def test_missing_files_have_an_empty_stamp(tmp_path: Path) -> None:
    files = PairFiles(certificate=tmp_path / "no.crt", key=tmp_path / "no.key")
    assert files.stamp() == ()
