"""A stand-in for dcgm-exporter: one page a node, for a whole fleet, from one process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from tests.cluster.fleet import Binding, Fleet, Gpu, Readings, Slot, exposition
from tests.cluster.prometheus import Target
from tests.cluster.textserver import TextServer

Load = Callable[[Gpu, Binding | None], Readings]
"""What a GPU reads now, given who has it."""
Bindings = Callable[[], Mapping[Slot, Binding]]

EXPORTER_NAMESPACE = "gpu-operator"
SERVICE = "nvidia-dcgm-exporter"


def idle(gpu: Gpu, binding: Binding | None) -> Readings:
    """A GPU that does nothing and holds little memory."""
    return {
        "DCGM_FI_DEV_GPU_UTIL": 0,
        "DCGM_FI_DEV_FB_USED": 627,
        "DCGM_FI_DEV_FB_FREE": 142_530,
    }


def utilisation(of: Callable[[Binding], float | None]) -> Load:
    """A load that a function of the workload decides, in percent; None and idle GPUs read 0."""

    def load(gpu: Gpu, binding: Binding | None) -> Readings:
        busy = of(binding) if binding else None
        return {**idle(gpu, binding), "DCGM_FI_DEV_GPU_UTIL": busy or 0}

    return load


@dataclass(slots=True, kw_only=True)
class Exporter:
    """The exporters of all nodes of a fleet, on one server.

    Allocation comes from the fleet's file and, where given, live from whoever runs the pods.
    """

    server: TextServer
    fleet: Fleet
    load: Load = idle
    live: Bindings = dict
    target_labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that relabelling would add to each target, or instead of the usual ones."""
    _set: dict[tuple[Slot, str], float | None] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for node in self.fleet.nodes:
            self.server.publish(self._path(node), partial(self.text, node))

    def set(self, slot: Slot, name: str, value: float | None) -> None:
        """Fix one field of one GPU whatever the load says; None leaves the series out."""
        self._set[slot, name] = value

    def release(self) -> None:
        """Let the load say everything again."""
        self._set.clear()

    def bindings(self) -> Mapping[Slot, Binding]:
        """Who has which GPU now."""
        return {**self.fleet.bindings, **self.live()}

    def text(self, node: str) -> str:
        """What the node's exporter prints now."""
        bindings, gpus = self.bindings(), self.fleet.on(node)
        readings = {gpu: self._readings(gpu, bindings.get(gpu.slot)) for gpu in gpus}
        return exposition(gpus, readings, bindings, self.fleet.spelling)

    def targets(self) -> list[Target]:
        """What Prometheus scrapes, with the labels that a ServiceMonitor gives."""
        return [self._target(node) for node in self.fleet.nodes]

    def _readings(self, gpu: Gpu, binding: Binding | None) -> Readings:
        values: dict[str, float | None] = dict(self.load(gpu, binding))
        values |= {name: value for (slot, name), value in self._set.items() if slot == gpu.slot}
        return {name: value for name, value in values.items() if value is not None}

    def _target(self, node: str) -> Target:
        labels = {
            "namespace": EXPORTER_NAMESPACE,
            "pod": f"{SERVICE}-{node}",
            "container": SERVICE,
            "service": SERVICE,
            "endpoint": "gpu-metrics",
            "job": SERVICE,
            "instance": f"{node}:9400",
            **self.target_labels,
        }
        return Target(address=self.server.address, path=self._path(node), labels=labels)

    def _path(self, node: str) -> str:
        return f"/{node}/metrics"
