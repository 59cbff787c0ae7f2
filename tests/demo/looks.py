"""Looks as the demo's story takes them, with everything at rest but what a test says."""

from collections.abc import Sequence
from typing import Any

from demo.seen import Seen


def a_look(
    *,
    second: int = 0,
    load_on: bool = False,
    use: Sequence[float] = (0.0,),
    current: str | None = "0",
    desired: int = 1,
    replicas: int = 1,
) -> Seen:
    """A look; the pods that are measured are ray-worker-6d5f-p0, -p1 and so on."""
    return Seen(
        second=second,
        load_on=load_on,
        utilisation={f"ray-worker-6d5f-p{n}": percent for n, percent in enumerate(use)},
        current=current,
        target="40",
        desired=desired,
        replicas=replicas,
    )


def a_pod(name: str, phase: str = "Running", **metadata: str) -> dict[str, Any]:
    """A pod as kube-apiserver lists it, of a certain age."""
    known = {"name": name, "creationTimestamp": "2026-12-01T12:00:00Z"}
    return {"metadata": {**known, **metadata}, "status": {"phase": phase}}


def a_sample(pod: str, value: str) -> dict[str, Any]:
    """An element of Prometheus's answer."""
    return {"metric": {"exported_pod": pod}, "value": [1.0, value]}


def an_autoscaler(**status: Any) -> dict[str, Any]:
    """hpa-gpu with a status."""
    pods = {"metric": {"name": "DEV_GPU_UTIL_current"}, "target": {"averageValue": "40"}}
    return {"spec": {"metrics": [{"type": "Pods", "pods": pods}]}, "status": status}
