"""JSON schemas of the bodies that every API group has, and what schemas are put together from."""

from collections.abc import Mapping, Sequence

Json = Mapping[str, object]

STATUS = "io.k8s.apimachinery.pkg.apis.meta.v1.Status"
RESOURCE_LIST = "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList"
STRING: Json = {"type": "string"}
STRINGS: Json = {"type": "object", "additionalProperties": STRING}
TIME: Json = {"type": "string", "format": "date-time"}
QUANTITY: Json = {"type": "string", "pattern": "^-?[0-9]+(m|k|M|G|T|P|E)?$"}


def reference(name: str) -> Json:
    """Point at a schema of the same document."""
    return {"$ref": f"#/components/schemas/{name}"}


def common(group_version: str, kinds: Sequence[str]) -> Json:
    """Give the schemas of refusals and of the resource list, whose lines are of `kinds`."""
    return {STATUS: _status(), RESOURCE_LIST: _resource_list(group_version, kinds)}


def obj(required: Json, optional: Json | None = None) -> dict[str, object]:
    """Give the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


def array(item: Json) -> dict[str, object]:
    """Give the schema of a list."""
    return {"type": "array", "items": item}


def constant(value: str) -> Json:
    """Give the schema of one word."""
    return {"type": "string", "enum": [value]}


def kinded(kind: str, api_version: str, fields: Json) -> Json:
    """Give `fields` behind a kind and its version."""
    return {"kind": constant(kind), "apiVersion": constant(api_version), **fields}


def nullable(name: str) -> Json:
    """Give the schema of null, or of the schema of that name."""
    return {"nullable": True, "allOf": [reference(name)]}


def _status() -> Json:
    fields: Json = {
        "metadata": {"type": "object"},
        "status": constant("Failure"),
        "message": {"type": "string", "minLength": 1},
        "reason": {"type": "string", "minLength": 1},
        "code": {"type": "integer", "minimum": 400},
    }
    return obj(kinded("Status", "v1", fields), {"details": {"type": "object"}})


def _resource_list(group_version: str, kinds: Sequence[str]) -> Json:
    entry = obj(
        {
            "name": STRING,
            "singularName": STRING,
            "namespaced": {"type": "boolean"},
            "kind": {"type": "string", "enum": list(kinds)},
            "verbs": array(STRING),
        }
    )
    resources = array(entry) | {"minItems": 1}
    fields: Json = {"groupVersion": constant(group_version), "resources": resources}
    return obj(kinded("APIResourceList", "v1", fields))
