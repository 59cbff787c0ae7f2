"""Questions about values: routes, shapes and what is answered."""

from urllib.parse import quote

import pytest

from adapter.engine.catalogue import Catalogue
from adapter.model.kinds import NODES, PODS, Kinds
from adapter.model.objects import Resource
from adapter.model.selector import Operator, Requirement, Selector
from tests.api.world import P1, P2, World, client, message, offer, ref, values_of

pytestmark = pytest.mark.anyio

HALF_PAST_TWO = 1796092200.0  # 2026-12-01T02:30:00Z
ROUTES = [
    f"{P2}/namespaces/ml/pods/llm-0/gpu_util",
    f"{P2}/namespaces/ml/pod/llm-0/gpu_util",
    f"{P2}/namespaces/ml/pods/llm-0/gpu_util/",
    f"{P2}/namespaces/ml/pods/llm-0/gpu_util?fieldSelector=metadata.name%3Dllm-0",
    f"{P2}/namespaces/ml/pods/llm-0/gpu_util?timeout=5s&limit=500&resourceVersion=0",
    f"{P1}/namespaces/ml/pods/llm-0/gpu_util",
]


def _metrics_of_a_pod() -> World:
    world = World()
    world.board.values = {ref("llm-0"): 97.25}
    world.board.timestamp = HALF_PAST_TWO + 0.9
    return world


async def test_v1beta2_is_exactly_what_clients_know() -> None:
    answer = await _metrics_of_a_pod().get(f"{P2}/namespaces/ml/pods/llm-0/gpu_util")
    assert answer.text == (
        '{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","metadata":{},'
        '"items":[{"describedObject":{"kind":"Pod","namespace":"ml","name":"llm-0",'
        '"apiVersion":"/v1"},"metric":{"name":"gpu_util","selector":null},'
        '"timestamp":"2026-12-01T02:30:00Z","value":"97250m"}]}\n'
    )
    assert answer.headers["content-type"] == "application/json"


async def test_v1beta1_is_exactly_what_clients_know() -> None:
    answer = await _metrics_of_a_pod().get(f"{P1}/namespaces/ml/pods/llm-0/gpu_util")
    assert answer.text == (
        '{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta1","metadata":{},'
        '"items":[{"describedObject":{"kind":"Pod","namespace":"ml","name":"llm-0",'
        '"apiVersion":"/v1"},"metricName":"gpu_util",'
        '"timestamp":"2026-12-01T02:30:00Z","value":"97250m","selector":null}]}\n'
    )


@pytest.mark.parametrize(("root", "name"), [(P1, "window"), (P2, "windowSeconds")])
async def test_the_range_of_the_query_is_the_window(root: str, name: str) -> None:
    world = _metrics_of_a_pod()
    world.board.window = 180
    answer = await world.get(f"{root}/namespaces/ml/pods/llm-0/gpu_util")
    assert answer.json()["items"][0][name] == 180


@pytest.mark.parametrize("path", ROUTES)
async def test_one_pod_answers_on_every_way_to_say_it(path: str) -> None:
    assert values_of(await _metrics_of_a_pod().get(path)) == {"llm-0": "97250m"}


@pytest.mark.parametrize("star", ["*", "%2A"])
async def test_a_star_gives_the_selected_pods_in_order(star: str) -> None:
    world = World()
    world.board.values = {ref("llm-1"): 40, ref("llm-0"): 80, ref("web-0"): 7}
    answer = await world.get(f"{P2}/namespaces/ml/pods/{star}/gpu_util?labelSelector=app%3Dllm")
    assert list(values_of(answer).items()) == [("llm-0", "80"), ("llm-1", "40")]


async def test_pods_of_other_namespaces_and_unselected_ones_stay_out() -> None:
    world = World()
    world.board.values = {ref("llm-0", "other"): 1, ref("web-0"): 2, ref("llm-0"): 3}
    answer = await world.get(f"{P2}/namespaces/ml/pods/*/gpu_util?labelSelector=app+in+(llm)")
    assert values_of(answer) == {"llm-0": "3"}


async def test_a_deleted_pod_with_series_stays_out_of_the_list() -> None:
    world = World()
    world.board.values = {ref("llm-9"): 100, ref("llm-0"): 3}
    assert values_of(await world.get(f"{P2}/namespaces/ml/pods/*/gpu_util")) == {"llm-0": "3"}


async def test_the_board_is_asked_once_about_all_selected_pods() -> None:
    world = World()
    await world.get(f"{P2}/namespaces/ml/pods/*/gpu_util?labelSelector=app%3Dllm")
    assert [(ask.namespace, ask.names) for ask in world.board.asked] == [("ml", ("llm-0", "llm-1"))]


async def test_a_namespace_has_metrics_of_its_own() -> None:
    world = World()
    world.board.values = {ref("ml", ""): 55}
    answer = await world.get(f"{P2}/namespaces/ml/metrics/gpu_util")
    described = {"kind": "Namespace", "name": "ml", "apiVersion": "/v1"}
    assert answer.json()["items"][0]["describedObject"] == described
    assert values_of(answer) == {"ml": "55"}


async def test_all_namespaces_can_be_asked_for() -> None:
    world = World()
    world.board.values = {ref("ml", ""): 55, ref("other", ""): 5}
    answer = await world.get(f"{P2}/namespaces/*/metrics/gpu_util")
    assert values_of(answer) == {"ml": "55", "other": "5"}


@pytest.mark.parametrize("prefix", [P2, f"{P2}/namespaces/ml"])
async def test_a_node_answers_with_and_without_a_namespace_in_the_path(prefix: str) -> None:
    """The HPA asks for an Object metric on a node through its own namespace."""
    world = World()
    world.board.values = {ref("gpu-a", ""): 300}
    answer = await world.get(f"{prefix}/nodes/gpu-a/gpu_util")
    assert values_of(answer) == {"gpu-a": "300"}
    assert "namespace" not in answer.json()["items"][0]["describedObject"]
    assert world.board.asked[0].namespace == ""


async def test_nodes_are_selected_by_their_labels() -> None:
    world = World()
    world.board.values = {ref("gpu-a", ""): 300, ref("gpu-b", ""): 200}
    answer = await world.get(f"{P2}/nodes/*/gpu_util?labelSelector=zone%3Db")
    assert values_of(answer) == {"gpu-b": "200"}


async def test_a_kind_of_another_group_is_named_with_its_group() -> None:
    rays = Resource(
        group="ray.io", plural="rays", singular="ray", kind="Ray", version="v1", namespaced=True
    )
    world = World(kinds=Kinds([PODS, rays]), catalogue=Catalogue([offer(rays)]))
    world.objects.known["rays"] = {ref("r"): {}}
    world.board.values = {ref("r"): 1}
    answer = await world.get(f"{P2}/namespaces/ml/rays.ray.io/r/gpu_util")
    assert answer.json()["items"][0]["describedObject"]["apiVersion"] == "ray.io/v1"


async def test_a_metric_name_may_hold_colons() -> None:
    world = World(catalogue=Catalogue([offer(PODS, "gpu:util:avg")]))
    world.board.values = {ref("llm-0"): 1}
    assert values_of(await world.get(f"{P2}/namespaces/ml/pods/llm-0/gpu:util:avg"))


async def test_an_object_metric_answers_when_the_workload_has_no_pods() -> None:
    world = World()
    world.objects.known["pods"] = {}
    world.board.values = {ref("llm"): 3}
    assert values_of(await world.get(f"{P2}/namespaces/ml/services/llm/gpu_util")) == {"llm": "3"}


async def test_the_metric_selector_reaches_the_board_and_is_echoed() -> None:
    world = _metrics_of_a_pod()
    selector = "modelName=H200,gpu in (1,0),vgpu notin (9),UUID,!retired,lane!=3"
    path = f"{P2}/namespaces/ml/pods/llm-0/gpu_util?metricLabelSelector={quote(selector)}"
    answer = await world.get(path)
    assert Requirement("gpu", Operator.IN, ("0", "1")) in world.board.asked[0].selector.requirements
    assert answer.json()["items"][0]["metric"]["selector"] == {
        "matchLabels": {"modelName": "H200"},
        "matchExpressions": [
            {"key": "UUID", "operator": "Exists"},
            {"key": "gpu", "operator": "In", "values": ["0", "1"]},
            {"key": "lane", "operator": "NotIn", "values": ["3"]},
            {"key": "retired", "operator": "DoesNotExist"},
            {"key": "vgpu", "operator": "NotIn", "values": ["9"]},
        ],
    }


async def test_the_first_of_a_repeated_parameter_counts() -> None:
    world = World()
    world.board.values = {ref("llm-0"): 1, ref("web-0"): 2}
    query = "labelSelector=app%3Dweb&labelSelector=app%3Dllm"
    answer = await world.get(f"{P2}/namespaces/ml/pods/*/gpu_util?{query}")
    assert values_of(answer) == {"web-0": "2"}


async def test_without_a_selector_no_series_is_left_out() -> None:
    world = _metrics_of_a_pod()
    await world.get(f"{P2}/namespaces/ml/pods/llm-0/gpu_util?metricLabelSelector=")
    assert world.board.asked[0].selector == Selector()


async def test_head_answers_like_get() -> None:
    path = f"{P2}/namespaces/ml/pods/llm-0/gpu_util"
    async with client(_metrics_of_a_pod()) as asking:
        head, get = await asking.head(path), await asking.get(path)
    assert (head.status_code, head.headers) == (get.status_code, get.headers)


@pytest.mark.parametrize(
    ("agent", "query", "indented"),
    [
        ("curl/8", "", True),
        ("curl/8", "?pretty=false", False),
        ("kcm", "?pretty=true", True),
        ("kcm", "", False),
    ],
)
async def test_people_get_indented_json(agent: str, query: str, *, indented: bool) -> None:
    path = f"{P2}/namespaces/ml/pods/llm-0/gpu_util{query}"
    answer = await _metrics_of_a_pod().get(path, user_agent=agent)
    assert answer.json()["kind"] == "MetricValueList"
    assert answer.text.endswith("}\n")
    assert ("\n  " in answer.text) == indented


async def test_a_cluster_wide_kind_is_not_listed_through_a_namespace() -> None:
    """Rights in one namespace must not list what lives in none."""
    answer = await World().get(f"{P2}/namespaces/ml/nodes/*/gpu_util")
    assert answer.status_code == 404
    assert message(answer).endswith("ask for one by name or without a namespace")


async def test_a_namespaced_path_does_not_reach_another_namespace() -> None:
    world = World()
    world.board.values = {ref("other", ""): 1}
    answer = await world.get(f"{P2}/namespaces/ml/namespaces/other/gpu_util")
    assert answer.status_code == 404


async def test_the_kinds_are_those_of_the_moment() -> None:
    world = World(kinds=Kinds([NODES]))
    path = f"{P2}/namespaces/ml/pods/llm-0/gpu_util"
    world.board.values = {ref("llm-0"): 1}
    async with client(world) as asking:
        before = await asking.get(path)
        world.kinds = Kinds()
        after = await asking.get(path)
    assert (before.status_code, after.status_code) == (404, 200)
