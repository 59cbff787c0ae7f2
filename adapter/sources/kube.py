"""kube-apiserver, as raw bodies over one pool of connections.

The Kubernetes client brings configuration, credentials and transport; its typed models are not
used, for they cost about a millisecond a pod. What the client and its HTTP library raise becomes
ClusterDown here and nowhere else.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, cast
from urllib.parse import urlencode

import aiohttp
import msgspec
from kubernetes.aio.client import Configuration
from kubernetes.aio.client.rest import RESTClientObject
from kubernetes.aio.config import ConfigException

from adapter.errors import ClusterDown, InputError
from adapter.sources import kube_config
from adapter.sources.errors import ClusterRefused, ConnectionLost
from adapter.sources.metadata import Status

_JSON = "application/json"
_CONNECT = 10.0
_LIST = aiohttp.ClientTimeout(total=60, sock_connect=_CONNECT, sock_read=30)
_REVIEW = aiohttp.ClientTimeout(total=10, sock_connect=_CONNECT)
# Bookmarks come about once a minute: longer silence means that the other side is gone.
_WATCH = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT, sock_read=120)
_LONGEST_WORDS = 300


class _Answer(Protocol):
    response: aiohttp.ClientResponse


class _Rest(Protocol):
    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: Mapping[str, object] | None,
        *,
        _request_timeout: aiohttp.ClientTimeout,
    ) -> _Answer: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    url: str
    method: str = "GET"
    accept: str = _JSON
    body: Mapping[str, object] | None = None
    limits: aiohttp.ClientTimeout = _LIST


class KubeApi:
    """Asks kube-apiserver; every error is a ClusterDown.

    ClusterRefused carries the status of an answer that is no success, ConnectionLost means that
    there was none. After a 401 the credentials are read again and the request is made once more.
    """

    @classmethod
    async def connect(cls, kubeconfig: Path | None) -> Self:
        """Read `kubeconfig`, or with None what a pod is given; asks nothing yet.

        Raises InputError with one line.
        """
        return cls(await kube_config.load(kubeconfig), kubeconfig)

    def __init__(self, configuration: Configuration, kubeconfig: Path | None) -> None:
        """Take a configuration ready made; `kubeconfig` is where it is read from again."""
        self._configuration = configuration
        self._kubeconfig = kubeconfig
        self._rest = cast("_Rest", RESTClientObject(configuration))

    async def get(
        self, path: str, params: Mapping[str, str] | None = None, *, accept: str = _JSON
    ) -> bytes:
        """Give the body at `path`."""
        return await self._body(_Request(url=self._url(path, params), accept=accept))

    async def post(self, path: str, body: Mapping[str, object]) -> bytes:
        """Send `body` as JSON, within ten seconds, and give the answer's body."""
        return await self._body(
            _Request(method="POST", url=self._url(path), body=body, limits=_REVIEW)
        )

    @asynccontextmanager
    async def watch(
        self, path: str, params: Mapping[str, str]
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a stream and give its lines, without what a cut leaves of a line."""
        request = _Request(url=self._url(path, params), limits=_WATCH)
        response = await self._response(request)
        async with response, aclosing(_lines(response.content)) as lines:
            yield lines

    async def aclose(self) -> None:
        """Close the connections."""
        await self._rest.close()

    def _url(self, path: str, params: Mapping[str, str] | None = None) -> str:
        query = f"?{urlencode(params)}" if params else ""
        return f"{self._configuration.host}{path}{query}"

    async def _body(self, request: _Request) -> bytes:
        response = await self._response(request)
        with _translated():
            async with response:
                return await response.read()

    async def _response(self, request: _Request) -> aiohttp.ClientResponse:
        response = await self._send(request)
        if response.status == 401:
            response.release()
            await self._renew()
            response = await self._send(request)
        if response.ok:
            return response
        with _translated():
            async with response:
                raise _refused(response, await response.read())

    async def _send(self, request: _Request) -> aiohttp.ClientResponse:
        with _translated():
            headers = {"Accept": request.accept}
            if bearer := await kube_config.authorization(self._configuration):
                headers["Authorization"] = bearer
            answer = await self._rest.request(
                request.method, request.url, headers, request.body, _request_timeout=request.limits
            )
            return answer.response

    async def _renew(self) -> None:
        try:
            fresh = await kube_config.load(self._kubeconfig)
        except InputError as error:
            raise ClusterDown(str(error)) from error
        self._configuration.api_key = fresh.api_key
        self._configuration.refresh_api_key_hook = fresh.refresh_api_key_hook


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        words = " ".join(str(error).split()) or type(error).__name__
        message = f"kube-apiserver does not answer: {words}"
        raise ConnectionLost(message) from error
    except (ValueError, ConfigException) as error:
        message = f"kube-apiserver cannot be asked: {error}"
        raise ClusterDown(message) from error


async def _lines(content: aiohttp.StreamReader) -> AsyncGenerator[bytes, None]:
    rest = bytearray()
    with _translated():
        async for chunk in content.iter_any():
            rest += chunk
            *whole, rest = rest.split(b"\n")
            for line in whole:
                if line.strip():
                    yield bytes(line)


def _refused(response: aiohttp.ClientResponse, body: bytes) -> ClusterRefused:
    asked = response.headers.get("Retry-After", "")
    return ClusterRefused(
        f"kube-apiserver answered {response.status}: {_words(body) or response.reason or ''}",
        status=response.status,
        retry_after=float(asked) if re.fullmatch(r"\d{1,4}", asked) else None,
    )


def _words(body: bytes) -> str:
    try:
        words = msgspec.json.decode(body, type=Status).message
    except (ValueError, RecursionError):
        return ""
    return " ".join(words.split())[:_LONGEST_WORDS]
