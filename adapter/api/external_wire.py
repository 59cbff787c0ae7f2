"""The bodies of external.metrics.k8s.io/v1beta1, field by field in the known order.

Source: k8s.io/metrics pkg/apis/external_metrics. Values are canonical quantities as text,
timestamps are RFC 3339 in UTC with whole seconds. Items carry no kind and no window.
"""

from collections.abc import Iterable, Mapping

import msgspec

from adapter.api.groups import EXTERNAL, EXTERNAL_LIST, V1BETA1
from adapter.api.wire import rfc3339
from adapter.engine.external import ExternalValue
from adapter.model.quantity import quantity


class ExternalMetricValue(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One number; its labels are null where the query gives a number without any."""

    metric_name: str
    metric_labels: Mapping[str, str] | None
    timestamp: str
    value: str


class ExternalMetricValueList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to every question about an external metric."""

    kind: str = EXTERNAL_LIST
    api_version: str = f"{EXTERNAL}/{V1BETA1}"
    metadata: dict[str, str] = {}
    items: list[ExternalMetricValue]


def value_list(metric: str, values: Iterable[ExternalValue]) -> ExternalMetricValueList:
    """Give the list of `values`, which quantities can hold, in their order."""
    items = [
        ExternalMetricValue(
            metric_name=metric,
            metric_labels=one.labels,
            timestamp=rfc3339(one.timestamp),
            value=quantity(one.value),
        )
        for one in values
    ]
    return ExternalMetricValueList(items=items)
