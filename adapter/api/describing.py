"""What is needed to describe a group version in OpenAPI."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a request, `place` is `path` or `query`."""

    name: str
    description: str
    example: str
    place: str = "path"

    def document(self) -> dict[str, object]:
        """Give it as OpenAPI 3.0 has it."""
        return {
            "name": self.name,
            "in": self.place,
            "required": self.place == "path",
            "description": self.description,
            "schema": {"type": "string"},
            "example": self.example,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A GET: `path` is below the group version, `body` the name of the answer's schema."""

    path: str
    name: str
    body: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The operations and schemas of one group version.

    `prefix` begins the operations' names, which must be unlike those of other groups.
    """

    prefix: str
    operations: tuple[Operation, ...]
    schemas: Mapping[str, object]
