"""Key files: 0600, whole or absent, never overwritten unasked."""

import os
from pathlib import Path

import pytest

from certs.authority import Authority, self_signed
from certs.errors import CertificateError
from certs.files import write_private


def test_files_are_for_their_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        paths = self_signed().write(tmp_path / "new", "tls")
    finally:
        os.umask(before)
    assert [path.name for path in paths] == ["tls.crt", "tls.key"]
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o600, 0o600]
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_the_key_file_holds_the_key_of_the_certificate_file(tmp_path: Path) -> None:
    authority = Authority.create("ca")
    certificate, key = authority.write(tmp_path, "ca")
    assert certificate.read_bytes() == authority.certificate_pem
    assert key.read_bytes() == authority.private_key_pem


def test_nothing_is_written_when_one_file_exists(tmp_path: Path) -> None:
    (tmp_path / "tls.crt").write_text("mine")
    with pytest.raises(CertificateError, match=r"tls\.crt already exists: give --force"):
        self_signed().write(tmp_path, "tls")
    assert [path.name for path in tmp_path.iterdir()] == ["tls.crt"]
    assert (tmp_path / "tls.crt").read_text() == "mine"


def test_force_overwrites_and_tightens_the_mode(tmp_path: Path) -> None:
    key = tmp_path / "tls.key"
    key.write_text("old")
    key.chmod(0o644)
    pair = self_signed()
    pair.write(tmp_path, "tls", force=True)
    assert key.read_bytes() == pair.private_key_pem
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_link_that_leads_nowhere_is_a_file_that_exists(tmp_path: Path) -> None:
    (tmp_path / "tls.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CertificateError, match=r"tls\.key already exists"):
        self_signed().write(tmp_path, "tls")


def test_a_failed_write_leaves_no_draft_and_says_where(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(CertificateError, match=r"taken: cannot be written: Is a directory"):
        write_private({tmp_path / "taken": b"x"}, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
