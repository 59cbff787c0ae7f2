"""Names of cipher suites."""

import pytest

from adapter.security.ciphers import openssl_list, openssl_name


@pytest.mark.parametrize(
    ("name", "openssl"),
    [
        ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"),
        ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"),
        ("TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
    ],
)
def test_the_names_of_kubernetes_flags_have_names_in_openssl(name: str, openssl: str) -> None:
    assert openssl_name(name) == openssl
    assert openssl_list(name) == openssl


def test_the_order_is_kept_and_tls_1_3_is_always_on() -> None:
    names = (
        "TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,ECDHE-RSA-AES128-GCM-SHA256"
    )
    assert openssl_list(names) == "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256"


@pytest.mark.parametrize("name", ["TLS_NO_WITH_NOTHING", "ALL", "@SECLEVEL=0", "!aNULL"])
def test_what_is_no_suite_is_refused_by_name(name: str) -> None:
    """Not OpenSSL's expressions either: they would widen the list unseen."""
    with pytest.raises(ValueError, match=name):
        openssl_list(f"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,{name}")
