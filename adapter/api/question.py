"""What a request for values asks, read from its path and query."""

from collections.abc import Callable
from dataclasses import dataclass

from adapter.api.status import shortened
from adapter.errors import ApiError, BadRequest
from adapter.flags import duration
from adapter.model import selector
from adapter.model.kinds import NAMESPACES
from adapter.model.selector import Selector
from adapter.rules.matchers import from_selector

EVERY = "*"
# Longer than Prometheus is given by default, whose silence is then told as the reason.
DEADLINE = 12.0

Parameter = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about values.

    `word` is the resource as typed, `namespace` is empty on root paths, `name` may be `*`, which
    alone makes `objects` count. `deadline` is in seconds.
    """

    version: str
    namespace: str = ""
    word: str
    name: str
    metric: str
    objects: Selector = selector.EVERYTHING
    series: Selector = selector.EVERYTHING
    deadline: float = DEADLINE

    @property
    def begin(self) -> str:
        """Give the words with which every refusal of it begins, as clients know them."""
        named = "" if self.name == EVERY else f" {self.name}"
        return f"the server could not find the metric {self.metric} for {self.word}{named}"

    def refuse(self, kind: type[ApiError], reason: str) -> ApiError:
        """Give the error that begins so and goes on with the reason."""
        return kind(shortened(f"{self.begin}: {reason}"))

    @property
    def place(self) -> str:
        """Give ` in namespace NS`, nothing on root paths."""
        return f" in namespace {self.namespace}" if self.namespace else ""


def about_objects(version: str, path: dict[str, str], parameter: Parameter) -> Question:
    """Read a question from path segments `resource`, `name`, `metric` and perhaps `namespace`.

    `parameter` gives the first value of a query parameter, empty when absent. Raises BadRequest
    for a selector or a duration that cannot be read or cannot be asked of Prometheus.
    """
    _check_fields(parameter("fieldSelector"), path["name"])
    return Question(
        version=version,
        namespace=path.get("namespace", ""),
        word=path["resource"],
        name=path["name"],
        metric=path["metric"],
        objects=label_selector("labelSelector", parameter),
        series=series_selector("metricLabelSelector", parameter),
        deadline=deadline_of(parameter("timeout")),
    )


def about_namespace(version: str, path: dict[str, str], parameter: Parameter) -> Question:
    """Read `namespaces/NS/metrics/METRIC`: the object described is the namespace itself."""
    segments = {
        "resource": NAMESPACES.plural,
        "name": path["namespace"],
        "metric": path["metric"],
    }
    return about_objects(version, segments, parameter)


def label_selector(key: str, parameter: Parameter) -> Selector:
    """Give the selector that stands in the parameter `key`; raises BadRequest."""
    try:
        return selector.parse(parameter(key))
    except ValueError as error:
        raise BadRequest(f"{key}: {error}") from error


def series_selector(key: str, parameter: Parameter) -> Selector:
    """Give the selector in `key`; raises BadRequest also when it cannot be asked of Prometheus."""
    found = label_selector(key, parameter)
    try:
        from_selector(found)
    except ValueError as error:
        raise BadRequest(f"{key}: {error}") from error
    return found


def _check_fields(text: str, name: str) -> None:
    """Accept only what says again which object is meant; a `fieldSelector` selects nothing here."""
    for requirement in filter(None, text.split(",")):
        key, _, value = requirement.partition("=")
        if (key.strip(), value.removeprefix("=").strip()) != ("metadata.name", name):
            msg = f"fieldSelector: only metadata.name={name}, the name in the path, is possible"
            raise BadRequest(msg)


def deadline_of(text: str) -> float:
    """Give the seconds that `text`, a duration or nothing, leaves for the answer, DEADLINE at most.

    Raises BadRequest.
    """
    if not text:
        return DEADLINE
    try:
        asked = duration(text)
    except ValueError as error:
        raise BadRequest(f"timeout: {error}") from error
    return min(asked, DEADLINE) if asked else DEADLINE
