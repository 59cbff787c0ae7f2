"""Names that certificates carry, checked before cryptography sees them."""

import ipaddress
import re
from collections.abc import Sequence

from cryptography import x509
from cryptography.x509.oid import NameOID

from certs.errors import CertificateError

# RFC 1123 labels, a leading wildcard, and the underscore that container host names have.
_DNS = re.compile(r"(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_-]+)*", re.ASCII)


def subject(common_name: str, organizations: Sequence[str] = ()) -> x509.Name:
    """The subject: one CN (1 to 64 characters, RFC 5280's bound) and one O for each organization."""
    attributes = [_attribute(NameOID.ORGANIZATION_NAME, "group", name) for name in organizations]
    return x509.Name([*attributes, _attribute(NameOID.COMMON_NAME, "common name", common_name)])


def alternative_names(
    dns_names: Sequence[str], ip_addresses: Sequence[str]
) -> x509.SubjectAlternativeName:
    """The SAN extension, each name once, in the order given; raises CertificateError on a bad one."""
    names: list[x509.GeneralName] = [_dns(name) for name in dict.fromkeys(dns_names)]
    names += [x509.IPAddress(_address(text)) for text in dict.fromkeys(ip_addresses)]
    if not names:
        raise CertificateError("a serving certificate needs at least one DNS name or IP address")
    return x509.SubjectAlternativeName(names)


def is_dns_name(text: str) -> bool:
    """Whether a certificate can carry the text as a DNS name (an IP address is none)."""
    return _DNS.fullmatch(text) is not None and len(text) <= 253 and not is_address(text)


def is_address(text: str) -> bool:
    """Whether the text is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _attribute(kind: x509.ObjectIdentifier, what: str, value: str) -> "x509.NameAttribute[str]":
    if not 1 <= len(value) <= 64:
        raise CertificateError(
            f"{what} {value!r} has {len(value)} characters: 1 to 64 are possible"
        )
    return x509.NameAttribute(kind, value)


def _dns(name: str) -> x509.DNSName:
    if is_address(name):
        raise CertificateError(f"{name!r} is an IP address, not a DNS name: give it as such (--ip)")
    if not is_dns_name(name):
        raise CertificateError(f"{name!r} is not a DNS name: letters, digits, '-' and '.' only")
    return x509.DNSName(name)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError as exc:
        raise CertificateError(f"{text!r} is not an IP address") from exc
