"""One request to Prometheus: by which verb, and what goes into URL and body."""

from dataclasses import dataclass
from urllib.parse import urlencode

import httpx

from adapter.settings import PrometheusSettings
from adapter.sources.prometheus_address import Address

QUERY = "/api/v1/query"
NAMES = "/api/v1/label/__name__/values"
LABELS = "/api/v1/labels"
SERIES = "/api/v1/series"
METADATA = "/api/v1/metadata"
DISCOVERY = frozenset({NAMES, LABELS, SERIES, METADATA})
# Prometheus serves these by GET alone.
_BY_GET = frozenset({NAMES, METADATA})
_LONGEST_GET = 4096
# Servers and proxies take request lines up to 8 KiB; quoting makes a text up to thrice as long.
_LONGEST_LINE = 7168


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`fields` are Prometheus's parameters; `overlong` tells that they alone demand POST."""

    path: str
    fields: tuple[tuple[str, str], ...]
    verb: str
    overlong: bool = False

    @classmethod
    def of(
        cls, path: str, fields: tuple[tuple[str, str], ...], settings: PrometheusSettings
    ) -> "Request":
        """Choose the verb, and add for how long Prometheus may think about it.

        What is longer than 4 KiB goes by POST, unless GET is forced. A label's values and
        metadata go by GET always, as Prometheus serves them by GET alone.
        """
        told = (*fields, ("timeout", f"{max(1.0, settings.timeout * 1000):.0f}ms"))
        if path in _BY_GET or settings.force_get:
            return cls(path=path, fields=told, verb="GET")
        overlong = settings.verb == "GET" and _long(told)
        verb = "POST" if overlong else settings.verb
        return cls(path=path, fields=told, verb=verb, overlong=overlong)

    def url(self, address: Address) -> httpx.URL:
        """Give the whole URL; the address's own query is always in it."""
        url = address.at(self.path)
        return url.copy_merge_params(self.fields) if self.verb == "GET" else url

    @property
    def form(self) -> dict[str, str] | None:
        """Give the body, None when there is none."""
        return dict(self.fields) if self.verb == "POST" else None


def _long(fields: tuple[tuple[str, str], ...]) -> bool:
    # Half of a surrogate pair cannot be sent either way, which is told when it is.
    longest = max(len(value.encode(errors="replace")) for _, value in fields)
    return longest > _LONGEST_GET or len(urlencode(fields, errors="replace")) > _LONGEST_LINE
