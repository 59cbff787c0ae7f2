"""GPUs are given to one container at a time."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.cluster.allocation import Allocation
from tests.cluster.fleet import Binding, Slot
from tests.cluster.pods import Pod


def pod(uid: str, *gpus: int, node: str = "") -> Pod:
    """A pod named for its uid; a container c0, c1, ... for each number of GPUs."""
    containers = [
        {"name": f"c{number}", "resources": {"limits": {"nvidia.com/gpu": str(count)}}}
        for number, count in enumerate(gpus)
    ]
    metadata = {"name": uid, "namespace": "ml", "uid": uid}
    document = {"metadata": metadata, "spec": {"nodeName": node, "containers": containers}}
    return msgspec.convert(document, Pod)


def holder(uid: str, container: str = "c0") -> Binding:
    return Binding(namespace="ml", pod=uid, container=container)


def test_pods_are_spread_over_the_nodes_in_turn() -> None:
    allocation = Allocation(nodes={"a": 2, "b": 2})
    assert [allocation.place(pod(uid, 1)) for uid in ("p", "q", "r")] == ["a", "b", "a"]


def test_each_container_gets_as_many_gpus_as_it_wants() -> None:
    allocation = Allocation(nodes={"a": 4})
    allocation.place(pod("p", 1, 2))
    assert allocation.bindings() == {
        Slot(node="a", index=0): holder("p", "c0"),
        Slot(node="a", index=1): holder("p", "c1"),
        Slot(node="a", index=2): holder("p", "c1"),
    }


def test_a_pod_that_fits_nowhere_gets_no_node_until_another_goes() -> None:
    allocation = Allocation(nodes={"a": 1})
    allocation.place(pod("p", 1))
    assert allocation.place(pod("q", 1)) is None
    assert allocation.release("p")
    assert allocation.place(pod("q", 1)) == "a"


def test_a_pod_asked_for_again_keeps_its_node() -> None:
    allocation = Allocation(nodes={"a": 4, "b": 4})
    assert allocation.place(pod("p", 1)) == allocation.place(pod("p", 1)) == "a"
    assert len(allocation.bindings()) == 1


def test_a_pod_that_is_on_a_node_already_gets_its_gpus_there() -> None:
    allocation = Allocation(nodes={"a": 1, "b": 1})
    allocation.take(pod("p", 1, node="b"))
    assert allocation.bindings() == {Slot(node="b", index=0): holder("p")}


def test_pods_that_are_gone_lose_their_gpus() -> None:
    allocation = Allocation(nodes={"a": 2})
    allocation.place(pod("p", 1))
    allocation.place(pod("q", 1))
    allocation.keep_only({"q"})
    assert list(allocation.bindings().values()) == [holder("q")]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.booleans())))
def test_no_gpu_is_given_twice_and_all_come_back(steps: list[tuple[int, int, bool]]) -> None:
    """Whatever comes and goes, a placed pod holds as many GPUs as it wants."""
    allocation = Allocation(nodes={"a": 4, "b": 2})
    placed: dict[str, int] = {}
    for gpus, number, goes in steps:
        uid = str(number)
        if goes:
            allocation.release(uid)
            placed.pop(uid, None)
        elif uid not in placed and allocation.place(pod(uid, gpus)):
            placed[uid] = gpus
    assert len(allocation.bindings()) == sum(placed.values())
