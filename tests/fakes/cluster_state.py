"""Objects, versions and history, by the rules of kube-apiserver's lists and watches. No I/O."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Document = dict[str, Any]
_COLLECTION = re.compile(r"(/api/v1|/apis/[^/]+/[^/]+)(?:/namespaces/([^/]+))?/([a-z]+)")
_TERM = re.compile(r"([\w.]+)(!=|=)(.*)")


@dataclass(frozen=True, slots=True)
class Change:
    """One write; `before` and `after` are None where the object was or is not there."""

    version: int
    collection: str
    before: Document | None
    after: Document | None


class Expired(Exception):  # noqa: N818  (the reason's own name)
    """The version asked for is older than the history that is kept."""


def pod(namespace: str, name: str, *, phase: str = "Running", **fields: str) -> Document:
    """Make a pod of `uid`, `node`, `ip`; any other word is a label."""
    known = {key: fields.pop(key, "") for key in ("uid", "node", "ip")}
    return {
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": known["uid"],
            "labels": fields,
            "managedFields": [{"manager": "kubelet"}],
        },
        "spec": {"nodeName": known["node"], "containers": [{"name": "main"}]},
        "status": {"phase": phase, "podIP": known["ip"]},
    }


class ClusterState:
    """A little etcd: every write makes a new version; watches read the history."""

    def __init__(self) -> None:
        """Start empty, at version 1."""
        self.version = 1
        self.history: list[Change] = []
        self._oldest = 0
        self._objects: dict[str, dict[tuple[str, str], Document]] = {}

    def put(self, collection: str, document: Document) -> None:
        """Write an object; `collection` is like `/api/v1/pods`."""
        metadata = document["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        objects = self._objects.setdefault(collection, {})
        self.version += 1
        stored = document | {"metadata": metadata | {"resourceVersion": str(self.version)}}
        self.history.append(Change(self.version, collection, objects.get(key), stored))
        objects[key] = stored

    def delete(self, collection: str, namespace: str, name: str) -> None:
        """Delete an object that is there; another is left alone."""
        before = self._objects.get(collection, {}).pop((namespace, name), None)
        if before is not None:
            self.version += 1
            self.history.append(Change(self.version, collection, before, None))

    def compact(self) -> None:
        """Forget the history: only watches from now on are possible."""
        self.history.clear()
        self._oldest = self.version

    def page(self, path: str, params: Mapping[str, str]) -> Document:
        """Give a list, `limit` and `continue` as the API server reads them."""
        collection, selects = _scope(path, params)
        objects = self._objects.get(collection, {})
        items = [objects[key] for key in sorted(objects) if selects(objects[key])]
        start = int(params.get("continue", "0"))
        end = start + int(params.get("limit", "0") or len(items))
        metadata = {"resourceVersion": str(self.version)}
        if end < len(items):
            metadata["continue"] = str(end)
        return {"kind": "List", "metadata": metadata, "items": items[start:end]}

    def lines(self, path: str, params: Mapping[str, str], since: int) -> list[bytes]:
        """Give the events after version `since`; raises Expired when they are forgotten."""
        if since < self._oldest:
            raise Expired
        collection, selects = _scope(path, params)
        lines = []
        for change in self.history:
            if change.version > since and change.collection == collection:
                lines += _event(change, selects)
        return lines

    def bookmark(self) -> bytes:
        """Give the line that moves a watch to the present version."""
        return line("BOOKMARK", {"metadata": {"resourceVersion": str(self.version)}})


def line(kind: str, document: Document) -> bytes:
    """Give one line of a watch, without its end."""
    return json.dumps({"type": kind, "object": document}).encode()


def serves(path: str) -> bool:
    """Tell whether `path` is that of a collection."""
    return _COLLECTION.fullmatch(path) is not None


def _event(change: Change, selects: Callable[[Document], bool]) -> list[bytes]:
    before = change.before is not None and selects(change.before)
    if change.after is not None and selects(change.after):
        return [line("MODIFIED" if before else "ADDED", change.after)]
    if not before or change.before is None:
        return []
    gone = change.after or change.before
    metadata = gone["metadata"] | {"resourceVersion": str(change.version)}
    return [line("DELETED", gone | {"metadata": metadata})]


def _scope(path: str, params: Mapping[str, str]) -> tuple[str, Callable[[Document], bool]]:
    found = _COLLECTION.fullmatch(path)
    if found is None:
        message = f"{path} is no collection"
        raise LookupError(message)
    root, namespace, plural = found.groups()
    terms = [_TERM.fullmatch(term) for term in params.get("fieldSelector", "").split(",")]

    def selects(document: Document) -> bool:
        if namespace and document["metadata"].get("namespace") != namespace:
            return False
        return all(_holds(document, *term.groups()) for term in terms if term)

    return f"{root}/{plural}", selects


def _holds(document: Document, field: str, operator: str, value: str) -> bool:
    found: Any = document
    for step in field.split("."):
        found = found.get(step, {})
    return bool((found == value) == (operator == "="))
