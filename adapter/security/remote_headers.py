"""The user whom a front proxy names in its headers, and headers without any of that.

Reads headers as Kubernetes' request-header authenticator does. Nothing here decides whether the
headers may be believed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote_to_bytes

from adapter.model.identity import FrontProxy, User

Headers = Sequence[tuple[bytes, bytes]]

_MALFORMED_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_ALWAYS_REMOVED = (b"x-remote-", b"authorization")


def user_of(headers: Headers, proxy: FrontProxy) -> User | None:
    """Give the user that `headers` (names in lower case) name, None when they name nobody.

    The first configured header that has a value names the user; every value of every group header
    is a group, in order. Extra keys are lower-cased and percent-decoded, left as they are when that
    cannot be done. Bytes are UTF-8; what is not becomes U+FFFD.
    """
    name = next(_values(headers, proxy.username_headers), "")
    if not name:
        return None
    return User(
        name=name,
        uid=next(_values(headers, proxy.uid_headers), ""),
        groups=tuple(_values(headers, proxy.group_headers)),
        extra=_extra(headers, proxy.extra_prefixes),
    )


def without_credentials(headers: Headers, proxy: FrontProxy | None) -> list[tuple[bytes, bytes]]:
    """Give the headers that say nothing about who asks; X-Remote-* goes whatever is configured."""
    named = set(_encoded(_identity_headers(proxy))) if proxy else set()
    prefixes = (*_ALWAYS_REMOVED, *_encoded(proxy.extra_prefixes if proxy else ()))
    return [
        (name, value)
        for name, value in headers
        if name not in named and not name.startswith(prefixes)
    ]


def _identity_headers(proxy: FrontProxy) -> tuple[str, ...]:
    return (*proxy.username_headers, *proxy.group_headers, *proxy.uid_headers)


def _values(headers: Headers, names: Iterable[str]) -> Iterator[str]:
    for wanted in _encoded(names):
        yield from (_text(value) for name, value in headers if name == wanted and value)


def _extra(headers: Headers, prefixes: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for prefix in _encoded(prefixes):
        for name, value in headers:
            if name.startswith(prefix) and len(name) > len(prefix):
                found.setdefault(_key(name[len(prefix) :]), []).append(_text(value))
    return tuple((key, tuple(values)) for key, values in found.items())


def _key(escaped: bytes) -> str:
    if _MALFORMED_ESCAPE.search(escaped):
        return _text(escaped)
    return _text(unquote_to_bytes(escaped))


def _encoded(names: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(name.lower().encode() for name in names)


def _text(value: bytes) -> str:
    return value.decode(errors="replace")
