"""JSON schemas of the bodies, under the names that Kubernetes gives the types."""

from collections.abc import Mapping

from adapter.api.wire import GROUP, LIST_KIND, V1BETA1

Json = Mapping[str, object]

STATUS = "io.k8s.apimachinery.pkg.apis.meta.v1.Status"
RESOURCE_LIST = "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList"
_SELECTOR = "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"
_REFERENCE = "io.k8s.api.core.v1.ObjectReference"
_STRING: Json = {"type": "string"}
_NAMESPACE: Json = {"namespace": _STRING}
_TIME: Json = {"type": "string", "format": "date-time"}
_SECONDS: Json = {"type": "integer", "format": "int64", "minimum": 0}
_QUANTITY: Json = {"type": "string", "pattern": "^-?[0-9]+(m|k|M|G|T|P|E)?$"}


def type_name(version: str, kind: str) -> str:
    """Give the full name of a type of this API."""
    return f"io.k8s.metrics.pkg.apis.custom_metrics.{version}.{kind}"


def reference(name: str) -> Json:
    """Point at a schema of the same document."""
    return {"$ref": f"#/components/schemas/{name}"}


def schemas(version: str) -> Json:
    """Give every schema that the document of `version` uses."""
    value = type_name(version, "MetricValue")
    identifier = type_name(version, "MetricIdentifier")
    known = {
        STATUS: _status(),
        RESOURCE_LIST: _resource_list(version),
        _REFERENCE: _object({"kind": _STRING, "name": _STRING, "apiVersion": _STRING}, _NAMESPACE),
        _SELECTOR: _label_selector(),
        type_name(version, LIST_KIND): _value_list(version, value),
    }
    if version == V1BETA1:
        return {**known, value: _v1beta1()}
    return {**known, value: _v1beta2(identifier), identifier: _identifier()}


def _object(required: Json, optional: Json | None = None) -> dict[str, object]:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


def _listed(item: Json) -> dict[str, object]:
    return {"type": "array", "items": item}


def _constant(value: str) -> Json:
    return {"type": "string", "enum": [value]}


def _kinded(kind: str, api_version: str, fields: Json) -> Json:
    return {"kind": _constant(kind), "apiVersion": _constant(api_version), **fields}


def _nullable(name: str) -> Json:
    return {"nullable": True, "allOf": [reference(name)]}


def _status() -> Json:
    fields: Json = {
        "metadata": {"type": "object"},
        "status": _constant("Failure"),
        "message": {"type": "string", "minLength": 1},
        "reason": {"type": "string", "minLength": 1},
        "code": {"type": "integer", "minimum": 400},
    }
    return _object(_kinded("Status", "v1", fields), {"details": {"type": "object"}})


def _resource_list(version: str) -> Json:
    entry = _object(
        {
            "name": _STRING,
            "singularName": _STRING,
            "namespaced": {"type": "boolean"},
            "kind": _constant(LIST_KIND),
            "verbs": _listed(_STRING),
        }
    )
    resources = _listed(entry) | {"minItems": 1}
    fields: Json = {"groupVersion": _constant(f"{GROUP}/{version}"), "resources": resources}
    return _object(_kinded("APIResourceList", "v1", fields))


def _label_selector() -> Json:
    expression = _object({"key": _STRING, "operator": _STRING}, {"values": _listed(_STRING)})
    labels: Json = {"type": "object", "additionalProperties": _STRING}
    return _object({}, {"matchLabels": labels, "matchExpressions": _listed(expression)})


def _value_list(version: str, value: str) -> Json:
    fields: Json = {"metadata": {"type": "object"}, "items": _listed(reference(value))}
    body = _object(_kinded(LIST_KIND, f"{GROUP}/{version}", fields))
    kind = {"group": GROUP, "version": version, "kind": LIST_KIND}
    return body | {"x-kubernetes-group-version-kind": [kind]}


def _identifier() -> Json:
    return _object({"name": _STRING, "selector": _nullable(_SELECTOR)})


def _v1beta2(identifier: str) -> Json:
    required = {
        "describedObject": reference(_REFERENCE),
        "metric": reference(identifier),
        "timestamp": _TIME,
        "value": _QUANTITY,
    }
    return _object(required, {"windowSeconds": _SECONDS})


def _v1beta1() -> Json:
    required = {
        "describedObject": reference(_REFERENCE),
        "metricName": _STRING,
        "timestamp": _TIME,
        "value": _QUANTITY,
        "selector": _nullable(_SELECTOR),
    }
    return _object(required, {"window": _SECONDS})
