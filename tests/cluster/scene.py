"""What tests on the control plane do again and again: run pods, ask for metrics, wait."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import httpx

from tests.cluster.errors import NotReadyError
from tests.cluster.fleet import Slot
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.processes import Condition, until

GROUP = "custom.metrics.k8s.io"
V1BETA1, V1BETA2 = f"/apis/{GROUP}/v1beta1", f"/apis/{GROUP}/v1beta2"
UTILISATION, MEMORY = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"

Seen = TypeVar("Seen")


async def given_time(condition: Condition, *, seconds: float) -> None:
    """Wait until the condition holds, or so long: claims about what was seen then tell which."""
    with suppress(NotReadyError):
        await until(condition, what="so", seconds=seconds)


async def eventually(
    look: Callable[[], Awaitable[Seen]], wanted: object, *, seconds: float = 20
) -> Seen:
    """Look again and again until it is as wanted; gives what was seen last, so or not.

    The caller asserts, so that a failure shows both.
    """
    last: list[Seen] = []

    async def so() -> bool:
        last[:] = [await look()]
        return last[0] == wanted

    await given_time(so, seconds=seconds)
    return last[0]


def pod(namespace: str, name: str, *, gpus: int = 0, **labels: str) -> dict[str, Any]:
    """A Pod of one container, `main`."""
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _pod_spec(gpus)}


def deployment(namespace: str, name: str, *, gpus: int = 0, replicas: int = 1) -> dict[str, Any]:
    """A Deployment whose pods have the label `app` with its name."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _pod_spec(gpus)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def autoscaler(
    namespace: str, target: str, metric: Mapping[str, Any], *, most: int = 3
) -> dict[str, Any]:
    """An autoscaling/v2 HorizontalPodAutoscaler of the target's name, on one metric."""
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": target, "namespace": namespace},
        "spec": {
            "scaleTargetRef": reference,
            "minReplicas": 1,
            "maxReplicas": most,
            "metrics": [metric],
        },
    }


def pods_metric(name: str, average: str) -> dict[str, Any]:
    """A metric of type Pods with the average to keep."""
    target = {"type": "AverageValue", "averageValue": average}
    return {"type": "Pods", "pods": {"metric": {"name": name}, "target": target}}


def object_metric(name: str, value: str, *, kind: str, of: str) -> dict[str, Any]:
    """A metric of type Object, on one core object, with the value to keep."""
    described = {"apiVersion": "v1", "kind": kind, "name": of}
    target = {"type": "Value", "value": value}
    metric = {"describedObject": described, "metric": {"name": name}, "target": target}
    return {"type": "Object", "object": metric}


@asynccontextmanager
async def namespace(plane: ControlPlane, kubelet: Kubelet, name: str) -> AsyncIterator[str]:
    """A namespace in which pods can be made; emptied afterwards, so that its GPUs are free."""
    await plane.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    await _wait_for(plane, f"/api/v1/namespaces/{name}/serviceaccounts/default")
    try:
        yield name
    finally:
        await plane.kubectl("delete", "hpa,deployments,pods", "--all", "-n", name, "--wait=false")
        assert await eventually(lambda: names_of_pods(plane, name), []) == []


async def run_pods(plane: ControlPlane, *pods: dict[str, Any]) -> None:
    """Make pods and wait until they run."""
    await plane.apply(*pods)
    for each in pods:
        meta = each["metadata"]
        where = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        await until(
            lambda where=where: _runs(plane, where),  # type: ignore[misc]  # a default binds it now
            what=f"{where} runs",
            seconds=20,
        )


async def names_of_pods(plane: ControlPlane, name: str) -> list[str]:
    """The pods of a namespace, whatever they do."""
    listed = await plane.get(f"/api/v1/namespaces/{name}/pods")
    return [each["metadata"]["name"] for each in listed["items"]]


def slots_of(kubelet: Kubelet, namespace: str, name: str) -> list[Slot]:
    """The GPUs that a pod has, in order."""
    bound = kubelet.bindings().items()
    return sorted(slot for slot, who in bound if (who.namespace, who.pod) == (namespace, name))


async def values(http: httpx.AsyncClient, path: str, root: str = V1BETA2) -> dict[str, str]:
    """What the metrics API says: object name to quantity; an error as `{code: message}`."""
    answer = await http.get(f"{root}/{path}")
    if not answer.is_success:
        return {str(answer.status_code): message_of(answer)}
    return {item["describedObject"]["name"]: item["value"] for item in answer.json()["items"]}


def message_of(answer: httpx.Response) -> str:
    """The message of a Status, or the body when it is none."""
    if answer.headers["content-type"] != "application/json":
        return answer.text
    return str(answer.json()["message"])


def _pod_spec(gpus: int) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    container = {"name": "main", "image": "main", "resources": {"limits": limits}}
    return {"containers": [container], "automountServiceAccountToken": False}


async def _wait_for(plane: ControlPlane, path: str) -> None:
    async def there() -> bool:
        return (await plane.http.get(path)).is_success

    await until(there, what=f"{path} is there", seconds=20)


async def _runs(plane: ControlPlane, path: str) -> bool:
    phase: str = (await plane.get(path))["status"]["phase"]
    return phase == "Running"
