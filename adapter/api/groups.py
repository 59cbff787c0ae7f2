"""The API groups that are served, and what each lists."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from adapter.api import wire
from adapter.model.objects import Resource

EXTERNAL = "external.metrics.k8s.io"
RESOURCE = "metrics.k8s.io"
V1BETA1 = wire.V1BETA1
EXTERNAL_LIST = "ExternalMetricValueList"

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, order=True)
class Line:
    """One line of a resource list; `name` is `pods/gpu_util` where a metric is of a kind."""

    name: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...] = ("get",)

    @property
    def parent(self) -> str:
        """Give the kind that a metric is of, all of the name where it is of none."""
        return self.name.partition("/")[0]

    @property
    def metric(self) -> str:
        """Give the metric of a kind, empty where the name has none."""
        return self.name.partition("/")[2]


Lines = tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One API group.

    `versions` has the preferred one first. `lines` gives what all of them list, never nothing,
    and the same object until that changes.
    """

    name: str
    versions: tuple[str, ...]
    lines: Callable[[], Lines]


class OfferedOnKind(Protocol):
    """One metric on one kind of object."""

    @property
    def metric(self) -> str:
        """Give the metric's name."""
        ...

    @property
    def resource(self) -> Resource:
        """Give the kind of object."""
        ...


class Offered(Protocol):
    """One metric of no object."""

    @property
    def metric(self) -> str:
        """Give the metric's name."""
        ...


class Catalogue(Protocol):
    """What is on offer on kinds; immutable, so that documents made from it stay right."""

    @property
    def offers(self) -> Iterable[OfferedOnKind]:
        """Give every offer."""
        ...


class ExternalCatalogue(Protocol):
    """What external metrics are on offer; immutable too."""

    @property
    def offers(self) -> Iterable[Offered]:
        """Give every offer."""
        ...


class Remembered(Generic[Given, Made]):
    """What is made of a value that is swapped whole: made anew only when another is given."""

    def __init__(self, source: Callable[[], Given], make: Callable[[Given], Made]) -> None:
        """Make it once of what `source` gives now."""
        self._source = source
        self._make = make
        self._given = source()
        self._made = make(self._given)

    def __call__(self) -> Made:
        """Give what is made of what `source` gives now."""
        given = self._source()
        if given != self._given:
            self._given, self._made = given, self._make(given)
        return self._made


# What custom-metrics-apiserver lists while it has nothing: some clients take an empty list of a
# group for an error.
PLACEHOLDER = Line("/custommetric", wire.LIST_KIND, namespaced=False)
EXTERNAL_PLACEHOLDER = Line("externalmetrics", EXTERNAL_LIST, namespaced=True)


def custom_group(catalogue: Callable[[], Catalogue]) -> Group:
    """Give the group of metrics of objects."""
    lines = Remembered(catalogue, lambda current: custom_lines(current.offers))
    return Group(name=wire.GROUP, versions=wire.VERSIONS, lines=lines)


def external_group(catalogue: Callable[[], ExternalCatalogue]) -> Group:
    """Give the group of metrics that are of no object of the cluster."""
    lines = Remembered(catalogue, lambda current: external_lines(current.offers))
    return Group(name=EXTERNAL, versions=(V1BETA1,), lines=lines)


def resource_group() -> Group:
    """Give the group of what pods and nodes use; it lists the same whatever the rules are."""
    verbs = ("get", "list")
    lines = (
        Line("nodes", "NodeMetrics", namespaced=False, verbs=verbs),
        Line("pods", "PodMetrics", namespaced=True, verbs=verbs),
    )
    return Group(name=RESOURCE, versions=(V1BETA1,), lines=lambda: lines)


def custom_lines(offers: Iterable[OfferedOnKind]) -> Lines:
    """Give the sorted lines, never none; lines of one parent agree on its scope.

    Where they did not, kube-apiserver would drop the whole group version.
    """
    found = sorted(
        (offer.resource.qualified, offer.metric, offer.resource.namespaced) for offer in offers
    )
    scopes = {parent: namespaced for parent, _, namespaced in found}
    lines = dict.fromkeys(_custom_line(parent, name, scopes[parent]) for parent, name, _ in found)
    return tuple(lines) or (PLACEHOLDER,)


def external_lines(offers: Iterable[Offered]) -> Lines:
    """Give the sorted lines, never none; a name that no path can carry is not listed."""
    names: Sequence[str] = sorted({offer.metric for offer in offers if "/" not in offer.metric})
    lines = tuple(Line(name, EXTERNAL_LIST, namespaced=True) for name in names)
    return lines or (EXTERNAL_PLACEHOLDER,)


def _custom_line(parent: str, metric: str, namespaced: bool) -> Line:
    return Line(f"{parent}/{metric}", wire.LIST_KIND, namespaced=namespaced)
