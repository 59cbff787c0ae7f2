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
_AUTHORIZATION = b"authorization"
_REMOTE = b"x-remote-"


class RemoteHeaders:
    """The headers of one front proxy's configuration; headers come with names in lower case."""

    def __init__(self, proxy: FrontProxy | None) -> None:
        """Prepare the configured names; None has none."""
        self._user = _encoded(proxy.username_headers) if proxy else ()
        self._uid = _encoded(proxy.uid_headers) if proxy else ()
        self._group = _encoded(proxy.group_headers) if proxy else ()
        self._extra = _encoded(proxy.extra_prefixes) if proxy else ()
        self._names = frozenset((_AUTHORIZATION, *self._user, *self._uid, *self._group))
        self._prefixes = (_REMOTE, *self._extra)

    def user(self, headers: Headers) -> User | None:
        """Give the user that the headers name, None when they name nobody.

        The first configured header that has a value names the user; every value of every group
        header is a group, in order. Extra keys are lower-cased and percent-decoded, left as they
        are when that cannot be done. Bytes are UTF-8; what is not becomes U+FFFD.
        """
        told = [header for header in headers if self._tells(header[0])]
        name = next(_values(told, self._user), "")
        if not name:
            return None
        return User(
            name=name,
            uid=next(_values(told, self._uid), ""),
            groups=tuple(_values(told, self._group)),
            extra=_extra(told, self._extra),
        )

    def strip(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        """Give the headers that say nothing about who asks; X-Remote-* always goes."""
        return [header for header in headers if not self._tells(header[0])]

    def _tells(self, name: bytes) -> bool:
        return name in self._names or name.startswith(self._prefixes)


def _values(headers: Headers, names: Iterable[bytes]) -> Iterator[str]:
    for wanted in names:
        for name, value in headers:
            if name == wanted and value:
                yield _text(value)


def _extra(headers: Headers, prefixes: Sequence[bytes]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for prefix in prefixes:
        for name, value in headers:
            if name.startswith(prefix) and len(name) > len(prefix):
                found.setdefault(_key(name[len(prefix) :]), []).append(_text(value))
    return tuple((key, tuple(values)) for key, values in found.items())


def _key(escaped: bytes) -> str:
    if b"%" not in escaped or _MALFORMED_ESCAPE.search(escaped):
        return _text(escaped)
    return _text(unquote_to_bytes(escaped))


def _encoded(names: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(name.lower().encode() for name in names)


def _text(value: bytes) -> str:
    return value.decode(errors="replace")
