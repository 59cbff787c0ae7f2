"""Where Prometheus is, and where its redirects may take us."""

import base64
from dataclasses import dataclass

import httpx

from adapter.errors import InputError, Problem, PrometheusDown

_KEEPING_THE_VERB = frozenset({301, 302, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A URL's parts: `base` with the path prefix, without a slash at its end; the URL's own query.

    `basic` is the Authorization value of its user-info, empty when it has none. `secrets` are the
    parts of the text that no message may show.
    """

    base: str
    query: str
    basic: str
    secrets: tuple[str, ...]

    def at(self, path: str) -> httpx.URL:
        """Give the URL of an endpoint; it carries no user-info."""
        return httpx.URL(f"{self.base}{path}" + (f"?{self.query}" if self.query else ""))


def address(text: str) -> Address:
    """Read `--prometheus-url`; raises InputError, which does not repeat the text."""
    url = _parsed(text)
    # Raised without its cause, whose text shows parts of the URL.
    if url is None:
        raise _bad_url("is not a URL")
    if url.scheme not in {"http", "https"} or not url.host:
        raise _bad_url("is not an http or https URL with a host")
    path = url.raw_path.partition(b"?")[0].decode().rstrip("/")
    word = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
    return Address(
        base=f"{url.scheme}://{url.netloc.decode()}{path}",
        query=url.query.decode(),
        basic=f"Basic {word}" if url.userinfo else "",
        secrets=(url.password, url.userinfo.decode().partition(":")[2], word, *_values(url)),
    )


def onward(url: httpx.URL, response: httpx.Response) -> httpx.URL | None:
    """Give where a redirect sends the same request, None when `response` is none that we follow.

    A redirect is followed on the same host alone, as the credentials go with it; from http to
    https too, never back. Raises PrometheusDown naming the other host.
    """
    location = response.headers.get("location")
    if response.status_code not in _KEEPING_THE_VERB or not location:
        return None
    target = url.join(location).copy_with(username=None, password=None)
    upgraded = target.host == url.host and (url.scheme, target.scheme) == ("http", "https")
    if upgraded or _origin(target) == _origin(url):
        return target
    there = f"{target.scheme}://{target.netloc.decode()}"
    message = f"Prometheus answered {response.status_code}: it sends us to {there}, not followed"
    raise PrometheusDown(message)


def _parsed(text: str) -> httpx.URL | None:
    try:
        return httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        return None


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _values(url: httpx.URL) -> list[str]:
    return [value for _, value in url.params.multi_items() if value not in {"true", "false"}]


def _bad_url(fault: str) -> InputError:
    return InputError(
        [
            Problem(
                file="command line",
                key="--prometheus-url",
                fault=fault,
                cure="give one like http://prometheus-operated.prometheus.svc:9090",
            )
        ]
    )
