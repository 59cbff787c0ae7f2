"""GPUs, who has them, and the text that dcgm-exporter prints for a node of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.errors import HarnessError

DRIVER = "580.159.04"
MODEL = "NVIDIA H200"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Slot:
    """One GPU's place: `gpu="<index>"` on a node."""

    node: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The container that a GPU is allocated to."""

    namespace: str
    pod: str
    container: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU, or one MIG instance of it (then with profile and instance id)."""

    slot: Slot
    uuid: str
    model: str = MODEL
    profile: str = ""
    instance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What differs between releases of the exporter."""

    hostname: str = "Hostname"
    """`Hostname` up to 4.5.3-4.8.2, `hostname` afterwards."""
    empty_when_idle: bool = False
    """2.x and 3.x print container="", namespace="" and pod="" for an idle GPU."""
    driver: str = DRIVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of the exporter's list: name, Prometheus type, help, digits after the point."""

    name: str
    kind: str = "gauge"
    help: str = ""
    decimals: int = 0


FIELDS: Sequence[Field] = (
    Field(name="DCGM_FI_DEV_SM_CLOCK", help="SM clock frequency (in MHz)."),
    Field(name="DCGM_FI_DEV_MEM_CLOCK", help="Memory clock frequency (in MHz)."),
    Field(name="DCGM_FI_DEV_GPU_TEMP", help="GPU temperature (in C)."),
    Field(name="DCGM_FI_DEV_POWER_USAGE", help="Power draw (in W).", decimals=6),
    Field(name="DCGM_FI_DEV_GPU_UTIL", help="GPU utilization (in %)."),
    Field(name="DCGM_FI_DEV_MEM_COPY_UTIL", help="Memory utilization (in %)."),
    Field(name="DCGM_FI_DEV_FB_FREE", help="Framebuffer memory free (in MiB)."),
    Field(name="DCGM_FI_DEV_FB_USED", help="Framebuffer memory used (in MiB)."),
    Field(
        name="DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        kind="counter",
        help="Total energy consumption since boot (in mJ).",
    ),
    Field(
        name="DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        help="Ratio of time the graphics engine is active.",
        decimals=6,
    ),
)

Readings = Mapping[str, float]
"""Field name to value; a field that is not there is not printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """All GPUs of a cluster and the bindings that are fixed from the start."""

    gpus: Sequence[Gpu]
    bindings: Mapping[Slot, Binding]
    spelling: Spelling = Spelling()

    @property
    def nodes(self) -> Mapping[str, int]:
        """Node name to its number of physical GPUs."""
        slots = sorted({gpu.slot for gpu in self.gpus})
        return {node: len(list(group)) for node, group in groupby(slots, lambda slot: slot.node)}

    def on(self, node: str) -> Sequence[Gpu]:
        """The GPUs of one node."""
        return [gpu for gpu in self.gpus if gpu.slot.node == node]


def uniform_fleet(nodes: Mapping[str, int], *, spelling: Spelling | None = None) -> Fleet:
    """So many whole GPUs on each node, with made-up but stable UUIDs, all idle."""
    slots = [
        Slot(node=node, index=index) for node, count in nodes.items() for index in range(count)
    ]
    gpus = [Gpu(slot=slot, uuid=_uuid(number)) for number, slot in enumerate(slots)]
    return Fleet(gpus=gpus, bindings={}, spelling=spelling or Spelling())


def read_fleet(path: Path) -> Fleet:
    """A fleet from YAML: `nodes: {name: [{binding: {namespace, pod, container}, ...}]}`.

    Each list entry is a GPU and may give `uuid`, `model`, `profile`, `instance` and `binding`.
    Raises HarnessError naming the file when it says something else.
    """
    try:
        document = yaml.safe_load(path.read_text())
        return _fleet(document["nodes"])
    except (KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise HarnessError(f"{path} describes no fleet: {error}") from error


def exposition(
    gpus: Sequence[Gpu],
    readings: Mapping[Gpu, Readings],
    bindings: Mapping[Slot, Binding],
    spelling: Spelling,
) -> str:
    """The text of one exporter: for each field its head, then a line a GPU in the order given."""
    names = {name for values in readings.values() for name in values}
    known = [field for field in FIELDS if field.name in names]
    others = sorted(names - {field.name for field in known})
    lines: list[str] = []
    for field in [*known, *(Field(name=name, decimals=6) for name in others)]:
        lines += [f"# HELP {field.name} {field.help}", f"# TYPE {field.name} {field.kind}"]
        for gpu in gpus:
            if field.name in readings[gpu]:
                labels = _labels(gpu, bindings.get(gpu.slot), spelling)
                lines.append(
                    f"{field.name}{{{labels}}} {_number(readings[gpu][field.name], field)}"
                )
    return "".join(f"{line}\n" for line in lines)


def _labels(gpu: Gpu, binding: Binding | None, spelling: Spelling) -> str:
    index = gpu.slot.index
    labels = {
        "gpu": str(index),
        "UUID": gpu.uuid,
        "pci_bus_id": f"00000000:{0x15 + index:02X}:00.0",
        "device": f"nvidia{index}",
        "modelName": gpu.model,
        **({"GPU_I_PROFILE": gpu.profile, "GPU_I_ID": gpu.instance} if gpu.instance else {}),
        spelling.hostname: gpu.slot.node,
        "DCGM_FI_DRIVER_VERSION": spelling.driver,
        **_workload(binding, spelling),
    }
    return ",".join(f'{name}="{value}"' for name, value in labels.items())


def _workload(binding: Binding | None, spelling: Spelling) -> Mapping[str, str]:
    if binding:
        return {
            "container": binding.container,
            "namespace": binding.namespace,
            "pod": binding.pod,
        }
    return {"container": "", "namespace": "", "pod": ""} if spelling.empty_when_idle else {}


def _number(value: float, field: Field) -> str:
    if math.isfinite(value):
        return f"{value:.{field.decimals}f}"
    return "NaN" if math.isnan(value) else f"{value:+.0f}".title()


def _uuid(number: int) -> str:
    return f"GPU-0a000000-0000-4000-8000-{number:012x}"


def _fleet(nodes: Mapping[str, Sequence[Mapping[str, Any] | None]]) -> Fleet:
    gpus: list[Gpu] = []
    bindings: dict[Slot, Binding] = {}
    for node, entries in nodes.items():
        for index, entry in enumerate(entries):
            slot = Slot(node=node, index=index)
            given = dict(entry or {})
            if binding := given.pop("binding", None):
                bindings[slot] = Binding(**binding)
            gpus.append(Gpu(slot=slot, **{"uuid": _uuid(len(gpus)), **given}))
    return Fleet(gpus=gpus, bindings=bindings)
