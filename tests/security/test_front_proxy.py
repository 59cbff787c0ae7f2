"""The front proxy of the flags."""

from pathlib import Path

import pytest

from adapter.errors import InputError
from adapter.model.identity import FrontProxy
from adapter.security.front_proxy import front_proxy_of
from adapter.settings import AuthenticationSettings
from certs.authority import Authority


def test_without_a_file_the_flags_describe_none() -> None:
    settings = AuthenticationSettings(requestheader_allowed_names=("front",))
    assert front_proxy_of(settings) is None


def test_with_a_file_everything_comes_from_the_flags(tmp_path: Path) -> None:
    authority = Authority.create("ca")
    path, _ = authority.write(tmp_path, "ca")
    settings = AuthenticationSettings(
        requestheader_ca_file=path,
        requestheader_allowed_names=("front",),
        requestheader_username_headers=("X-User", " X-Remote-User"),
    )
    assert front_proxy_of(settings) == FrontProxy(
        ca_pem=authority.certificate_pem,
        allowed_names=("front",),
        username_headers=("x-user", "x-remote-user"),
        group_headers=("x-remote-group",),
        extra_prefixes=("x-remote-extra-",),
    )


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_a_file_without_certificates_is_told_with_the_flag(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "ca.crt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"ca\.crt: --requestheader-client-ca-file: no PEM"):
        front_proxy_of(AuthenticationSettings(requestheader_ca_file=path))
