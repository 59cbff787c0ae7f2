"""What the OpenAPI document says of metrics.k8s.io."""

from collections.abc import Mapping

from adapter.api.describing import Description, Operation, Parameter
from adapter.api.groups import RESOURCE, V1BETA1
from adapter.api.schemas import STRING, STRINGS, TIME, Json, array, common, kinded, obj, reference

_TYPES = "io.k8s.metrics.pkg.apis.metrics.v1beta1"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_CONTAINER = f"{_TYPES}.ContainerMetrics"
_VERSION = f"{RESOURCE}/{V1BETA1}"
_AMOUNT: Json = {"type": "string", "pattern": "^[0-9]+(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$"}
_USAGE: Json = obj({}, {"cpu": _AMOUNT, "memory": _AMOUNT})

_HOME = Parameter("namespace", "The pods' namespace.", "default")
_POD = Parameter("name", "The pod's name.", "llm-0")
_NODE = Parameter("name", "The node's name.", "gpu-a")
_SELECTORS = (
    Parameter("labelSelector", "Which objects, by their labels.", "app=llm", place="query"),
    Parameter(
        "fieldSelector",
        "Which objects, by metadata.name and metadata.namespace.",
        "metadata.name=llm-0",
        place="query",
    ),
)


def describe_usage() -> Description:
    """Give the description of the only version."""
    pods, nodes = f"{_TYPES}.PodMetricsList", f"{_TYPES}.NodeMetricsList"
    home = "/namespaces/{namespace}/pods"
    operations = (
        Operation(path="/nodes", name="Nodes", body=nodes, parameters=_SELECTORS),
        Operation(
            path="/nodes/{name}",
            name="Node",
            body=f"{_TYPES}.NodeMetrics",
            parameters=(_NODE,),
        ),
        Operation(path="/pods", name="AllPods", body=pods, parameters=_SELECTORS),
        Operation(path=home, name="Pods", body=pods, parameters=(_HOME, *_SELECTORS)),
        Operation(
            path=f"{home}/{{name}}",
            name="Pod",
            body=f"{_TYPES}.PodMetrics",
            parameters=(_HOME, _POD),
        ),
    )
    return Description(prefix="readMetrics", operations=operations, schemas=_schemas())


def _schemas() -> Json:
    containers: Json = {"containers": array(reference(_CONTAINER))}
    return {
        **common(_VERSION, ("NodeMetrics", "PodMetrics")),
        **_kind("PodMetrics", containers),
        **_kind("NodeMetrics", {"usage": _USAGE}),
        _CONTAINER: obj({"name": STRING, "usage": _USAGE}),
        _META: obj(
            {"name": STRING, "creationTimestamp": TIME}, {"namespace": STRING, "labels": STRINGS}
        ),
    }


def _kind(kind: str, used: Json) -> Mapping[str, Json]:
    fields: Json = {"metadata": reference(_META), "timestamp": TIME, "window": STRING, **used}
    listed: Json = {"metadata": {"type": "object"}, "items": array(obj(fields))}
    return {
        f"{_TYPES}.{kind}": _marked(kind, fields),
        f"{_TYPES}.{kind}List": _marked(f"{kind}List", listed),
    }


def _marked(kind: str, fields: Json) -> Json:
    mark = {"group": RESOURCE, "version": V1BETA1, "kind": kind}
    return obj(kinded(kind, _VERSION, fields)) | {"x-kubernetes-group-version-kind": [mark]}
