"""What a request for the use of pods or nodes asks, read from its path and query."""

from collections.abc import Callable
from dataclasses import dataclass, field

from adapter.api.fields import FieldSelector, parse_fields
from adapter.api.groups import RESOURCE
from adapter.api.question import DEADLINE, deadline_of, label_selector
from adapter.api.status import shortened
from adapter.errors import ApiError, NotFound
from adapter.model import selector
from adapter.model.kinds import PODS
from adapter.model.objects import ObjectRef, Resource
from adapter.model.selector import Selector

Parameter = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageQuestion:
    """One question about the use of pods or nodes, `resource`.

    `namespace` is empty for nodes and for the pods of all namespaces, `name` for a list.
    `deadline` is in seconds.
    """

    resource: Resource
    namespace: str = ""
    name: str = ""
    objects: Selector = selector.EVERYTHING
    fields: FieldSelector = field(default_factory=FieldSelector)
    deadline: float = DEADLINE

    @property
    def kind(self) -> str:
        """Give the kind of an answer about one object: `PodMetrics` or `NodeMetrics`."""
        return f"{self.resource.kind}Metrics"

    @property
    def place(self) -> str:
        """Give ` in namespace NS`, nothing for nodes and for all namespaces."""
        return f" in namespace {self.namespace}" if self.namespace else ""

    def selects(self, ref: ObjectRef) -> bool:
        """Tell whether the object is asked for, as far as its name tells."""
        return self.name in {"", ref.name} and self.fields.matches(ref)

    def refuse(self, kind: type[ApiError], reason: str) -> ApiError:
        """Give the error that begins with the words clients know and goes on with the reason."""
        word = f"{self.kind.lower()}.{RESOURCE}"
        full = f"{self.namespace}/{self.name}" if self.namespace else self.name
        if kind is not NotFound or not self.name:
            named = f' "{full}"' if self.name else ""
            return kind(shortened(f"unable to read {word}{named}: {reason}"))
        details = {"name": full, "group": RESOURCE, "kind": self.kind.lower()}
        return NotFound(shortened(f'{word} "{full}" not found: {reason}'), details=details)

    def unknown(self) -> ApiError:
        """Give the error that says that the object itself is not there."""
        plural = self.resource.plural
        return NotFound(
            f'{plural} "{self.name}" not found', details={"name": self.name, "kind": plural}
        )


def about_usage(resource: Resource, path: dict[str, str], parameter: Parameter) -> UsageQuestion:
    """Read a question from path segments `namespace` and `name`, which may be absent.

    `parameter` gives the first value of a query parameter, empty when absent; selectors count for
    lists only. Raises BadRequest for what cannot be read.
    """
    name = path.get("name", "")
    return UsageQuestion(
        resource=resource,
        namespace=path.get("namespace", "") if resource.qualified == PODS.qualified else "",
        name=name,
        objects=selector.EVERYTHING if name else label_selector("labelSelector", parameter),
        fields=FieldSelector() if name else parse_fields(parameter("fieldSelector")),
        deadline=deadline_of(parameter("timeout")),
    )
