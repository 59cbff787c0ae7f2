"""Whether a sample can be of the pod that lives."""

from adapter.engine.life import Life
from adapter.model.objects import ObjectRef, Pod

REF = ObjectRef("ml", "llm-0")
NODE_NAMES = frozenset({"gpu-a", "gpu-b"})


def life(pod: Pod | None, *, synced: bool = True) -> Life:
    """Give a life with one pod at most."""
    return Life(
        pod=lambda namespace, name: pod if (namespace, name) == ("ml", "llm-0") else None,
        node_names=lambda: NODE_NAMES,
        synced=lambda: synced,
    )


TARGET = {"namespace": "ml", "pod": "llm-0", "instance": "10.1.2.3:9400"}


def at(ip: str) -> Life:
    """Give a life in which llm-0 has this address."""
    return life(Pod(namespace="ml", name="llm-0", ip=ip, labels={}))


def test_a_pod_at_the_address_that_was_scraped_is_the_exporter() -> None:
    assert at("10.1.2.3").is_exporter(TARGET)
    assert at("fd00::3").is_exporter(TARGET | {"instance": "[fd00::3]:9400"})


def test_a_pod_at_another_address_is_none_whatever_the_job_is_called() -> None:
    assert not at("10.1.2.4").is_exporter(TARGET | {"job": "llm", "service": "llm"})


def test_what_the_labels_say_counts_before_any_address() -> None:
    assert at("10.1.2.4").is_exporter(TARGET | {"exported_pod": "train-0"})


def test_without_addresses_the_names_are_compared() -> None:
    assert at("").is_exporter(TARGET | {"service": "llm"})
    assert at("10.1.2.4").is_exporter(TARGET | {"instance": "gpu-a:9400", "service": "llm"})
    assert life(None).is_exporter(TARGET | {"job": "ops/llm"})
    assert not at("").is_exporter(TARGET)


def living(*, uid: str = "u1", node: str = "gpu-a") -> Life:
    """Give a life in which llm-0 runs."""
    return life(Pod(namespace="ml", name="llm-0", uid=uid, node=node, labels={}))


def test_a_pod_that_does_not_live_has_no_samples() -> None:
    assert not life(None).alive(REF, {})


def test_before_the_pods_are_known_everything_counts_as_alive() -> None:
    assert life(None, synced=False).alive(REF, {"pod_uid": "u9", "UUID": "GPU-1"})


def test_a_living_pod_has_its_samples() -> None:
    assert living().alive(REF, {"pod_uid": "u1", "UUID": "GPU-1", "Hostname": "gpu-a"})


def test_a_sample_of_the_pod_that_had_the_name_before_is_not_its_own() -> None:
    assert not living().alive(REF, {"pod_uid": "u0"})


def test_a_uid_not_known_yet_contradicts_nothing() -> None:
    assert living(uid="").alive(REF, {"pod_uid": "u0"})


def test_a_device_in_another_node_is_of_the_pod_before_it_moved() -> None:
    assert not living().alive(REF, {"UUID": "GPU-1", "Hostname": "gpu-b"})
    assert not living().alive(REF, {"UUID": "GPU-1", "hostname": "gpu-b"})
    assert not living().alive(REF, {"UUID": "GPU-1", "node": "gpu-b"})


def test_a_hostname_that_is_no_node_says_nothing() -> None:
    assert living().alive(REF, {"UUID": "GPU-1", "Hostname": "dcgm-exporter-x7k2p"})


def test_behind_a_hostname_that_is_a_pod_the_node_label_counts() -> None:
    labels = {"UUID": "GPU-1", "Hostname": "dcgm-exporter-x7k2p", "node": "gpu-b"}
    assert not living().alive(REF, labels)


def test_the_node_of_a_series_without_device_may_be_its_exporters() -> None:
    assert living().alive(REF, {"node": "gpu-b"})


def test_a_pod_that_has_no_node_yet_has_not_moved() -> None:
    assert living(node="").alive(REF, {"UUID": "GPU-1", "Hostname": "gpu-b"})
