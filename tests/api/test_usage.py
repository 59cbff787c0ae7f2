"""metrics.k8s.io: what pods and nodes use, as lists, singly and as tables."""

from collections.abc import Mapping
from typing import Any

import pytest

from adapter.engine.usage import Usage, Use
from adapter.errors import ClusterDown, PrometheusDown, QueryRefused
from adapter.model.objects import ObjectRef
from adapter.rules.resource_rules import ResourceRules
from tests.api.world import World, client, message, ref
from tests.engine.test_usage import LABELS, use_rule

pytestmark = pytest.mark.anyio

ROOT = "/apis/metrics.k8s.io/v1beta1"
PODS = f"{ROOT}/namespaces/ml/pods"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
KUBECTL = f"{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
RULES = ResourceRules(cpu=use_rule(), memory=use_rule(name="memory"), window=90)
AT = 1_764_556_200.0
LLM, WEB, OTHER = ref("llm-0"), ref("web-0"), ref("llm-0", "other")
NODE = ref("gpu-a", "")

Parts = Mapping[str, float]


def usage(uses: Mapping[ObjectRef, Parts], *, at: float = AT) -> Usage:
    """Give a reading; each object with what its containers use."""
    found = {one: Use(containers=parts, timestamp=at) for one, parts in uses.items()}
    return Usage(uses=found, dropped={})


def world(
    cpu: Mapping[ObjectRef, Parts] | None = None, memory: Mapping[ObjectRef, Parts] | None = None
) -> World:
    """Give a world in which objects use this; by default two of the pods and a node."""
    pods = {LLM: {"main": 0.25, "proxy": 0.001}, WEB: {"main": 1.0}, NODE: {"": 1.5}}
    bytes_of = {
        LLM: {"main": 35389440.0, "proxy": 1000.0},
        WEB: {"main": 1024.0},
        NODE: {"": 2.0**30},
    }
    made = World(resource_rules=RULES)
    made.usage_board.usages = {
        "cpu": usage(pods if cpu is None else cpu),
        "memory": usage(bytes_of if memory is None else memory, at=AT - 5),
    }
    return made


async def names(one: World, path: str) -> list[str]:
    """Give the objects listed, with their namespaces."""
    listed = (await one.get(path)).json()
    metas = [each["metadata"] for each in listed["items"]]
    return [f"{meta.get('namespace', '')}/{meta['name']}" for meta in metas]


def without_making(item: dict[str, Any]) -> dict[str, Any]:
    """Give the item without the time at which it was made."""
    made = item["metadata"].pop("creationTimestamp")
    assert made.endswith("Z")
    return item


async def test_pods_are_listed_exactly_as_clients_know_them() -> None:
    answer = await world().get(f"{PODS}?labelSelector=app%3Dllm")
    told = answer.json()
    (item,) = told.pop("items")
    assert told == {
        "kind": "PodMetricsList",
        "apiVersion": "metrics.k8s.io/v1beta1",
        "metadata": {},
    }
    assert without_making(item) == {
        "metadata": {"name": "llm-0", "namespace": "ml", "labels": {"app": "llm"}},
        "timestamp": "2025-12-01T02:29:55Z",
        "window": "1m30s",
        "containers": [
            {"name": "main", "usage": {"cpu": "250m", "memory": "34560Ki"}},
            {"name": "proxy", "usage": {"cpu": "1m", "memory": "1k"}},
        ],
    }


async def test_nodes_are_listed_exactly_as_clients_know_them() -> None:
    told = (await world().get(f"{ROOT}/nodes")).json()
    (item,) = told["items"]
    assert told["kind"] == "NodeMetricsList"
    assert without_making(item) == {
        "metadata": {"name": "gpu-a", "labels": {"zone": "a"}},
        "timestamp": "2025-12-01T02:29:55Z",
        "window": "1m30s",
        "usage": {"cpu": "1500m", "memory": "1Gi"},
    }


@pytest.mark.parametrize(
    ("path", "kind"), [(f"{PODS}/llm-0", "PodMetrics"), (f"{ROOT}/nodes/gpu-a", "NodeMetrics")]
)
async def test_one_object_names_its_kind_and_is_no_list(path: str, kind: str) -> None:
    told = (await world().get(path)).json()
    assert (told["kind"], told["apiVersion"]) == (kind, "metrics.k8s.io/v1beta1")
    assert list(told)[:3] == ["kind", "apiVersion", "metadata"]
    assert ("containers" in told) == (kind == "PodMetrics")
    assert ("usage" in told) == (kind == "NodeMetrics")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (PODS, ["ml/llm-0", "ml/web-0"]),
        (f"{PODS}?labelSelector=app%21%3Dllm", ["ml/web-0"]),
        (f"{PODS}?fieldSelector=metadata.name%3Dllm-0", ["ml/llm-0"]),
        (f"{PODS}?fieldSelector=metadata.name!%3Dllm-0,metadata.namespace%3D%3Dml", ["ml/web-0"]),
        (f"{ROOT}/pods?fieldSelector=metadata.namespace%3Dother", []),
        (f"{PODS}?labelSelector=app%3Dnobody", []),
        (f"{ROOT}/nodes?labelSelector=zone%3Db", []),
        (f"{ROOT}/nodes?fieldSelector=metadata.name%3Dgpu-a", ["/gpu-a"]),
    ],
)
async def test_selectors_choose_and_names_order(path: str, found: list[str]) -> None:
    """Where nothing is chosen, or what is chosen has no sample, the list is empty."""
    assert await names(world(), path) == found


async def test_all_namespaces_are_listed_by_namespace_and_name() -> None:
    everybody = {one: {"main": 1.0} for one in (OTHER, WEB, LLM)}
    found = await names(world(everybody, everybody), f"{ROOT}/pods")
    assert found == ["ml/llm-0", "ml/web-0", "other/llm-0"]


async def test_both_resources_of_each_namespace_are_asked_for() -> None:
    one = world()
    await one.get(f"{ROOT}/pods")
    asked = {(ask.namespace, ask.meter.rule.name, ask.names) for ask in one.usage_board.asked}
    ml, other = ("llm-0", "llm-1", "web-0"), ("llm-0",)
    assert asked == {
        ("ml", "cpu", ml),
        ("ml", "memory", ml),
        ("other", "cpu", other),
        ("other", "memory", other),
    }


async def test_a_namespace_that_cannot_be_read_leaves_the_others() -> None:
    one = world()
    one.usage_board.failures = {"other": QueryRefused("bad_data: too many")}
    assert await names(one, f"{ROOT}/pods") == ["ml/llm-0", "ml/web-0"]


@pytest.mark.parametrize(
    ("failure", "code", "reason"),
    [
        (PrometheusDown("refused"), 503, "Prometheus gives no answer in namespace ml: refused"),
        (
            QueryRefused("bad_data: 1:5"),
            500,
            (
                "Prometheus refuses the query of resourceRules.cpu (rules.yaml:2) in namespace ml: "
                "bad_data: 1:5"
            ),
        ),
    ],
)
async def test_when_nothing_can_be_read_the_reason_is_told(
    failure: Exception, code: int, reason: str
) -> None:
    """An empty list would say that no pod uses anything."""
    one = world()
    one.usage_board.failures = {"ml": failure}
    answer = await one.get(PODS)
    assert (answer.status_code, message(answer)) == (
        code,
        f"unable to read podmetrics.metrics.k8s.io: {reason}",
    )


@pytest.mark.parametrize("lacking", ["cpu", "memory"])
async def test_a_pod_that_lacks_one_resource_is_left_out(lacking: str) -> None:
    one = world()
    one.usage_board.usages[lacking] = usage({WEB: {"main": 1.0}})
    assert await names(one, PODS) == ["ml/web-0"]
    answer = await one.get(f"{PODS}/llm-0")
    assert answer.status_code == 404
    assert message(answer) == (
        f'podmetrics.metrics.k8s.io "ml/llm-0" not found: Prometheus has no sample of its {lacking}'
    )


async def test_a_container_that_lacks_one_resource_shows_the_other_alone() -> None:
    """Not zero: an autoscaler would take the pod for idle."""
    one = world({LLM: {"main": 0.25}}, {LLM: {"main": 1024.0, "proxy": 2048.0}})
    (item,) = (await one.get(PODS)).json()["items"]
    assert item["containers"] == [
        {"name": "main", "usage": {"cpu": "250m", "memory": "1Ki"}},
        {"name": "proxy", "usage": {"memory": "2Ki"}},
    ]


async def test_why_a_sample_is_left_out_is_told() -> None:
    one = world()
    one.usage_board.usages["cpu"] = Usage(uses={}, dropped={LLM: "its value is NaN"})
    assert message(await one.get(f"{PODS}/llm-0")) == (
        'podmetrics.metrics.k8s.io "ml/llm-0" not found: the sample of its cpu is left out: its '
        "value is NaN"
    )


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (f"{PODS}/nobody", 'pods "nobody" not found'),
        (f"{ROOT}/namespaces/nowhere/pods/llm-0", 'pods "llm-0" not found'),
        (f"{ROOT}/nodes/nowhere", 'nodes "nowhere" not found'),
    ],
)
async def test_an_object_that_is_not_there_is_not_found(path: str, told: str) -> None:
    answer = await world().get(path)
    assert (answer.status_code, answer.json()["reason"], message(answer)) == (
        404,
        "NotFound",
        told,
    )


async def test_a_node_without_samples_is_not_found_by_its_name() -> None:
    answer = await world().get(f"{ROOT}/nodes/gpu-b")
    assert message(answer) == (
        'nodemetrics.metrics.k8s.io "gpu-b" not found: Prometheus has no sample of its cpu and '
        "memory"
    )
    assert answer.json()["details"] == {
        "name": "gpu-b",
        "group": "metrics.k8s.io",
        "kind": "nodemetrics",
    }


async def test_without_the_cluster_nothing_is_listed() -> None:
    one = world()
    one.objects.failure = ClusterDown("refused")
    answer = await one.get(PODS)
    assert (answer.status_code, message(answer)) == (
        500,
        (
            "unable to read podmetrics.metrics.k8s.io: unable to list matching resources in namespace "
            "ml: refused"
        ),
    )


@pytest.mark.parametrize(
    ("rules", "code", "reason"),
    [
        (None, 404, "the rules have no resourceRules"),
        (
            ResourceRules(cpu=use_rule()),
            500,
            "resourceRules has no rule for memory, and an answer needs both",
        ),
        (
            ResourceRules(memory=use_rule()),
            500,
            "resourceRules has no rule for cpu, and an answer needs both",
        ),
        (
            ResourceRules(cpu=use_rule(overrides=LABELS[:1]), memory=use_rule()),
            500,
            "rules.yaml:2: resourceRules.cpu: no label means pods",
        ),
    ],
)
async def test_what_the_rules_lack_is_told(
    rules: ResourceRules | None, code: int, reason: str
) -> None:
    one = world()
    one.resource_rules = rules
    answer = await one.get(PODS)
    assert (answer.status_code, message(answer)) == (
        code,
        f"unable to read podmetrics.metrics.k8s.io: {reason}",
    )


async def test_other_rules_count_from_the_next_request_on() -> None:
    one = world()
    async with client(one) as asking:
        assert (await asking.get(PODS)).json()["items"][0]["window"] == "1m30s"
        one.resource_rules = ResourceRules(cpu=use_rule(), memory=use_rule(name="memory"))
        assert (await asking.get(PODS)).json()["items"][0]["window"] == "0s"
        one.resource_rules = None
        assert (await asking.get(PODS)).status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        "labelSelector=a%3D%3D%3Db",
        "fieldSelector=spec.nodeName%3Dx",
        "fieldSelector=name",
        "timeout=x",
    ],
)
async def test_what_cannot_be_read_is_a_bad_request(query: str) -> None:
    answer = await world().get(f"{PODS}?{query}")
    assert answer.status_code == 400
    assert message(answer).startswith(f"{query.partition('=')[0]}: ")


async def test_changes_are_not_told() -> None:
    assert (await world().get(f"{PODS}?watch=true")).status_code == 405


async def _table(one: World, path: str, accept: str = KUBECTL) -> dict[str, Any]:
    answer = await one.get(path, accept=accept)
    assert answer.headers["content-type"] == "application/json"
    return dict(answer.json())


async def test_kubectl_is_given_a_table() -> None:
    told = await _table(world(), PODS)
    assert (told["kind"], told["apiVersion"], told["metadata"]) == ("Table", "meta.k8s.io/v1", {})
    columns = [(each["name"], each["type"], each["format"]) for each in told["columnDefinitions"]]
    assert columns == [
        ("Name", "string", "name"),
        ("cpu", "string", "quantity"),
        ("memory", "string", "quantity"),
        ("Window", "string", "duration"),
    ]
    assert [row["cells"] for row in told["rows"]] == [
        ["llm-0", "251m", "35390440", "1m30s"],
        ["web-0", "1", "1Ki", "1m30s"],
    ]


async def test_a_row_has_the_objects_metadata_unless_said_otherwise() -> None:
    (row,) = (await _table(world(), f"{PODS}/web-0"))["rows"]
    assert (row["object"]["kind"], row["object"]["apiVersion"]) == (
        "PartialObjectMetadata",
        "meta.k8s.io/v1",
    )
    assert row["object"]["metadata"]["namespace"] == "ml"
    (row,) = (await _table(world(), f"{PODS}/web-0?includeObject=None"))["rows"]
    assert "object" not in row
    (row,) = (await _table(world(), f"{PODS}/web-0?includeObject=Object"))["rows"]
    assert row["object"]["kind"] == "PodMetrics"
    assert (await world().get(f"{PODS}?includeObject=x", accept=KUBECTL)).status_code == 400


async def test_a_sum_of_which_a_part_is_unknown_is_not_shown() -> None:
    one = world({LLM: {"main": 0.25}}, {LLM: {"main": 1024.0, "proxy": 2048.0}})
    (row,) = (await _table(one, f"{PODS}/llm-0"))["rows"]
    assert row["cells"] == ["llm-0", "", "3Ki", "1m30s"]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "PodMetricsList"),
        ("application/json", "PodMetricsList"),
        (f"application/json,{TABLE}", "PodMetricsList"),
        ("application/vnd.kubernetes.protobuf,application/json", "PodMetricsList"),
        (TABLE, "Table"),
        (KUBECTL, "Table"),
        (f"{TABLE};q=0.5,application/json", "PodMetricsList"),
    ],
)
async def test_the_form_is_the_one_accepted(accept: str, kind: str) -> None:
    answer = await world().get(PODS, **({"accept": accept} if accept else {}))
    assert answer.json()["kind"] == kind


@pytest.mark.parametrize(
    "accept", ["application/vnd.kubernetes.protobuf", TABLE.replace("v=v1", "v=v1beta1")]
)
async def test_a_form_that_is_not_served_is_not_acceptable(accept: str) -> None:
    assert (await world().get(PODS, accept=accept)).status_code == 406


@pytest.mark.parametrize("rules", [None, RULES])
async def test_the_resource_list_is_the_same_whatever_the_rules(
    rules: ResourceRules | None,
) -> None:
    listed = (await World(resource_rules=rules).get(ROOT)).json()
    assert listed["groupVersion"] == "metrics.k8s.io/v1beta1"
    common = {"singularName": "", "verbs": ["get", "list"]}
    assert listed["resources"] == [
        {"name": "nodes", "namespaced": False, "kind": "NodeMetrics", **common},
        {"name": "pods", "namespaced": True, "kind": "PodMetrics", **common},
    ]
