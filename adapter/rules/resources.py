"""`resources.template`: labels and kinds of objects, translated both ways."""

import re
from dataclasses import dataclass

from adapter.model.kinds import Kinds
from adapter.model.objects import Resource
from adapter.rules.naming import Pattern, compiled
from adapter.rules.template import RESOURCE_FIELDS, ResourceWords, Template, parse

_GROUP = "(?P<group>.+?)"
_RESOURCE = "(?P<resource>.+?)"


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """A template over `.Group` and `.Resource` and the pattern that reads labels with it."""

    template: Template
    pattern: Pattern

    def label(self, resource: Resource) -> str:
        """Give the label of a kind: its singular, in its group with `.` and `-` as `_`."""
        group = re.sub(r"[.-]", "_", resource.group)
        return self.template.render(ResourceWords(group=group, resource=resource.singular))

    def resource(self, label: str, kinds: Kinds) -> Resource | None:
        """Give the kind that `label` means, None when it means none of `kinds`."""
        found = self.pattern.search(label)
        if found is None:
            return None
        group = (found.group("group") or "") if "group" in self.pattern.groupindex else ""
        return kinds.find(found.group("resource") or "", group)


def parse_resource_template(text: str) -> ResourceTemplate:
    """Read a template of labels.

    Raises ValueError when it is no template, gives nothing, does not use `.Resource`, or makes no
    regular expression.
    """
    template = parse(text, RESOURCE_FIELDS)
    if not template.uses("Resource"):
        msg = "it does not use .Resource, so every kind would have the same label"
        raise ValueError(msg)
    words = ResourceWords(group=_GROUP, resource=_RESOURCE)
    return ResourceTemplate(template, compiled(f"^{template.render(words)}$"))
