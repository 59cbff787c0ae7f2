"""A look says what the cluster and Prometheus say, and an act ends when its state is complete."""

from typing import Any

import pytest

from demo.seen import Act, Seen, look
from tests.demo.looks import a_look, a_pod, a_sample, an_autoscaler

GROW = Act(words="load on", load_on=True, replicas=4, seconds=90, pause=0)


def seen(autoscaler: dict[str, Any], *pods: dict[str, Any], **samples: str) -> Seen:
    found = [a_sample(name.replace("_", "-"), value) for name, value in samples.items()]
    return look(second=7, load_on=True, autoscaler=autoscaler, pods={"items": pods}, samples=found)


def test_value_and_replicas_are_those_of_the_autoscalers_status() -> None:
    value = {"type": "Pods", "pods": {"current": {"averageValue": "98500m"}}}

    told = seen(an_autoscaler(desiredReplicas=3, currentMetrics=[value]), a_pod("w-a"))

    assert (told.current, told.target, told.desired, told.replicas) == ("98500m", "40", 3, 1)


@pytest.mark.parametrize("metrics", [None, [], [{"type": ""}]])
def test_an_autoscaler_without_a_reading_has_no_value(metrics: object) -> None:
    assert seen(an_autoscaler(currentMetrics=metrics)).current is None


def test_an_autoscaler_without_a_status_wants_nothing_yet() -> None:
    autoscaler = an_autoscaler()
    del autoscaler["status"]

    assert (seen(autoscaler).desired, seen(autoscaler).current) == (0, None)


def test_only_pods_that_run_and_stay_count_as_replicas() -> None:
    pods = [a_pod("w-a"), a_pod("w-b", "Pending"), a_pod("w-c", deletionTimestamp="2026-12-01")]

    assert seen(an_autoscaler(), *pods).replicas == 1


def test_use_is_told_of_running_pods_only_and_never_made_up() -> None:
    """w-b runs unmeasured; w-gone is measured and gone."""
    told = seen(an_autoscaler(), a_pod("w-a"), a_pod("w-b"), w_a="98", w_gone="100")

    assert told.utilisation == {"w-a": 98.0}


def test_workers_are_told_eldest_first() -> None:
    young, old = "2026-12-01T12:00:05Z", "2026-12-01T12:00:00Z"
    pods = [a_pod("w-a", creationTimestamp=young), a_pod("w-b", creationTimestamp=old)]

    assert list(seen(an_autoscaler(), *pods, w_a="1", w_b="2").utilisation) == ["w-b", "w-a"]


def test_an_act_ends_when_all_replicas_are_wanted_running_and_measured() -> None:
    assert GROW.reached(a_look(desired=4, replicas=4, use=(100, 100, 100, 97), current="99250m"))


@pytest.mark.parametrize(
    "short",
    [
        a_look(desired=3, replicas=4, use=(100,) * 4),
        a_look(desired=4, replicas=3, use=(100,) * 3),
        a_look(desired=4, replicas=4, use=(100,) * 3),
        a_look(desired=4, replicas=4, use=(100,) * 4, current=None),
    ],
)
def test_an_act_goes_on_while_anything_is_missing(short: Seen) -> None:
    assert not GROW.reached(short)
