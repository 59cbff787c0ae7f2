"""What the story is told from: one look at the autoscaler, its pods and their GPUs. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One look; `second` is counted from the story's start."""

    second: int
    load_on: bool
    utilisation: Mapping[str, float]
    """Running pod, eldest first, to its GPU's percent; a pod without a series is absent."""
    current: str | None
    """The metric as the autoscaler last read it, None while it has no value."""
    target: str
    desired: int
    replicas: int


def look(
    *,
    second: int,
    load_on: bool,
    autoscaler: Mapping[str, Any],
    pods: Mapping[str, Any],
    samples: Sequence[Mapping[str, Any]],
) -> Seen:
    """One look from an autoscaling/v2 HPA, a PodList and Prometheus's samples of GPU use."""
    eldest_first = sorted(pods["items"], key=_age)
    running = [pod["metadata"]["name"] for pod in eldest_first if _runs(pod)]
    named = {sample["metric"].get("exported_pod", ""): sample["value"][1] for sample in samples}
    status = autoscaler.get("status", {})
    return Seen(
        second=second,
        load_on=load_on,
        utilisation={name: float(named[name]) for name in running if name in named},
        current=_current(status),
        target=autoscaler["spec"]["metrics"][0]["pods"]["target"]["averageValue"],
        desired=status.get("desiredReplicas", 0),
        replicas=len(running),
    )


def _age(pod: Mapping[str, Any]) -> tuple[str, str]:
    return (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"])


def _runs(pod: Mapping[str, Any]) -> bool:
    leaving = "deletionTimestamp" in pod["metadata"]
    return pod["status"].get("phase") == "Running" and not leaving


def _current(status: Mapping[str, Any]) -> str | None:
    """The value of the Pods metric; an entry without one is how the API says that there is none."""
    for metric in status.get("currentMetrics") or ():
        value: str | None = metric.get("pods", {}).get("current", {}).get("averageValue")
        if value is not None:
            return value
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A part of the story: the load that it sets, and the replicas it waits for."""

    words: str
    load_on: bool
    replicas: int
    seconds: float
    """How long it may take."""
    pause: float
    """How long the state it has reached is looked at."""

    def reached(self, seen: Seen) -> bool:
        """Whether the autoscaler wants so many, so many run, all measured, and its value shows it."""
        wanted = (self.replicas, self.replicas, self.replicas)
        settled = (seen.desired, seen.replicas, len(seen.utilisation)) == wanted
        return settled and seen.current is not None


ACTS = (
    Act(words="one idle worker", load_on=False, replicas=1, seconds=60, pause=5),
    Act(
        words="load on: all GPUs busy",
        load_on=True,
        replicas=4,
        seconds=90,
        pause=10,
    ),
    Act(words="load off: all GPUs idle", load_on=False, replicas=1, seconds=90, pause=5),
)
