"""The bodies of metrics.k8s.io/v1beta1, field by field in the known order, and as a Table.

Sources: k8s.io/metrics pkg/apis/metrics; meta.k8s.io/v1 Table. Cores are decimal quantities, bytes
binary ones; timestamps are RFC 3339 in UTC with whole seconds, windows as Go prints them.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from adapter.api.groups import RESOURCE, V1BETA1
from adapter.api.wire import rfc3339
from adapter.model.duration import go_duration
from adapter.model.objects import ObjectRef
from adapter.model.quantity import binary_quantity, quantity

API_VERSION = f"{RESOURCE}/{V1BETA1}"
CPU, MEMORY = "cpu", "memory"
SPELLED: Mapping[str, Callable[[float], str]] = {CPU: quantity, MEMORY: binary_quantity}

Amounts = Mapping[str, float]
"""Cores under `cpu`, bytes under `memory`; what is not known is not there."""


class Consumer(msgspec.Struct, frozen=True, kw_only=True):
    """A pod or a node and what it uses, by container; a node has one without a name.

    `timestamp` is in Unix seconds.
    """

    ref: ObjectRef
    labels: Mapping[str, str]
    timestamp: float
    parts: Mapping[str, Amounts]


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """What all items of one answer have in common; `kind` is `PodMetrics` or `NodeMetrics`.

    `now` is when it is given, Unix seconds, `window` the seconds that values are taken over.
    """

    kind: str
    now: float
    window: float


class ObjectMeta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """metav1.ObjectMeta, as far as it is known."""

    name: str
    namespace: str = ""
    creation_timestamp: str
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)


class ContainerMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """What one container uses."""

    name: str
    usage: Mapping[str, str]


class Metrics(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """PodMetrics, which have containers, or NodeMetrics, which have usage.

    Kind and version are absent in lists.
    """

    kind: str | msgspec.UnsetType = msgspec.UNSET
    api_version: str | msgspec.UnsetType = msgspec.UNSET
    metadata: ObjectMeta
    timestamp: str
    window: str
    usage: Mapping[str, str] | msgspec.UnsetType = msgspec.UNSET
    containers: Sequence[ContainerMetrics] | msgspec.UnsetType = msgspec.UNSET


class MetricsList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """PodMetricsList or NodeMetricsList."""

    kind: str
    api_version: str = API_VERSION
    metadata: dict[str, str] = {}
    items: list[Metrics]


def single(frame: Frame, consumer: Consumer) -> Metrics:
    """Give the answer about one object."""
    item = _metrics(frame, consumer)
    return msgspec.structs.replace(item, kind=frame.kind, api_version=API_VERSION)


def listed(frame: Frame, consumers: Sequence[Consumer]) -> MetricsList:
    """Give the answer about several, in their order."""
    return MetricsList(kind=f"{frame.kind}List", items=[_metrics(frame, one) for one in consumers])


def meta_of(frame: Frame, consumer: Consumer) -> ObjectMeta:
    """Give an object's metadata; it counts as made when it is given."""
    return ObjectMeta(
        name=consumer.ref.name,
        namespace=consumer.ref.namespace,
        creation_timestamp=rfc3339(frame.now),
        labels=consumer.labels,
    )


def spelled(amounts: Amounts) -> dict[str, str]:
    """Give the quantities of what is known."""
    return {name: spell(amounts[name]) for name, spell in SPELLED.items() if name in amounts}


def _metrics(frame: Frame, consumer: Consumer) -> Metrics:
    pod = frame.kind == "PodMetrics"
    parts = {name: spelled(amounts) for name, amounts in sorted(consumer.parts.items())}
    containers = [ContainerMetrics(name=name, usage=usage) for name, usage in parts.items()]
    return Metrics(
        metadata=meta_of(frame, consumer),
        timestamp=rfc3339(consumer.timestamp),
        window=go_duration(frame.window),
        usage=msgspec.UNSET if pod else parts.get("", {}),
        containers=containers if pod else msgspec.UNSET,
    )
