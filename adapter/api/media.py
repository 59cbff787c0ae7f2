"""What a client is willing to read, by its Accept header (RFC 9110, section 12.5.1)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapter.errors import NotAcceptable

JSON = "application/json"
AGGREGATED = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

_JSON_RANGES = frozenset({JSON, "application/*", "*/*"})
_AGGREGATED = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}
_TABLE = {"g": "meta.k8s.io", "v": "v1", "as": "Table"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaRange:
    """One clause of an Accept header; `quality` 0 means "not this one"."""

    name: str
    parameters: Mapping[str, str]
    quality: float

    @property
    def plain_json(self) -> bool:
        """Tell whether plain JSON is meant: a clause with `as=` wants another form of it."""
        return self.name in _JSON_RANGES and "as" not in self.parameters

    @property
    def aggregated(self) -> bool:
        """Tell whether it asks for aggregated discovery v2, whatever else it adds."""
        return self.name == JSON and _AGGREGATED.items() <= self.parameters.items()

    @property
    def table(self) -> bool:
        """Tell whether it asks for rows and columns, as kubectl prints them."""
        return self.name == JSON and _TABLE.items() <= self.parameters.items()


def ranges(accept: str) -> list[MediaRange]:
    """Give the clauses that are wanted, the most wanted first; no header means anything."""
    found = [_range(clause) for clause in (accept or "*/*").split(",")]
    wanted = [clause for clause in found if clause.quality > 0]
    return sorted(wanted, key=lambda clause: -clause.quality)


def require_json(accept: str) -> None:
    """Raise NotAcceptable when none of the clauses can be answered with plain JSON."""
    if not any(clause.plain_json for clause in ranges(accept)):
        msg = f"only the following media types are accepted: {JSON}"
        raise NotAcceptable(msg)


def prefers_aggregated(accept: str) -> bool:
    """Tell whether aggregated discovery v2 is wanted, and wanted before plain JSON."""
    wanted = ranges(accept)
    known = (clause.aggregated for clause in wanted if clause.aggregated or clause.plain_json)
    return next(known, False)


def prefers_table(accept: str) -> bool:
    """Tell whether a Table is wanted before plain JSON; raises NotAcceptable for neither."""
    wanted = ranges(accept)
    known = (clause.table for clause in wanted if clause.table or clause.plain_json)
    preferred = next(known, None)
    if preferred is None:
        require_json(accept)
    return bool(preferred)


def _range(clause: str) -> MediaRange:
    name, *rest = clause.split(";")
    parameters = dict(_parameters(rest))
    quality = _quality(parameters.pop("q", "1"))
    return MediaRange(name=name.strip().lower(), parameters=parameters, quality=quality)


def _parameters(parts: list[str]) -> Iterator[tuple[str, str]]:
    for part in parts:
        key, _, value = part.partition("=")
        yield key.strip().lower(), value.strip().strip('"')


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
