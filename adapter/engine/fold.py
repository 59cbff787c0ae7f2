"""Samples become one value an object; what is missing stays missing."""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from adapter.engine.catalogue import Offer
from adapter.engine.causes import Cause, Causes, cause_of
from adapter.engine.labels import Binding
from adapter.engine.question import Alive, IsExporter
from adapter.model.objects import ObjectRef, Sample
from adapter.rules.dcgm import Combine, field_of, names_exporter

Vectors = Sequence[tuple[Binding, Sequence[Sample]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What samples came to.

    `values` has one finite number an object. `dropped` has the objects whose every sample was
    left out, with the reason in words that stay the same. `counts` has the samples left out by
    cause, `unlabelled` the samples that name no object, `warnings` one line each, stable.
    """

    values: Mapping[ObjectRef, float]
    dropped: Mapping[ObjectRef, str]
    counts: Mapping[Cause, int]
    unlabelled: int
    warnings: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Gathered:
    devices: dict[ObjectRef, dict[Hashable, float]] = field(default_factory=dict)
    faults: dict[ObjectRef, Cause] = field(default_factory=dict)
    counts: Counter[Cause] = field(default_factory=Counter)
    unlabelled: list[Sample] = field(default_factory=list)

    def add(self, ref: ObjectRef, sample: Sample, fault: Cause | None) -> None:
        if fault is None:
            devices = self.devices.setdefault(ref, {})
            device = device_of(sample.labels)
            devices[device] = max(sample.value, devices.get(device, sample.value))
            return
        self.counts[fault] += 1
        self.faults[ref] = min(fault, self.faults.get(ref, fault))


def fold(
    vectors: Vectors,
    offer: Offer,
    *,
    alive: Alive,
    is_exporter: IsExporter = names_exporter,
    wanted: Sequence[ObjectRef] | None = None,
    namespace: str | None = None,
) -> Folded:
    """Combine the samples of each binding's query into one value an object.

    `wanted` are the objects that the query was limited to, None when it was not: samples of
    others are left aside, and a sample that names no object is the one wanted object's.
    `namespace` is the one that the query was limited to, None when each sample names its own.
    `alive` tells whether a pod's sample is of the pod that lives, and `is_exporter` whether the
    plain labels of a GPU's sample are its exporter's own.

    Copies of one device, by (UUID, GPU_I_ID), count once, with the largest value. The devices of
    an object combine as the field catalogue says; for series it does not have, the largest counts
    and a warning names the rule. The order of samples changes nothing.
    """
    chosen = None if wanted is None else frozenset(wanted)
    causes = Causes(offer, alive, is_exporter)
    gathered = _Gathered()
    for binding, samples in vectors:
        for sample in samples:
            ref = _object_of(sample.labels, binding, namespace)
            if ref is None:
                gathered.unlabelled.append(sample)
            elif chosen is None or ref in chosen:
                gathered.add(ref, sample, causes.of(ref, sample, binding))
    if wanted is not None and len(wanted) == 1 and not gathered.devices:
        _give_unlabelled(gathered, wanted[0], causes)
    return _folded(gathered, offer, causes)


def device_of(labels: Mapping[str, str]) -> Hashable:
    """Give what tells one device from another; without a UUID every label set is its own."""
    uuid = labels.get("UUID") or labels.get("uuid")
    return (uuid, labels.get("GPU_I_ID", "")) if uuid else frozenset(labels.items())


def _object_of(
    labels: Mapping[str, str], binding: Binding, namespace: str | None
) -> ObjectRef | None:
    name = labels.get(binding.object_label)
    if not name:
        return None
    if not binding.namespace_label:
        return ObjectRef("", name)
    home = labels.get(binding.namespace_label) if namespace is None else namespace
    return ObjectRef(home, name) if home else None


def _give_unlabelled(gathered: _Gathered, ref: ObjectRef, causes: Causes) -> None:
    for sample in gathered.unlabelled:
        gathered.add(ref, sample, causes.of_value(sample.value))


def _folded(gathered: _Gathered, offer: Offer, causes: Causes) -> Folded:
    known = field_of(offer.series)
    how = known.combine if known else "max"
    combined = {ref: _combine(how, devices.values()) for ref, devices in gathered.devices.items()}
    for ref in [ref for ref, value in combined.items() if cause_of(value)]:
        del combined[ref]
        gathered.faults[ref] = Cause.TOO_LARGE
        gathered.counts[Cause.TOO_LARGE] += 1
    return Folded(
        values=combined,
        dropped={
            ref: causes.words(cause)
            for ref, cause in gathered.faults.items()
            if ref not in combined
        },
        counts=gathered.counts,
        unlabelled=len(gathered.unlabelled),
        warnings=_warnings(gathered, offer),
    )


def _combine(how: Combine, values: Collection[float]) -> float:
    if len(values) == 1 or how == "max":
        return max(values)
    # fsum rounds once, so the order of samples cannot change the last digit.
    total = math.fsum(values)
    return total / len(values) if how == "mean" else total


def _warnings(gathered: _Gathered, offer: Offer) -> tuple[str, ...]:
    crowded = any(len(devices) > 1 for devices in gathered.devices.values())
    if not crowded or field_of(offer.series) is not None:
        return ()
    several = f"{offer.series} has several series for one of {offer.resource.qualified}"
    return (f"{offer.rule}: {several}, the largest is served; aggregate in metricsQuery",)
