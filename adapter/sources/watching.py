"""List, then watch, for as long as the program lives; the same for every kind.

Follows the API server's rules for efficient detection of changes: a list gives the version from
which the watch goes on, bookmarks move it forward, a broken connection resumes from it, and 410
(as status or as event) means that the history is gone and only a new list tells the truth.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol, TypeVar

import msgspec

from adapter.errors import ClusterDown
from adapter.sources.backoff import Backoff
from adapter.sources.errors import ClusterRefused
from adapter.sources.metadata import Event, Listing, Named, Status

log = logging.getLogger(__name__)
Item = TypeVar("Item")
_PAGE = "500"
_SHORTEST, _LONGEST = 300, 600


class Watched(Protocol):
    """What is asked of kube-apiserver."""

    async def get(self, path: str, params: Mapping[str, str]) -> bytes:
        """Give the body, or raise ClusterDown."""
        ...

    def watch(
        self, path: str, params: Mapping[str, str]
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Give the whole lines of a stream until it ends; raise ClusterDown when it breaks."""
        ...


class Keeper(Protocol[Item]):
    """Who is told what the watch learns."""

    def replace(self, items: list[Item]) -> None:
        """Forget all, keep these."""
        ...

    def put(self, item: Item) -> None:
        """Keep a new or changed one."""
        ...

    def drop(self, item: Item) -> None:
        """Forget one."""
        ...


class ListWatch(Generic[Item]):
    """Keeps `keeper` equal to the objects of type `kind` at `path` that `params` select."""

    def __init__(
        self,
        api: Watched,
        keeper: Keeper[Item],
        *,
        kind: type[Item],
        path: str,
        params: Mapping[str, str],
        backoff: Backoff,
    ) -> None:
        """Ask nothing yet."""
        self._api = api
        self._keeper = keeper
        self._path = path
        self._params = dict(params)
        self._pages = msgspec.json.Decoder(Listing[kind])  # type: ignore[valid-type]  # msgspec reads it at run time
        self._items = msgspec.json.Decoder(kind)
        self._backoff = backoff
        self._version = ""
        self._failing = False

    async def run(self) -> None:
        """List and watch for ever; a failure is logged once, until all is well again."""
        while True:
            try:
                await self._follow()
            except ClusterDown as error:
                self._failed(error)
            await asyncio.sleep(self._backoff.next())

    async def _follow(self) -> None:
        if not self._version:
            await self._list()
        async with self._api.watch(self._path, self._watch_params()) as lines:
            self._well()
            async for line in lines:
                self._backoff.reset()
                self._apply(line)

    def _watch_params(self) -> dict[str, str]:
        # Spread, so that replicas and clusters do not come back all at once.
        seconds = random.randint(_SHORTEST, _LONGEST)  # noqa: S311  (no secret)
        return self._params | {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(seconds),
        }

    async def _list(self) -> None:
        items: list[Item] = []
        params = self._params | {"limit": _PAGE}
        while True:
            page = _decoded(self._pages, await self._api.get(self._path, params))
            items += page.items or []
            if not page.metadata.continue_:
                break
            params["continue"] = page.metadata.continue_
        self._keeper.replace(items)
        self._version = page.metadata.resource_version

    def _apply(self, line: bytes) -> None:
        try:
            event = msgspec.json.decode(line, type=Event)
            self._tell(event)
            self._version = _version(event) or self._version
        except ValueError as error:
            self._version = ""
            message = f"an event is not understood: {error}"
            raise ClusterDown(message) from error

    def _tell(self, event: Event) -> None:
        match event.type:
            case "ADDED" | "MODIFIED":
                self._keeper.put(self._items.decode(event.object))
            case "DELETED":
                self._keeper.drop(self._items.decode(event.object))
            case "ERROR":
                self._version = ""
                raise _refused(event)
            case _:  # a bookmark, which moves the version alone
                pass

    def _failed(self, error: ClusterDown) -> None:
        status = error.status if isinstance(error, ClusterRefused) else 0
        if 400 <= status < 500 and status != 429:
            # This very version or request was refused: only a new list can be right.
            self._version = ""
        if status == 410 or self._failing:
            return
        self._failing = True
        log.warning("watch lost", extra={"path": self._path, "cause": str(error)})

    def _well(self) -> None:
        if self._failing:
            log.warning("watch is back", extra={"path": self._path})
        self._failing = False


def _decoded(decoder: msgspec.json.Decoder[Listing[Item]], body: bytes) -> Listing[Item]:
    try:
        return decoder.decode(body)
    except ValueError as error:
        message = f"kube-apiserver's list is not understood: {error}"
        raise ClusterDown(message) from error


def _version(event: Event) -> str:
    return msgspec.json.decode(event.object, type=Named).metadata.resource_version


def _refused(event: Event) -> ClusterRefused:
    status = msgspec.json.decode(event.object, type=Status)
    return ClusterRefused(
        f"kube-apiserver ended the watch: {status.code} {status.message}", status=status.code
    )
