"""What the samples of a rule's query come to, and what is in doubt about them. No I/O."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from adapter.check.report import Finding, Severity
from adapter.engine.catalogue import Offer
from adapter.engine.causes import Cause, Causes
from adapter.engine.fold import device_of
from adapter.engine.labels import Binding
from adapter.model.objects import ObjectRef, Sample
from adapter.rules.dcgm import field_of
from adapter.rules.scrutiny import told

_HOW = {"mean": "their mean", "sum": "their sum", "max": "the largest of them"}


@dataclass(slots=True, kw_only=True)
class Tally:
    """The samples of one offer by object; `unlabelled` name none, `causes` make them no value."""

    devices: dict[ObjectRef, set[Hashable]] = field(default_factory=dict)
    causes: Counter[Cause] = field(default_factory=Counter)
    unlabelled: int = 0
    samples: int = 0
    pods_as_nodes: set[str] = field(default_factory=set)


def tally(offer: Offer, vectors: Sequence[tuple[Binding, Sequence[Sample]]], home: str) -> Tally:
    """Sort the samples of each binding's query; `home` is the namespace they were limited to."""
    found, causes = Tally(), Causes(offer, lambda _ref, _labels: True)
    for binding, samples in vectors:
        for sample in samples:
            _count(found, sample, binding, home, causes)
    return found


def about_values(offer: Offer, found: Tally) -> Iterator[Finding]:
    """Give what is in doubt about the values of `offer`."""
    what, label = _what(offer), offer.bindings[0].object_label
    if not found.samples:
        yield _doubt(offer, f"{what}: the query gives nothing now", "ask Prometheus for the query")
    if found.unlabelled:
        yield _doubt(
            offer,
            f"{what}: the result does not carry {label}, so a list of several objects is an error",
            "keep it: by (<<.GroupBy>>)",
        )
    for cause, count in sorted(found.causes.items()):
        yield _left_out(offer, f"{what}: {count} of {found.samples} samples are left out", cause)
    if found.pods_as_nodes:
        yield _doubt(
            offer,
            f"{what}: {label} is {min(found.pods_as_nodes)}, the name of a pod, not of a node",
            "use a label with the node's name, or set NODE_NAME in the exporter",
        )


def about_crowds(offer: Offer, found: Tally) -> Iterator[Finding]:
    """Give an object of `offer` that has several series, the one that has most of them."""
    crowded = {ref: len(devices) for ref, devices in found.devices.items() if len(devices) > 1}
    if not crowded:
        return
    ref = max(crowded, key=lambda one: (crowded[one], one.namespace, one.name))
    known = field_of(offer.series)
    how = _HOW[known.combine if known else "max"]
    place = f" in {ref.namespace}" if ref.namespace else ""
    fault = f"{_what(offer)}: {ref.name}{place} has {crowded[ref]} series and is given {how}"
    yield _doubt(offer, fault, "aggregate: avg(...) by (<<.GroupBy>>)")


def _count(found: Tally, sample: Sample, binding: Binding, home: str, causes: Causes) -> None:
    found.samples += 1
    name = sample.labels.get(binding.object_label, "")
    space = sample.labels.get(binding.namespace_label, home) if binding.namespace_label else ""
    if not name:
        found.unlabelled += 1
        return
    ref = ObjectRef(space, name)
    cause = causes.of(ref, sample, binding)
    if cause is not None:
        found.causes[cause] += 1
        return
    found.devices.setdefault(ref, set()).add(device_of(sample.labels))
    pods = {sample.labels.get(label) for label in ("pod", "kubernetes_pod_name")}
    if name in pods and not binding.namespace_label:
        found.pods_as_nodes.add(name)


def _what(offer: Offer) -> str:
    return f"{offer.metric} on {offer.resource.qualified}"


def _left_out(offer: Offer, fault: str, cause: Cause) -> Finding:
    words = Causes(offer, lambda _ref, _labels: True).words(cause)
    # GPUs that nobody uses carry the exporter's pod wherever Prometheus overwrites labels.
    severity = Severity.NOTE if cause is Cause.EXPORTER else Severity.WARNING
    cure = "nothing needs to be done" if cause is Cause.EXPORTER else "mend the source or the query"
    return Finding.of(severity, told(offer.rule, "metricsQuery", f"{fault}: {words}", cure))


def _doubt(offer: Offer, fault: str, cure: str) -> Finding:
    return Finding.of(Severity.WARNING, told(offer.rule, "metricsQuery", fault, cure))
