"""The few fields of the API server's documents that are read; all others are skipped."""

from typing import Generic, TypeVar

import msgspec

Item = TypeVar("Item")


class Metadata(msgspec.Struct, rename="camel"):
    """What every object carries."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None


class Named(msgspec.Struct):
    """An object of which only the metadata counts."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)


class ListMetadata(msgspec.Struct, rename="camel"):
    """What every list carries; `continue_` is empty on the last page."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Listing(msgspec.Struct, Generic[Item]):
    """One page of a list."""

    metadata: ListMetadata = msgspec.field(default_factory=ListMetadata)
    items: list[Item] | None = None


class Event(msgspec.Struct):
    """One line of a watch; `object` is decoded once its type is known."""

    type: str
    object: msgspec.Raw


class Status(msgspec.Struct):
    """How the API server says no."""

    code: int = 0
    reason: str = ""
    message: str = ""
