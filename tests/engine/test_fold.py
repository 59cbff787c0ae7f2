"""Samples become one value an object; what is missing stays missing."""

import math
import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.engine.catalogue import Offer
from adapter.engine.causes import Cause
from adapter.engine.fold import Folded, fold
from adapter.engine.labels import Binding
from adapter.model.kinds import NAMESPACES, NODES, PODS
from adapter.model.objects import ObjectRef, Sample
from tests.engine.parts import (
    BY_POD,
    builtin_offer,
    everyone,
    gpu,
    offer,
    pod_ref,
    rule,
    sample,
)

WORKLOAD = Binding("exported_pod", "exported_namespace")
PLAIN = Binding("pod", "namespace")


def folded(
    *samples: Sample,
    of: Offer | None = None,
    wanted: Sequence[ObjectRef] | None = None,
    namespace: str | None = None,
) -> Folded:
    """Fold samples of the first binding."""
    one = of or offer()
    return fold(
        [(one.bindings[0], samples)], one, alive=everyone, wanted=wanted, namespace=namespace
    )


def of_series(series: str, query: str = "<<.Series>>{<<.LabelMatchers>>}") -> Offer:
    """Give an offer of another series on pods."""
    return offer(rule(query), series=series)


def test_each_object_has_the_value_of_its_sample() -> None:
    result = folded(gpu(80, "llm-0", "GPU-1"), gpu(40, "llm-1", "GPU-2"))
    assert result.values == {pod_ref("llm-0"): 80, pod_ref("llm-1"): 40}


def test_pods_of_one_name_in_two_namespaces_are_two_objects() -> None:
    result = folded(gpu(80, uuid="GPU-1"), gpu(40, uuid="GPU-2", namespace="dev"))
    assert result.values == {pod_ref("llm-0"): 80, pod_ref("llm-0", "dev"): 40}


def test_utilisation_of_several_devices_is_their_mean() -> None:
    result = folded(gpu(90, uuid="GPU-1"), gpu(10, uuid="GPU-2"))
    assert result.values == {pod_ref("llm-0"): 50}


def test_memory_of_several_devices_is_their_sum() -> None:
    memory = of_series("DCGM_FI_DEV_FB_USED")
    result = folded(gpu(40000, uuid="GPU-1"), gpu(30000, uuid="GPU-2"), of=memory)
    assert result.values == {pod_ref("llm-0"): 70000}


def test_of_several_devices_error_codes_the_largest_counts() -> None:
    codes = of_series("DCGM_FI_DEV_XID_ERRORS")
    result = folded(gpu(0, uuid="GPU-1"), gpu(79, uuid="GPU-2"), gpu(31, uuid="GPU-3"), of=codes)
    assert result.values == {pod_ref("llm-0"): 79}


def test_a_device_scraped_twice_counts_once() -> None:
    power = of_series("DCGM_FI_DEV_POWER_USAGE")
    result = folded(gpu(300, job="a"), gpu(310, job="b"), gpu(300, job="c"), of=power)
    assert result.values == {pod_ref("llm-0"): 310}


def test_a_device_is_known_by_the_old_spelling_of_its_id_too() -> None:
    power = of_series("DCGM_FI_DEV_POWER_USAGE")
    labels = {"exported_pod": "llm-0", "exported_namespace": "ml", "uuid": "GPU-1"}
    result = folded(*(sample(300, labels | {"job": job}) for job in ("a", "b")), of=power)
    assert result.values == {pod_ref("llm-0"): 300}


def test_the_last_digit_of_a_sum_does_not_depend_on_the_order() -> None:
    power = of_series("DCGM_FI_DEV_POWER_USAGE")
    samples = [gpu(watts, uuid=f"GPU-{watts}") for watts in (0.1, 0.2, 0.3)]
    assert folded(*samples, of=power) == folded(*reversed(samples), of=power)


def test_two_instances_of_one_device_are_two() -> None:
    engine = of_series("DCGM_FI_PROF_GR_ENGINE_ACTIVE")
    result = folded(gpu(0.2, GPU_I_ID="7"), gpu(0.4, GPU_I_ID="8"), of=engine)
    assert result.values[pod_ref("llm-0")] == pytest.approx(0.3)


def test_a_device_shared_by_two_pods_of_a_namespace_counts_once_for_it() -> None:
    home = offer(rule(), NAMESPACES, series="DCGM_FI_DEV_POWER_USAGE")
    result = folded(gpu(300, "llm-0"), gpu(300, "llm-1"), gpu(100, "llm-2", "GPU-2"), of=home)
    assert result.values == {ObjectRef("", "ml"): 400}


def test_of_an_unknown_series_the_largest_counts_and_the_rule_is_named() -> None:
    queue = of_series("queue_length")
    labels = {"exported_pod": "llm-0", "exported_namespace": "ml"}
    result = folded(sample(3, labels | {"q": "a"}), sample(5, labels | {"q": "b"}), of=queue)
    assert result.values == {pod_ref("llm-0"): 5}
    assert [warning.startswith("rules.yaml:3: rule 1: ") for warning in result.warnings] == [True]


def test_one_series_an_object_is_nothing_to_warn_of() -> None:
    assert folded(gpu(3), of=of_series("queue_length")).warnings == ()
    assert folded(gpu(3), gpu(4, uuid="GPU-2")).warnings == ()


@pytest.mark.parametrize(
    ("series", "value", "cause", "words"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", math.nan, Cause.NAN, "its value is NaN"),
        ("DCGM_FI_DEV_GPU_UTIL", math.inf, Cause.INFINITE, "its value is infinite"),
        ("DCGM_FI_DEV_GPU_UTIL", -math.inf, Cause.INFINITE, "its value is infinite"),
        (
            "DCGM_FI_DEV_GPU_UTIL",
            9223372036854775794.0,
            Cause.BLANK,
            "its value is a DCGM blank value",
        ),
        (
            "DCGM_FI_PROF_SM_ACTIVE",
            140737488355328.0,
            Cause.BLANK,
            "its value is a DCGM blank value",
        ),
        (
            "DCGM_FI_DEV_GPU_UTIL",
            101,
            Cause.OUT_OF_RANGE,
            "its value is outside the possible range of DCGM_FI_DEV_GPU_UTIL (0 to 100)",
        ),
        (
            "DCGM_FI_DEV_GPU_UTIL",
            -1,
            Cause.OUT_OF_RANGE,
            "its value is outside the possible range of DCGM_FI_DEV_GPU_UTIL (0 to 100)",
        ),
        ("queue_length", 1e16, Cause.TOO_LARGE, "its value is larger than a quantity can hold"),
    ],
)
def test_what_is_no_measurement_is_left_out_counted_and_told(
    series: str, value: float, cause: Cause, words: str
) -> None:
    result = folded(gpu(value), gpu(30, "llm-1", "GPU-2"), of=of_series(series, BY_POD))
    left_out = folded(gpu(value), of=of_series(series))
    assert pod_ref("llm-0") not in result.values
    assert left_out.values == {}
    assert left_out.dropped == {pod_ref("llm-0"): words}
    assert left_out.counts == {cause: 1}


def test_the_bounds_of_a_field_are_possible_values() -> None:
    result = folded(gpu(0, "llm-0", "GPU-1"), gpu(100, "llm-1", "GPU-2"))
    assert result.values == {pod_ref("llm-0"): 0, pod_ref("llm-1"): 100}


def test_a_query_that_changes_the_unit_may_pass_the_bounds_of_the_field() -> None:
    scaled = of_series("DCGM_FI_PROF_SM_ACTIVE", "100 * <<.Series>>{<<.LabelMatchers>>}")
    assert folded(gpu(43), of=scaled).values == {pod_ref("llm-0"): 43}


def test_nor_is_a_large_number_of_another_unit_a_blank() -> None:
    memory = of_series("DCGM_FI_DEV_FB_USED", "1048576 * <<.Series>>{<<.LabelMatchers>>}")
    assert folded(gpu(2.0**47), of=memory).values == {pod_ref("llm-0"): 2.0**47}


def test_large_numbers_of_series_other_than_dcgms_are_no_blanks() -> None:
    result = folded(gpu(140737488355328.0), of=of_series("bytes_total"))
    assert result.values == {pod_ref("llm-0"): 140737488355328.0}


def test_a_device_without_measurement_leaves_the_others_of_its_object() -> None:
    result = folded(gpu(math.nan, uuid="GPU-1"), gpu(60, uuid="GPU-2"))
    assert result.values == {pod_ref("llm-0"): 60}
    assert result.dropped == {}
    assert result.counts == {Cause.NAN: 1}


def test_a_sum_that_no_quantity_holds_is_left_out() -> None:
    energy = of_series("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")
    result = folded(gpu(6e15, uuid="GPU-1"), gpu(6e15, uuid="GPU-2"), of=energy)
    assert result.values == {}
    assert result.counts == {Cause.TOO_LARGE: 1}
    assert pod_ref("llm-0") in result.dropped


def test_a_pods_sample_that_is_not_of_the_living_pod_is_left_out() -> None:
    def alive(ref: ObjectRef, labels: Mapping[str, str]) -> bool:
        return labels["UUID"] != "GPU-1"

    one = offer()
    samples = [gpu(80, "llm-0", "GPU-1"), gpu(40, "llm-1", "GPU-2")]
    result = fold([(WORKLOAD, samples)], one, alive=alive)
    assert result.values == {pod_ref("llm-1"): 40}
    assert result.counts == {Cause.NOT_ALIVE: 1}
    assert "ended, moved or had this name before" in result.dropped[pod_ref("llm-0")]


def test_whether_other_kinds_live_is_not_asked() -> None:
    def nobody(ref: ObjectRef, labels: Mapping[str, str]) -> bool:
        return False

    nodes = builtin_offer("DEV_GPU_UTIL_current", NODES, ["Hostname"])
    samples = [gpu(80, Hostname="gpu-a")]
    result = fold([(nodes.bindings[0], samples)], nodes, alive=nobody)
    assert result.values == {ObjectRef("", "gpu-a"): 80}


SCRAPED = {
    "pod": "nvidia-dcgm-exporter-x7k2p",
    "namespace": "gpu-operator",
    "service": "nvidia-dcgm-exporter",
    "job": "nvidia-dcgm-exporter",
    "UUID": "GPU-3",
}
BOTH = ("exported_pod", "exported_namespace", "pod", "namespace", "pod_name", "pod_namespace")


def test_a_gpu_value_is_never_given_to_the_exporters_own_pod() -> None:
    pods = builtin_offer("DEV_GPU_UTIL_current", PODS, BOTH)
    result = fold([(PLAIN, [sample(0, SCRAPED)])], pods, alive=everyone)
    assert result.values == {}
    assert result.counts == {Cause.EXPORTER: 1}


def test_an_idle_gpu_is_not_its_exporters_namespaces_either() -> None:
    home = builtin_offer("DEV_GPU_UTIL_current", NAMESPACES, BOTH)
    idle = [(Binding("namespace", ""), [sample(0, SCRAPED)])]
    assert fold(idle, home, alive=everyone).values == {}


def test_plain_labels_beside_exported_ones_are_the_exporters() -> None:
    """A user's rule on `pod` alone, the commonest mistake: nothing is given to the exporter."""
    pods = builtin_offer("DEV_GPU_UTIL_current", PODS, ("pod", "namespace"))
    used = sample(77, {"pod": "monitor-0", "namespace": "ops", "exported_pod": "llm-0"})
    result = fold([(PLAIN, [used])], pods, alive=everyone)
    assert (result.values, result.counts) == ({}, {Cause.EXPORTER: 1})


@pytest.mark.parametrize(
    ("label", "labels"),
    [
        ("exported_namespace", {"exported_namespace": "ml", "exported_pod": "gone"}),
        ("pod_namespace", {"pod_namespace": "ml", "pod_name": "gone"}),
        ("namespace", {"namespace": "ml", "pod": "gone"}),
    ],
)
def test_a_namespaces_value_leaves_out_pods_that_are_gone(
    label: str, labels: dict[str, str]
) -> None:
    home = builtin_offer("DEV_GPU_UTIL_current", NAMESPACES, BOTH)
    living = {key: value.replace("gone", "here") for key, value in labels.items()}
    samples = [sample(90, labels | {"UUID": "GPU-1"}), sample(10, living | {"UUID": "GPU-2"})]

    def alive(ref: ObjectRef, labels: Mapping[str, str]) -> bool:
        return ref == ObjectRef("ml", "here")

    result = fold([(Binding(label, ""), samples)], home, alive=alive)
    assert result.values == {ObjectRef("", "ml"): 10}


def test_the_old_spelling_of_the_workload_stands_beside_the_exporters_pod() -> None:
    pods = builtin_offer("DEV_GPU_UTIL_current", PODS, BOTH)
    used = sample(70, SCRAPED | {"pod_name": "llm-0", "pod_namespace": "ml"})
    vectors = [(Binding("pod_name", "pod_namespace"), [used])]
    assert fold(vectors, pods, alive=everyone).values == {pod_ref("llm-0"): 70}


def test_an_idle_gpu_counts_for_its_node() -> None:
    nodes = builtin_offer("DEV_GPU_UTIL_current", NODES, ["Hostname"])
    idle = sample(0, SCRAPED | {"Hostname": "gpu-a"})
    result = folded(idle, gpu(80, Hostname="gpu-a"), of=nodes)
    assert result.values == {ObjectRef("", "gpu-a"): 40}


def test_labels_of_both_styles_give_one_value_for_a_namespace() -> None:
    home = builtin_offer("DEV_GPU_UTIL_current", NAMESPACES, BOTH)
    plain = sample(40, {"pod": "llm-1", "namespace": "ml", "UUID": "GPU-2"})
    vectors = [(home.bindings[0], [gpu(80)]), (Binding("namespace", ""), [plain])]
    assert fold(vectors, home, alive=everyone).values == {ObjectRef("", "ml"): 60}


def test_a_sample_without_the_objects_label_is_counted_and_given_to_nobody() -> None:
    result = folded(sample(60, {}), wanted=[pod_ref("llm-0"), pod_ref("llm-1")], namespace="ml")
    assert (result.values, result.unlabelled) == ({}, 1)


def test_it_is_the_one_objects_to_which_the_query_was_limited() -> None:
    result = folded(sample(60, {}), wanted=[pod_ref("llm-0")], namespace="ml")
    assert (result.values, result.unlabelled) == ({pod_ref("llm-0"): 60}, 1)


def test_beside_a_sample_that_names_the_object_one_without_label_counts_for_nothing() -> None:
    samples = [sample(60, {}), sample(20, {"exported_pod": "llm-0"})]
    result = folded(*samples, wanted=[pod_ref("llm-0")], namespace="ml")
    assert result.values == {pod_ref("llm-0"): 20}


def test_a_nan_without_label_is_no_value_either() -> None:
    result = folded(sample(math.nan, {}), wanted=[pod_ref("llm-0")], namespace="ml")
    assert (result.values, result.dropped) == ({}, {pod_ref("llm-0"): "its value is NaN"})


def test_samples_of_others_than_the_wanted_are_left_aside() -> None:
    result = folded(gpu(80), gpu(40, "llm-1", "GPU-2"), wanted=[pod_ref("llm-1")], namespace="ml")
    assert (result.values, result.dropped) == ({pod_ref("llm-1"): 40}, {})


def test_a_query_within_one_namespace_need_not_keep_its_label() -> None:
    result = folded(sample(80, {"exported_pod": "llm-0"}), namespace="ml")
    assert result.values == {pod_ref("llm-0"): 80}


def test_without_one_a_sample_that_lacks_its_namespace_names_nobody() -> None:
    result = folded(sample(80, {"exported_pod": "llm-0"}))
    assert (result.values, result.unlabelled) == ({}, 1)


VALUES = st.one_of(
    st.floats(min_value=0, max_value=100),
    st.sampled_from([math.nan, math.inf, -math.inf, 4294967295.0, 9223372036854775794.0, -1.0]),
)
SAMPLES = st.lists(
    st.builds(
        gpu,
        VALUES,
        st.sampled_from(["llm-0", "llm-1", ""]),
        st.sampled_from(["GPU-1", "GPU-2", "GPU-3", ""]),
        namespace=st.sampled_from(["ml", "dev"]),
        GPU_I_ID=st.sampled_from(["", "7"]),
    ),
    max_size=12,
)
SERIES = st.sampled_from(
    ["DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_XID_ERRORS", "queue_length"]
)


@given(samples=SAMPLES, series=SERIES, shuffled=st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_nothing(
    samples: list[Sample], series: str, shuffled: random.Random
) -> None:
    one = of_series(series)
    other = list(samples)
    shuffled.shuffle(other)
    assert folded(*samples, of=one) == folded(*other, of=one)


@given(samples=SAMPLES, series=SERIES, again=st.integers(1, 3))
def test_copies_of_a_devices_samples_change_no_value(
    samples: list[Sample], series: str, again: int
) -> None:
    one = of_series(series)
    copies = [sample(s.value, {**s.labels, "UUID": s.labels.get("UUID", "GPU-9")}) for s in samples]
    scraped_again = [sample(s.value, {**s.labels, "job": f"job-{again}"}) for s in copies]
    assert folded(*copies, of=one).values == folded(*copies, *scraped_again, of=one).values


@given(samples=SAMPLES, series=SERIES)
def test_every_value_is_a_finite_number_and_no_object_is_both_valued_and_dropped(
    samples: list[Sample], series: str
) -> None:
    result = folded(*samples, of=of_series(series))
    assert all(map(math.isfinite, result.values.values()))
    assert not result.values.keys() & result.dropped.keys()


@given(samples=SAMPLES)
def test_a_value_lies_between_the_samples_that_made_it(samples: list[Sample]) -> None:
    result = folded(*samples)
    for ref, value in result.values.items():
        own = [s.value for s in samples if s.labels.get("exported_pod") == ref.name]
        assert any(v <= value + 1e-9 for v in own)
        assert any(v >= value - 1e-9 for v in own)
