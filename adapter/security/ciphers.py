"""Cipher suites of TLS 1.2 by the names that Kubernetes' flags use, for OpenSSL."""

import ssl

_TLS_13 = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}


def openssl_list(names: str) -> str:
    """Give OpenSSL's form of a list of IANA or OpenSSL names separated by commas.

    Suites of TLS 1.3 are always on and left out, so the list may come out empty.
    Raises ValueError naming every suite that this machine's OpenSSL does not offer.
    """
    given = [name.strip() for name in names.split(",")]
    wanted = [name for name in given if name and name not in _TLS_13]
    if unknown := [name for name in wanted if not _is_offered(openssl_name(name))]:
        raise ValueError(f"unknown or unsafe cipher suites: {', '.join(unknown)}")
    return ":".join(openssl_name(name) for name in wanted)


def openssl_name(name: str) -> str:
    """Give OpenSSL's name of the suite that IANA calls `name`; other names are given back."""
    exchange, has_both, cipher = name.removeprefix("TLS_").partition("_WITH_")
    if not has_both:
        return name
    cipher = cipher.replace("AES_", "AES").replace("_CBC", "")
    if cipher.startswith("CHACHA20_POLY1305"):
        cipher = "CHACHA20_POLY1305"
    parts = [cipher] if exchange == "RSA" else [exchange, cipher]
    return "-".join(parts).replace("_", "-")


def _is_offered(name: str) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.set_ciphers(name)
    except ssl.SSLError:
        return False
    return any(suite["name"] == name for suite in context.get_ciphers())
