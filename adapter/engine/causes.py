"""Why a sample is left out before it becomes a value."""

import math
from collections.abc import Mapping
from enum import IntEnum

from adapter.engine.catalogue import Offer
from adapter.engine.labels import Binding
from adapter.engine.question import Alive, IsExporter
from adapter.model.kinds import NAMESPACES, PODS
from adapter.model.objects import ObjectRef, Sample
from adapter.model.quantity import LARGEST_MILLI
from adapter.rules.dcgm import field_of, is_blank, is_gpu, names_exporter

_LARGEST = LARGEST_MILLI / 1000


class Cause(IntEnum):
    """Causes in the order in which they are told when an object's samples have several."""

    NAN = 1
    INFINITE = 2
    BLANK = 3
    OUT_OF_RANGE = 4
    TOO_LARGE = 5
    NOT_ALIVE = 6
    EXPORTER = 7
    NEGATIVE = 8

    @property
    def label(self) -> str:
        """Give the name under which it is counted."""
        return self.name.lower()


_WORDS = {
    Cause.NAN: "its value is NaN",
    Cause.INFINITE: "its value is infinite",
    Cause.BLANK: "its value is a DCGM blank value",
    Cause.TOO_LARGE: "its value is larger than a quantity can hold",
    Cause.NOT_ALIVE: "its series are of a pod that ended, moved or had this name before",
    Cause.NEGATIVE: "its value is negative",
    Cause.EXPORTER: "its series name the exporter's own pod, not a workload",
}


def cause_of(value: float) -> Cause | None:
    """Give why no quantity can hold `value`, None when one can."""
    if not math.isfinite(value):
        return Cause.NAN if math.isnan(value) else Cause.INFINITE
    return Cause.TOO_LARGE if abs(value) >= _LARGEST else None


def words_of(cause: Cause) -> str:
    """Give `cause` as the end of a sentence, where nothing is known of the series."""
    return _WORDS.get(cause, "its value is impossible")


_POD_LABELS = {
    "exported_namespace": "exported_pod",
    "pod_namespace": "pod_name",
    "namespace": "pod",
}


class Causes:
    """Judges the samples of one offer."""

    def __init__(
        self, offer: Offer, alive: Alive, is_exporter: IsExporter = names_exporter
    ) -> None:
        """Look up once what holds for every sample of `offer`."""
        kind, gpu = offer.resource.qualified, is_gpu(offer.series)
        self._series = offer.series
        self._field = field_of(offer.series) if offer.sums_unit else None
        self._summed = not offer.keeps_unit
        self._guards_blanks = offer.sums_unit and gpu
        self._alive = alive
        self._is_exporter = is_exporter
        self._of_pods = kind == PODS.qualified
        # Of a namespace only what its living pods do counts.
        self._pod_labels = _POD_LABELS if gpu and kind == NAMESPACES.qualified else {}
        # Where Prometheus keeps the target's labels these are the exporter's, for idle GPUs too.
        plain = {PODS.qualified: PODS.singular, NAMESPACES.qualified: NAMESPACES.singular}
        self._exporter_label = plain.get(kind) if gpu else None

    def of(self, ref: ObjectRef, sample: Sample, binding: Binding) -> Cause | None:
        """Give why `sample`, found by `binding`, cannot count for `ref`, None when it can."""
        labels = sample.labels
        if binding.object_label == self._exporter_label and self._is_exporter(labels):
            return Cause.EXPORTER
        pod = ref if self._of_pods else self._pod_of(ref, labels, binding)
        if pod and not self._alive(pod, labels):
            return Cause.NOT_ALIVE
        return self.of_value(sample.value)

    def _pod_of(
        self, ref: ObjectRef, labels: Mapping[str, str], binding: Binding
    ) -> ObjectRef | None:
        name = labels.get(self._pod_labels.get(binding.object_label, ""))
        return ObjectRef(ref.name, name) if name else None

    def of_value(self, value: float) -> Cause | None:
        """Give why `value` is no measurement, None when it can be one."""
        if math.isfinite(value):
            if self._guards_blanks and is_blank(value, self._field, summed=self._summed):
                return Cause.BLANK
            if self._field and not self._field.allows(value, summed=self._summed):
                return Cause.OUT_OF_RANGE
        return cause_of(value)

    def words(self, cause: Cause) -> str:
        """Give the cause as the end of a sentence; no numbers that change."""
        if cause is not Cause.OUT_OF_RANGE or self._field is None:
            return words_of(cause)
        bounds = f"{self._field.low:g} to {self._field.high:g}"
        return f"its value is outside the possible range of {self._series} ({bounds})"
