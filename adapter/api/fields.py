"""Field selectors on what every object has: its name and its namespace."""

import re
from dataclasses import dataclass

from adapter.errors import BadRequest
from adapter.model.objects import ObjectRef

_REQUIREMENT = re.compile(r"\s*([^=!\s]+)\s*(==|=|!=)\s*([^\s,]*)\s*")
_NAME, _NAMESPACE = "metadata.name", "metadata.namespace"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Requirements (field, value, whether it must be equal), all of which must hold."""

    requirements: tuple[tuple[str, str, bool], ...] = ()

    def matches(self, ref: ObjectRef) -> bool:
        """Tell whether the object is selected."""
        have = {_NAME: ref.name, _NAMESPACE: ref.namespace}
        return all((have[key] == value) is equal for key, value, equal in self.requirements)


def parse_fields(text: str) -> FieldSelector:
    """Read a field selector; raises BadRequest for another field than name and namespace."""
    clauses = filter(str.strip, text.split(","))
    return FieldSelector(tuple(map(_requirement, clauses)))


def _requirement(clause: str) -> tuple[str, str, bool]:
    found = _REQUIREMENT.fullmatch(clause)
    if found is None:
        raise BadRequest(f"fieldSelector: {clause!r} is no requirement, write {_NAME}=NAME")
    field, operator, value = found.groups()
    if field not in {_NAME, _NAMESPACE}:
        raise BadRequest(f"fieldSelector: {field!r} is not known, only {_NAME} and {_NAMESPACE}")
    return field, value, operator != "!="
