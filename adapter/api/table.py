"""What pods and nodes use as rows and columns, the form that `kubectl get` prints.

Source: meta.k8s.io/v1 Table.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from adapter.api.usage_wire import SPELLED, Consumer, Frame, Metrics, meta_of, single, spelled
from adapter.engine.causes import cause_of
from adapter.errors import BadRequest
from adapter.model.duration import go_duration

_TABLE = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {}}
_WHAT = {"cpu": "CPU that is used, in cores.", "memory": "Memory that is used, in bytes."}

Json = Mapping[str, Any]


def table(frame: Frame, consumers: Sequence[Consumer], include: str) -> Json:
    """Give one row an object, in their order: its name, its usage as a whole, and the window.

    `include` is what `includeObject` says: `None`, `Metadata` (also when it is empty) or `Object`.
    Raises BadRequest for another word.
    """
    rows = [_row(frame, one, include or "Metadata") for one in consumers]
    return {**_TABLE, "columnDefinitions": _columns(), "rows": rows}


def _columns() -> list[Json]:
    return [
        _column("Name", "name", "The object's name."),
        *(_column(name, "quantity", _WHAT[name]) for name in SPELLED),
        _column("Window", "duration", "The time that the values are taken over."),
    ]


def _column(name: str, form: str, description: str) -> Json:
    return {
        "name": name,
        "type": "string",
        "format": form,
        "description": description,
        "priority": 0,
    }


def _row(frame: Frame, consumer: Consumer, include: str) -> Json:
    whole = spelled(_whole(consumer))
    amounts = [whole.get(name, "") for name in SPELLED]
    row = {"cells": [consumer.ref.name, *amounts, go_duration(frame.window)]}
    shown = _shown(frame, consumer, include)
    return row if shown is None else {**row, "object": shown}


def _whole(consumer: Consumer) -> dict[str, float]:
    parts = consumer.parts.values()
    known = [name for name in SPELLED if all(name in part for part in parts)]
    sums = {name: math.fsum(part[name] for part in parts) for name in known}
    return {name: total for name, total in sums.items() if cause_of(total) is None}


def _shown(frame: Frame, consumer: Consumer, include: str) -> Json | Metrics | None:
    match include:
        case "None":
            return None
        case "Object":
            return single(frame, consumer)
        case "Metadata":
            kind = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
            return {**kind, "metadata": meta_of(frame, consumer)}
        case _:
            raise BadRequest(f"includeObject: {include!r} is none of None, Metadata and Object")
