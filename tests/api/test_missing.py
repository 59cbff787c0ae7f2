"""What is answered when there is no value: the code, and the reason in the message."""

import asyncio
from dataclasses import replace

import pytest

from adapter.engine.asking import Ask
from adapter.engine.catalogue import Catalogue
from adapter.engine.reading import Reading
from adapter.errors import (
    ClusterDown,
    EndpointMissing,
    InternalError,
    PrometheusDown,
    QueryRefused,
)
from adapter.model.kinds import NODES, PODS
from adapter.sources.errors import ClusterRefused
from tests.api.world import P1, P2, RULE, StillBoard, World, message, offer, ref, values_of

pytestmark = pytest.mark.anyio

LIST = f"{P2}/namespaces/ml/pods/*/gpu_util"
ONE = f"{P2}/namespaces/ml/pods/llm-0/gpu_util"
NOT_FOUND = "the server could not find the metric gpu_util for pods"


async def _told(world: World, path: str, code: int) -> str:
    answer = await world.get(path)
    assert answer.status_code == code, answer.text
    assert "retry-after" not in answer.headers
    return message(answer)


async def test_an_unknown_metric_is_not_found() -> None:
    assert await _told(World(), f"{P2}/namespaces/ml/pods/*/nope", 404) == (
        "the server could not find the metric nope for pods: no rule offers a metric of this name"
        " in namespace ml, or Prometheus has no series for it"
    )


async def test_an_unknown_metric_names_the_rules_that_fail() -> None:
    """It may well be theirs."""
    world = World(catalogue=Catalogue([offer(PODS)], failed=[RULE, replace(RULE, number=2)]))
    told = await _told(world, f"{P2}/namespaces/ml/pods/*/nope", 404)
    assert told.endswith("discovery fails for rule 1 (rules.yaml:3), rule 2 (rules.yaml:3)")


async def test_a_metric_of_other_kinds_says_of_which() -> None:
    world = World(catalogue=Catalogue([offer(NODES)]))
    assert await _told(world, LIST, 404) == f"{NOT_FOUND}: it is offered for nodes only"


async def test_an_unknown_kind_is_not_found() -> None:
    told = await _told(World(), f"{P2}/namespaces/ml/llamas/x/gpu_util", 404)
    assert told == (
        "the server could not find the metric gpu_util for llamas x: the cluster has no kind"
        " named llamas"
    )


async def test_before_discovery_nothing_is_denied() -> None:
    world = World(catalogue=Catalogue(), discovered=False)
    told = await _told(world, LIST, 503)
    assert told == f"{NOT_FOUND}: Prometheus has not answered discovery yet"


async def test_a_selector_that_matches_no_pod_is_not_found() -> None:
    told = await _told(World(), f"{LIST}?labelSelector=app%3Dnone", 404)
    assert told == f"{NOT_FOUND}: no live pod in namespace ml matches app=none"


async def test_a_namespace_without_pods_is_not_found() -> None:
    told = await _told(World(), f"{P2}/namespaces/void/pods/*/gpu_util", 404)
    assert told == f"{NOT_FOUND}: there is no live pod in namespace void"


async def test_live_pods_without_a_sample_are_an_empty_list() -> None:
    answer = await World().get(LIST)
    assert (answer.status_code, answer.json()["items"]) == (200, [])


async def test_one_pod_without_a_sample_is_not_found_and_never_zero() -> None:
    assert await _told(World(), ONE, 404) == (
        f"{NOT_FOUND} llm-0: Prometheus has no sample of DCGM_FI_DEV_GPU_UTIL for pod llm-0"
        " in namespace ml"
    )


async def test_the_reason_names_the_metric_selector() -> None:
    told = await _told(World(), f"{ONE}?metricLabelSelector=gpu%3D9", 404)
    assert "no sample of DCGM_FI_DEV_GPU_UTIL with gpu=9 for pod llm-0" in told


async def test_pods_without_a_sample_are_left_out() -> None:
    world = World()
    world.board.values = {ref("llm-1"): 0.5}
    assert values_of(await world.get(LIST)) == {"llm-1": "500m"}


async def test_a_dropped_sample_is_left_out_of_the_list() -> None:
    world = World()
    world.board.values, world.board.dropped = {ref("llm-1"): 1}, {ref("llm-0"): "its value is NaN"}
    assert values_of(await world.get(LIST)) == {"llm-1": "1"}


async def test_a_dropped_sample_is_not_found_with_its_cause() -> None:
    world = World()
    world.board.dropped = {ref("llm-0"): "its value is NaN"}
    assert await _told(world, ONE, 404) == (
        f"{NOT_FOUND} llm-0: the sample of DCGM_FI_DEV_GPU_UTIL for pod llm-0 in namespace ml"
        " is left out: its value is NaN"
    )


async def test_a_pod_that_does_not_live_is_not_found_though_it_has_series() -> None:
    world = World()
    world.board.values = {ref("gone"): 100}
    told = await _told(world, f"{P2}/namespaces/ml/pods/gone/gpu_util", 404)
    assert told == f"{NOT_FOUND} gone: pod gone in namespace ml does not exist or has ended"
    assert world.board.asked == []


async def test_a_node_that_is_not_there_is_not_said_to_be_in_a_namespace() -> None:
    told = await _told(World(), f"{P2}/namespaces/ml/nodes/gpu-z/gpu_util", 404)
    assert told.endswith("for nodes gpu-z: node gpu-z does not exist")


@pytest.mark.parametrize("name", ["*", "llm-0"])
async def test_a_namespaced_kind_without_a_namespace_is_not_found(name: str) -> None:
    told = await _told(World(), f"{P2}/pods/{name}/gpu_util", 404)
    assert told.endswith(": pods live in namespaces, ask namespaces/NAMESPACE/pods")


async def test_a_prometheus_that_is_down_is_unavailable_with_the_cause() -> None:
    world = World(board=StillBoard(failure=PrometheusDown("connection refused")))
    expected = f"{NOT_FOUND}: Prometheus gives no answer in namespace ml: connection refused"
    assert await _told(world, LIST, 503) == expected


async def test_a_prometheus_without_its_query_endpoint_is_unavailable() -> None:
    world = World(board=StillBoard(failure=EndpointMissing("404 at /api/v1/query")))
    assert "404 at /api/v1/query" in await _told(world, ONE, 503)


async def test_a_refused_query_is_told_in_the_words_of_prometheus() -> None:
    world = World(board=StillBoard(failure=QueryRefused('parse error: unexpected ")"')))
    assert await _told(world, LIST, 500) == (
        f"{NOT_FOUND}: Prometheus refuses the query of rule 1 (rules.yaml:3) in namespace ml:"
        ' parse error: unexpected ")"'
    )


async def test_a_rule_that_gives_no_query_is_told() -> None:
    world = World(board=StillBoard(failure=InternalError("rule 1: the query is empty")))
    assert await _told(world, LIST, 500) == f"{NOT_FOUND}: rule 1: the query is empty"


async def test_several_objects_and_no_label_to_tell_them_apart_is_an_error() -> None:
    world = World(board=StillBoard(unlabelled=1))
    assert await _told(world, LIST, 500) == (
        f"{NOT_FOUND}: the answer to rule 1 (rules.yaml:3) lacks label exported_pod,"
        " aggregate by (<<.GroupBy>>) to keep it"
    )


async def test_one_object_takes_the_answer_that_has_no_label() -> None:
    """The board gives the value to the only object that the query was limited to."""
    world = World(board=StillBoard(values={ref("web-0"): 60}, unlabelled=1))
    answer = await world.get(f"{LIST}?labelSelector=app%3Dweb")
    assert values_of(answer) == {"web-0": "60"}


async def test_a_list_that_the_cluster_does_not_give_is_an_internal_error() -> None:
    world = World()
    world.objects.failure = ClusterDown("kube-apiserver does not answer")
    told = await _told(world, LIST, 500)
    assert told.startswith(f"{NOT_FOUND}: unable to list matching resources in namespace ml: ")


@pytest.mark.parametrize(
    "failure",
    [ClusterRefused("forbidden", status=403), ClusterDown("kube-apiserver does not answer")],
)
async def test_an_object_that_cannot_be_looked_for_is_answered_by_its_series(
    failure: ClusterDown,
) -> None:
    world = World()
    world.board.values = {ref("llm-0"): 5}
    world.objects.failure = failure
    assert values_of(await world.get(ONE)) == {"llm-0": "5"}


async def test_the_deadline_is_a_timeout() -> None:
    """A board that never answers, and a client that waits a millisecond."""
    world = World(board=_SilentBoard())
    told = await _told(world, f"{LIST}?timeout=1ms", 504)
    assert told == f"{NOT_FOUND}: no answer in namespace ml within 0.001 seconds"


async def test_the_reason_fits_in_an_event() -> None:
    world = World(board=StillBoard(failure=QueryRefused("word " * 200)))
    assert len(await _told(world, LIST, 500)) <= 300


async def test_the_reason_is_one_line() -> None:
    world = World(board=StillBoard(failure=QueryRefused("one\ntwo")))
    assert (await _told(world, LIST, 500)).endswith("one two")


@pytest.mark.parametrize(
    "query",
    [
        "labelSelector=a%3D%3D%3Db",
        "metricLabelSelector=modelName%3DNVIDIA+H200",
        "metricLabelSelector=gpu%3E1",
        "metricLabelSelector=gpu%3C1",
        "metricLabelSelector=app.kubernetes.io%2Fname%3Dx",
        "metricLabelSelector=my-key%3Dx",
        "fieldSelector=metadata.name%3Dllm-1",
        "fieldSelector=metadata.namespace%3Dml",
        "timeout=soon",
    ],
)
async def test_a_parameter_that_cannot_be_read_is_a_bad_request(query: str) -> None:
    told = await _told(World(), f"{ONE}?{query}", 400)
    assert told.startswith(query.partition("=")[0] + ": ")


@pytest.mark.parametrize("root", [P1, P2])
async def test_a_path_too_short_for_a_namespaced_metric_is_a_bad_request(root: str) -> None:
    told = await _told(World(), f"{root}/namespaces/ml/gpu_util", 400)
    assert told.startswith("invalid request path")


class _SilentBoard(StillBoard):
    async def read(self, ask: Ask) -> Reading:
        await asyncio.Event().wait()
        raise AssertionError
