"""The bodies of custom.metrics.k8s.io v1beta1 and v1beta2, field by field in the known order.

Source: k8s.io/metrics pkg/apis/custom_metrics. Values are canonical quantities as text,
timestamps are RFC 3339 in UTC with whole seconds, windows are seconds. Items carry no kind.
"""

import math
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from adapter.model.objects import ObjectRef, Resource
from adapter.model.selector import Operator, Requirement, Selector

GROUP = "custom.metrics.k8s.io"
V1BETA1 = "v1beta1"
V1BETA2 = "v1beta2"
VERSIONS = (V1BETA2, V1BETA1)
LIST_KIND = "MetricValueList"

_OPERATORS = {
    Operator.EQUALS: "In",
    Operator.NOT_EQUALS: "NotIn",
    Operator.IN: "In",
    Operator.NOT_IN: "NotIn",
    Operator.EXISTS: "Exists",
    Operator.ABSENT: "DoesNotExist",
}


class ObjectReference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Which object a value describes; no namespace for cluster-scoped kinds."""

    kind: str
    namespace: str = ""
    name: str
    api_version: str = msgspec.field(name="apiVersion")


class Expression(msgspec.Struct, frozen=True, omit_defaults=True):
    """A requirement of a LabelSelector that is more than equality."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """metav1.LabelSelector."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[Expression, ...] = ()


class MetricIdentifier(msgspec.Struct, frozen=True, kw_only=True):
    """A metric's name and the selector it was asked with, null when without."""

    name: str
    selector: LabelSelector | None


class MetricValueV1Beta2(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"
):
    """One value in v1beta2."""

    described_object: ObjectReference
    metric: MetricIdentifier
    timestamp: str
    window_seconds: int | None = None
    value: str


class MetricValueV1Beta1(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"
):
    """One value in v1beta1."""

    described_object: ObjectReference
    metric_name: str
    timestamp: str
    window: int | None = None
    value: str
    selector: LabelSelector | None


MetricValue = MetricValueV1Beta1 | MetricValueV1Beta2


class MetricValueList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to every question about values, also about one object."""

    kind: str = LIST_KIND
    api_version: str
    metadata: dict[str, str] = {}
    items: list[MetricValue]


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """What all values of one answer have in common; `timestamp` in Unix seconds."""

    version: str
    metric: str
    selector: Selector
    resource: Resource
    timestamp: float
    window: int | None

    def around(self, values: Iterable[tuple[ObjectRef, str]]) -> MetricValueList:
        """Give the list that holds `values`, quantities already spelt, in their order."""
        make = _v1beta1_items if self.version == V1BETA1 else _v1beta2_items
        return MetricValueList(api_version=f"{GROUP}/{self.version}", items=make(self, values))


def rfc3339(seconds: float) -> str:
    """Give a Unix time in UTC, cut to the whole second: `2026-12-01T02:30:00Z`."""
    return datetime.fromtimestamp(math.floor(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def label_selector(selector: Selector) -> LabelSelector | None:
    """Give `selector` as the API echoes it: equalities as labels, all else as expressions."""
    if not selector:
        return None
    labels: dict[str, str] = {}
    expressions = []
    for requirement in selector.requirements:
        if requirement.operator is Operator.EQUALS and requirement.key not in labels:
            labels[requirement.key] = requirement.values[0]
        else:
            expressions.append(_expression(requirement))
    return LabelSelector(match_labels=labels, match_expressions=tuple(expressions))


def _expression(requirement: Requirement) -> Expression:
    return Expression(requirement.key, _OPERATORS[requirement.operator], requirement.values)


def _reference(resource: Resource, ref: ObjectRef) -> ObjectReference:
    return ObjectReference(
        kind=resource.kind,
        namespace=ref.namespace,
        name=ref.name,
        api_version=resource.described_version,
    )


def _v1beta2_items(frame: Frame, values: Iterable[tuple[ObjectRef, str]]) -> list[MetricValue]:
    metric = MetricIdentifier(name=frame.metric, selector=label_selector(frame.selector))
    timestamp = rfc3339(frame.timestamp)
    return [
        MetricValueV1Beta2(
            described_object=_reference(frame.resource, ref),
            metric=metric,
            timestamp=timestamp,
            window_seconds=frame.window,
            value=value,
        )
        for ref, value in values
    ]


def _v1beta1_items(frame: Frame, values: Iterable[tuple[ObjectRef, str]]) -> list[MetricValue]:
    selector = label_selector(frame.selector)
    timestamp = rfc3339(frame.timestamp)
    return [
        MetricValueV1Beta1(
            described_object=_reference(frame.resource, ref),
            metric_name=frame.metric,
            timestamp=timestamp,
            window=frame.window,
            value=value,
            selector=selector,
        )
        for ref, value in values
    ]
