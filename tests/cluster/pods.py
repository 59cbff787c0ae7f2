"""The few fields of nodes and pods that the stand-in for scheduler and kubelet reads."""

from datetime import datetime

import msgspec

GPU = "nvidia.com/gpu"
FINISHED = ("Succeeded", "Failed")


class Metadata(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who an object is."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: datetime | None = None


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """What a container asks for."""

    limits: dict[str, str] = {}


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """One container of a pod."""

    name: str
    image: str = ""
    resources: Resources = Resources()

    @property
    def gpus(self) -> int:
        """How many GPUs it wants."""
        return int(self.resources.limits.get(GPU, "0"))


class Spec(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What should run, and where."""

    node_name: str = ""
    containers: list[Container] = []
    node_selector: dict[str, str] = {}


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """How far the pod is."""

    phase: str = "Pending"


class Pod(msgspec.Struct, frozen=True, kw_only=True):
    """A pod."""

    metadata: Metadata = Metadata()
    spec: Spec = Spec()
    status: Status = Status()

    @property
    def gpus(self) -> int:
        """How many GPUs all its containers want."""
        return sum(container.gpus for container in self.spec.containers)

    @property
    def finished(self) -> bool:
        """Whether it has run to its end."""
        return self.status.phase in FINISHED

    @property
    def path(self) -> str:
        """Its path below kube-apiserver's address."""
        meta = self.metadata
        return f"/api/v1/namespaces/{meta.namespace}/pods/{meta.name}"


class PodList(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to a LIST of pods."""

    metadata: Metadata
    items: list[Pod]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a watch; the object of an ERROR is a Status, whose fields are not read."""

    type: str
    object: Pod


def binding(pod: Pod, node: str) -> dict[str, object]:
    """The body that puts a pod on a node."""
    meta = pod.metadata
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }


def running(pod: Pod, *, ip: str, now: str) -> dict[str, object]:
    """The merge patch of a pod's status once all its containers run and are ready."""
    conditions = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    return {
        "metadata": {"uid": pod.metadata.uid},
        "status": {
            "phase": "Running",
            "podIP": ip,
            "podIPs": [{"ip": ip}],
            "hostIP": "127.0.0.1",
            "startTime": now,
            "conditions": [_true(name, now) for name in conditions],
            "containerStatuses": [_container(each, now) for each in pod.spec.containers],
        },
    }


def node(name: str, *, gpus: int) -> dict[str, object]:
    """A node object."""
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    present = {"nvidia.com/gpu.present": "true"} if gpus else {}
    metadata = {"name": name, "labels": {**labels, **present}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}


def node_status(*, gpus: int, now: str) -> dict[str, object]:
    """The merge patch of a node's status that makes it ready, with its GPUs."""
    capacity = {"cpu": "64", "memory": "512Gi", "pods": "250", GPU: str(gpus)}
    return {
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [_true("Ready", now)],
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        }
    }


def _true(condition: str, now: str) -> dict[str, object]:
    return {"type": condition, "status": "True", "lastTransitionTime": now}


def _container(container: Container, now: str) -> dict[str, object]:
    return {
        "name": container.name,
        "image": container.image,
        "imageID": container.image,
        "ready": True,
        "started": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": now}},
    }
