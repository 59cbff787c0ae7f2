"""What a request for values asks, read from its path and query."""

from collections.abc import Callable
from dataclasses import dataclass

from adapter.errors import BadRequest
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
        objects=_selector("labelSelector", parameter),
        series=_series_selector(parameter),
        deadline=_deadline(parameter("timeout")),
    )


def about_namespace(version: str, path: dict[str, str], parameter: Parameter) -> Question:
    """Read `namespaces/NS/metrics/METRIC`: the object described is the namespace itself."""
    segments = {
        "resource": NAMESPACES.plural,
        "name": path["namespace"],
        "metric": path["metric"],
    }
    return about_objects(version, segments, parameter)


def _selector(key: str, parameter: Parameter) -> Selector:
    try:
        return selector.parse(parameter(key))
    except ValueError as error:
        raise BadRequest(f"{key}: {error}") from error


def _series_selector(parameter: Parameter) -> Selector:
    key = "metricLabelSelector"
    found = _selector(key, parameter)
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


def _deadline(text: str) -> float:
    if not text:
        return DEADLINE
    try:
        asked = duration(text)
    except ValueError as error:
        raise BadRequest(f"timeout: {error}") from error
    return min(asked, DEADLINE) if asked else DEADLINE
