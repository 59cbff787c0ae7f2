"""Whose word about users is believed: the cluster's ConfigMap about the front proxy, watched."""

import logging

import msgspec

from adapter.model.identity import FrontProxy
from adapter.sources.backoff import Backoff
from adapter.sources.metadata import Metadata
from adapter.sources.watching import ListWatch, Watched

log = logging.getLogger(__name__)
NAME = "extension-apiserver-authentication"


class ConfigMap(msgspec.Struct):
    """The fields of a ConfigMap that are read."""

    metadata: Metadata
    data: dict[str, str] | None = None


class FrontProxyWatch:
    """Keeps `current` as ConfigMap kube-system/extension-apiserver-authentication has it.

    `current` is None until it was read, when it is gone, when the cluster has no front proxy and
    when the ConfigMap is not understood: then headers count for nothing. `read` turns true with
    the first answer and stays.
    """

    def __init__(self, api: Watched, *, backoff: Backoff | None = None) -> None:
        """Ask nothing yet."""
        self.current: FrontProxy | None = None
        self.read = False
        self._watch = ListWatch(
            api,
            self,
            kind=ConfigMap,
            path="/api/v1/namespaces/kube-system/configmaps",
            params={"fieldSelector": f"metadata.name={NAME}"},
            backoff=backoff or Backoff(),
        )

    async def run(self) -> None:
        """Watch for ever."""
        await self._watch.run()

    def replace(self, items: list[ConfigMap]) -> None:
        """Take a complete list: the one ConfigMap, or nothing."""
        self.current = None
        for item in items:
            self.put(item)
        self.read = True

    def put(self, item: ConfigMap) -> None:
        """Take the ConfigMap, new or changed."""
        if item.metadata.name == NAME:
            self.current = _understood(item.data or {})

    def drop(self, item: ConfigMap) -> None:
        """Take the ConfigMap's end."""
        if item.metadata.name == NAME:
            self.current = None


def front_proxy(data: dict[str, str]) -> FrontProxy | None:
    """Read the ConfigMap's data; None without a requestheader CA.

    All keys but the CA's are JSON lists of strings; a missing one is an empty list. Raises
    ValueError naming the key that is not one.
    """
    ca = data.get("requestheader-client-ca-file", "")
    if not ca.strip():
        return None
    return FrontProxy(
        ca_pem=ca.encode(),
        allowed_names=_names(data, "requestheader-allowed-names"),
        username_headers=_headers(data, "requestheader-username-headers"),
        group_headers=_headers(data, "requestheader-group-headers"),
        extra_prefixes=_headers(data, "requestheader-extra-headers-prefix"),
        uid_headers=_headers(data, "requestheader-uid-headers"),
    )


def _understood(data: dict[str, str]) -> FrontProxy | None:
    try:
        return front_proxy(data)
    except ValueError as error:
        log.error("front proxy configuration not understood", extra={"cause": str(error)})  # noqa: TRY400  (the cause says it all)
        return None


def _headers(data: dict[str, str], key: str) -> tuple[str, ...]:
    return tuple(name.lower() for name in _names(data, key))


def _names(data: dict[str, str], key: str) -> tuple[str, ...]:
    text = data.get(key, "")
    if not text:
        return ()
    try:
        return tuple(msgspec.json.decode(text, type=list[str]))
    except ValueError as error:
        message = f"{key}: {error}"
        raise ValueError(message) from error
