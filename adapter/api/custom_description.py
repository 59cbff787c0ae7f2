"""What the OpenAPI documents say of custom.metrics.k8s.io."""

from adapter.api.describing import Description, Operation, Parameter
from adapter.api.schemas import (
    QUANTITY,
    STRING,
    STRINGS,
    TIME,
    Json,
    array,
    common,
    kinded,
    nullable,
    obj,
    reference,
)
from adapter.api.wire import GROUP, LIST_KIND, V1BETA1

_SELECTOR = "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"
_REFERENCE = "io.k8s.api.core.v1.ObjectReference"
_NAMESPACE: Json = {"namespace": STRING}
_SECONDS: Json = {"type": "integer", "format": "int64", "minimum": 0}

_RESOURCE = Parameter("resource", "The kind as pods, pod or deployments.apps.", "pods")
_NAME = Parameter("name", "The object's name, or * for all that labelSelector selects.", "*")
_METRIC = Parameter("metric", "The metric's name.", "DEV_GPU_UTIL_current")
_HOME = Parameter("namespace", "The objects' namespace.", "default")
_SELECTORS = (
    Parameter(
        "labelSelector",
        "Which objects, by their labels; counts when the name is *.",
        "app=llm",
        place="query",
    ),
    Parameter(
        "metricLabelSelector", "Which series, by their labels.", "modelName=H200", place="query"
    ),
)


def describe_custom(version: str) -> Description:
    """Give the description of one version."""
    body = _type_name(version, LIST_KIND)
    metric = "/{resource}/{name}/{metric}"
    paths = {
        metric: ("ObjectMetric", (_NAME, _RESOURCE, _METRIC)),
        f"/namespaces/{{namespace}}{metric}": (
            "NamespacedObjectMetric",
            (_NAME, _HOME, _RESOURCE, _METRIC),
        ),
        "/namespaces/{namespace}/metrics/{metric}": ("NamespaceMetric", (_HOME, _METRIC)),
    }
    operations = [
        Operation(path=path, name=name, body=body, parameters=(*parameters, *_SELECTORS))
        for path, (name, parameters) in paths.items()
    ]
    return Description(
        prefix="readCustomMetrics", operations=tuple(operations), schemas=_schemas(version)
    )


def _type_name(version: str, kind: str) -> str:
    return f"io.k8s.metrics.pkg.apis.custom_metrics.{version}.{kind}"


def _schemas(version: str) -> Json:
    value = _type_name(version, "MetricValue")
    identifier = _type_name(version, "MetricIdentifier")
    known = {
        **common(f"{GROUP}/{version}", (LIST_KIND,)),
        _REFERENCE: obj({"kind": STRING, "name": STRING, "apiVersion": STRING}, _NAMESPACE),
        _SELECTOR: _label_selector(),
        _type_name(version, LIST_KIND): _value_list(version, value),
    }
    if version == V1BETA1:
        return {**known, value: _v1beta1()}
    return {**known, value: _v1beta2(identifier), identifier: _identifier()}


def _label_selector() -> Json:
    expression = obj({"key": STRING, "operator": STRING}, {"values": array(STRING)})
    return obj({}, {"matchLabels": STRINGS, "matchExpressions": array(expression)})


def _value_list(version: str, value: str) -> Json:
    fields: Json = {"metadata": {"type": "object"}, "items": array(reference(value))}
    body = obj(kinded(LIST_KIND, f"{GROUP}/{version}", fields))
    kind = {"group": GROUP, "version": version, "kind": LIST_KIND}
    return body | {"x-kubernetes-group-version-kind": [kind]}


def _identifier() -> Json:
    return obj({"name": STRING, "selector": nullable(_SELECTOR)})


def _v1beta2(identifier: str) -> Json:
    required = {
        "describedObject": reference(_REFERENCE),
        "metric": reference(identifier),
        "timestamp": TIME,
        "value": QUANTITY,
    }
    return obj(required, {"windowSeconds": _SECONDS})


def _v1beta1() -> Json:
    required = {
        "describedObject": reference(_REFERENCE),
        "metricName": STRING,
        "timestamp": TIME,
        "value": QUANTITY,
        "selector": nullable(_SELECTOR),
    }
    return obj(required, {"window": _SECONDS})
