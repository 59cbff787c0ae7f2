"""What the OpenAPI document says of external.metrics.k8s.io."""

from adapter.api.describing import Description, Operation, Parameter
from adapter.api.groups import EXTERNAL, EXTERNAL_LIST, V1BETA1
from adapter.api.schemas import (
    QUANTITY,
    STRING,
    STRINGS,
    TIME,
    Json,
    array,
    common,
    kinded,
    obj,
    reference,
)

_TYPES = "io.k8s.metrics.pkg.apis.external_metrics.v1beta1"
_LIST, _VALUE = f"{_TYPES}.{EXTERNAL_LIST}", f"{_TYPES}.ExternalMetricValue"
_PARAMETERS = (
    Parameter("namespace", "The namespace that the metric is read for.", "default"),
    Parameter("metric", "The metric's name.", "queue_lag"),
    Parameter("labelSelector", "Which series, by their labels.", "topic=orders", place="query"),
)


def describe_external() -> Description:
    """Give the description of the only version."""
    read = Operation(
        path="/namespaces/{namespace}/{metric}",
        name="Metric",
        body=_LIST,
        parameters=_PARAMETERS,
    )
    return Description(prefix="readExternalMetrics", operations=(read,), schemas=_schemas())


def _schemas() -> Json:
    version = f"{EXTERNAL}/{V1BETA1}"
    value = obj(
        {
            "metricName": STRING,
            "metricLabels": {**STRINGS, "nullable": True},
            "timestamp": TIME,
            "value": QUANTITY,
        }
    )
    fields: Json = {"metadata": {"type": "object"}, "items": array(reference(_VALUE))}
    kind = {"group": EXTERNAL, "version": V1BETA1, "kind": EXTERNAL_LIST}
    listed = obj(kinded(EXTERNAL_LIST, version, fields))
    return {
        **common(version, (EXTERNAL_LIST,)),
        _LIST: listed | {"x-kubernetes-group-version-kind": [kind]},
        _VALUE: value,
    }
