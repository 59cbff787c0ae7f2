"""Rules that are nearly right, backends that are nearly up, selectors that select nothing."""

import asyncio
import json
from urllib.parse import quote

import pytest

from adapter.rules.config import load
from tests.cases.asking import P1, P2, Stage, adapter
from tests.cases.scenes import R1, R1A, scene
from tests.cases.tenancy import Asked
from tests.cluster.processes import until

pytestmark = pytest.mark.anyio

UTIL = "DCGM_FI_DEV_GPU_UTIL"
PODS = "namespaces/ml/pods"

TWO_PODS = """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1"} 80
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",UUID="GPU-2"} 40
queue_depth{namespace="ml",pod="llm-0"} 3
"""
MODELS = scene(
    "models",
    """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1",modelName="NVIDIA H100 80GB HBM3"} 90
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-2",modelName="Tesla T4"} 10
""",
)
ALONE = scene("alone", 'DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",Hostname="gpu-a"} 60\n')
FAILING = scene("failing", TWO_PODS)
RARE = scene("rare", TWO_PODS)
FEW = scene("few", TWO_PODS)
PROFILES = scene(
    "profiles",
    """
DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="ml",pod="llm-0",GPU_I_ID="1",GPU_I_PROFILE="1g.10gb"} 0.9
DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="ml",pod="llm-0",GPU_I_ID="2",GPU_I_PROFILE="3g.40gb"} 0.3
""",
)
SCENES = (MODELS, ALONE, FAILING, RARE, FEW, PROFILES)

H100_ONLY = R1A.replace('exported_namespace!=""', 'modelName="NVIDIA H100 80GB HBM3"')
NO_LABEL = R1.replace("sum(", "avg(").replace(" by (<<.GroupBy>>)", "")
QUEUE = """
- seriesQuery: 'queue_depth{exported_pod!=""}'
  resources: {template: "exported_<<.Resource>>"}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""
PROFILE = R1A.replace(UTIL, "DCGM_FI_PROF_GR_ENGINE_ACTIVE")
ENGINE = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
EXTERNAL_ONLY = """
externalRules:
- seriesQuery: 'queue_depth{exported_namespace!=""}'
  resources: {overrides: {exported_namespace: {resource: namespace}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>})
"""


async def test_a_condition_of_the_series_query_alone_does_not_limit_the_query(
    stage: Stage,
) -> None:
    """FC-17: as the incumbent, the mean of 90 and 10; the file's warning says why."""
    warnings = [str(warning) for warning in load(f"rules:{H100_ONLY}", "rules.yaml").warnings]
    assert [line for line in warnings if 'modelName="NVIDIA H100 80GB HBM3"' in line]
    async with adapter(stage, MODELS, H100_ONLY) as running:
        assert await running.both(f"{PODS}/llm-0/{UTIL}") == {"llm-0": "50"}
        assert await running.both(f"{PODS}/*/{UTIL}") == {"llm-0": "50"}


async def test_an_aggregation_without_the_label_answers_for_one_object(stage: Stage) -> None:
    """FC-18: the query was limited to it; of several nobody can tell whose value it is."""
    warnings = [str(warning) for warning in load(f"rules:{NO_LABEL}", "rules.yaml").warnings]
    assert [line for line in warnings if "the aggregation drops" in line]
    async with adapter(stage, ALONE, NO_LABEL) as running:
        assert await running.both(f"{PODS}/llm-0/{UTIL}") == {"llm-0": "60"}
        stage.kubernetes.put("/api/v1/pods", _labelled("llm-0", role="leader"))
        chosen = f"{PODS}/*/{UTIL}?labelSelector=role%3Dleader"
        wanted = {"llm-0": "60"}
        await until(lambda: running.gives(chosen, wanted), what="one is selected", seconds=10)
        several = await running.both(f"{PODS}/*/{UTIL}?labelSelector=app%3Dllm")
        [(code, message)] = several.items()
        assert code == "500"
        assert message.startswith(f"the server could not find the metric {UTIL} for pods: ")
        assert "lacks label exported_pod" in message


LOST = {
    "sum": "sum(<<.Series>>{<<.LabelMatchers>>})",
    "max": "max(<<.Series>>{<<.LabelMatchers>>})",
    "another label": "sum(<<.Series>>{<<.LabelMatchers>>}) by (job)",
    "arithmetic": "avg(<<.Series>>{<<.LabelMatchers>>}) * 1",
    "over time": "max(max_over_time(<<.Series>>{<<.LabelMatchers>>}[1m]))",
}
ON_NODES = """
- seriesQuery: 'DCGM_FI_DEV_GPU_UTIL'
  resources:
    overrides:
      Hostname: {resource: node}
      exported_namespace: {resource: namespace}
  metricsQuery: QUERY
"""


@pytest.mark.parametrize("query", LOST.values(), ids=LOST)
async def test_of_any_kind_one_object_has_its_value_without_the_label(
    stage: Stage, query: str
) -> None:
    """FC-18 on nodes and namespaces."""
    async with adapter(stage, ALONE, ON_NODES.replace("QUERY", query)) as running:
        assert await running.both(f"nodes/gpu-a/{UTIL}") == {"gpu-a": "60"}
        assert await running.both(f"namespaces/ml/nodes/gpu-a/{UTIL}") == {"gpu-a": "60"}
        assert await running.both(f"nodes/*/{UTIL}?labelSelector=zone%3Da") == {"gpu-a": "60"}
        assert await running.both(f"namespaces/ml/metrics/{UTIL}") == {"ml": "60"}
        assert list(await running.both(f"nodes/gpu-b/{UTIL}")) == ["404"]
        assert list(await running.both(f"nodes/*/{UTIL}")) == ["500"]


def _labelled(name: str, **labels: str) -> dict[str, object]:
    metadata = {"namespace": "ml", "name": name, "labels": {"app": "llm", **labels}}
    return {"metadata": metadata, "spec": {"nodeName": "gpu-a"}, "status": {"phase": "Running"}}


FAULTS = {
    "unprocessable": (422, json.dumps({"status": "error", "errorType": "execution", "error": "x"})),
    "bad": (400, json.dumps({"status": "error", "errorType": "bad_data", "error": "x"})),
    "broken": (500, "oops"),
    "forbidden": (403, "no"),
    "busy": (429, "slow down"),
    "html": (200, "<html>"),
    "null": (200, json.dumps({"status": "success", "data": None})),
    "empty": (200, json.dumps({"status": "success", "data": []})),
}


@pytest.mark.parametrize("order", [(R1A, QUEUE), (QUEUE, R1A)], ids=["last", "first"])
@pytest.mark.parametrize("kind", FAULTS)
async def test_a_rule_that_fails_takes_no_other_with_it(
    stage: Stage, kind: str, order: tuple[str, str]
) -> None:
    """FC-19: at the first discovery; whatever the fault."""

    async def fault(asked: Asked) -> tuple[int, str] | None:
        about_queue = "queue_depth" in asked.parameters.get("match[]", "")
        return FAULTS[kind] if about_queue else None

    stage.tenancy.faults[FAILING.name] = fault
    try:
        async with adapter(stage, FAILING, "".join(order)) as running:
            path = f"{PODS}/*/{UTIL}"
            wanted = {"llm-0": "80", "llm-1": "40"}
            await until(lambda: running.gives(path, wanted), what="R1a served", seconds=10)
            [(code, message)] = (await running.both(f"{PODS}/*/queue_depth")).items()
            assert code == "404"
            fails = f"discovery fails for rule {order.index(QUEUE) + 1} ("
            assert (fails in message) is (kind not in {"empty", "null"})
            del stage.tenancy.faults[FAILING.name]
            path = f"{PODS}/*/queue_depth"
            await until(lambda: running.gives(path, {"llm-0": "3"}), what="healed", seconds=10)
    finally:
        stage.tenancy.faults.pop(FAILING.name, None)


async def test_a_metric_stays_listed_between_scrapes(stage: Stage) -> None:
    """FC-20: relist every second, and for longer than that no new sample."""
    async with adapter(stage, RARE, R1A) as running:
        await until(lambda: running.knows(f"pods/{UTIL}"), what="listed", seconds=10)
        stage.publish(RARE, "")
        listed = []
        for _ in range(3):
            await _another_pass(stage)
            listed.append(await running.knows(f"pods/{UTIL}"))
        assert listed == [True, True, True]


async def _another_pass(stage: Stage) -> None:
    before = _passes(stage)

    async def later() -> bool:
        return _passes(stage) > before

    await until(later, what="one more pass", seconds=10)


def _passes(stage: Stage) -> int:
    return sum(
        asked.scene == RARE.name and asked.path.endswith("/values") for asked in stage.tenancy.asked
    )


NONE_SELECTED = {
    f"{PODS}/*/{UTIL}?labelSelector=app%3Dnone": (
        f"{UTIL} for pods: no live pod in namespace ml matches app=none"
    ),
    f"namespaces/nowhere/pods/*/{UTIL}": (
        f"{UTIL} for pods: there is no live pod in namespace nowhere"
    ),
    f"namespaces/*/metrics/{UTIL}?labelSelector=team%3Dnone": (
        f"{UTIL} for namespaces: no namespace matches team=none"
    ),
}


@pytest.mark.parametrize("path", NONE_SELECTED)
async def test_a_selector_of_nothing_is_not_found_with_the_reason(stage: Stage, path: str) -> None:
    """FC-21."""
    async with adapter(stage, FEW, R1A) as running:
        message = f"the server could not find the metric {NONE_SELECTED[path]}"
        assert await running.both(path) == {"404": message}


SELECTED = {
    "GPU_I_PROFILE=1g.10gb": "900m",
    "GPU_I_PROFILE==3g.40gb": "300m",
    "GPU_I_PROFILE in (3g.40gb)": "300m",
    "GPU_I_PROFILE in (3g.40gb,1g.10gb)": "600m",
    "GPU_I_PROFILE notin (3g.40gb)": "900m",
    "GPU_I_PROFILE!=1g.10gb": "300m",
    "GPU_I_PROFILE": "600m",
    "!modelName": "600m",
    "GPU_I_ID=2,GPU_I_PROFILE=3g.40gb": "300m",
}


@pytest.mark.parametrize("selector", SELECTED)
async def test_a_selector_on_series_chooses_among_them(stage: Stage, selector: str) -> None:
    """FC-22 (a)."""
    async with adapter(stage, PROFILES, PROFILE) as running:
        asked = f"metricLabelSelector={quote(selector)}"
        wanted = {"llm-0": SELECTED[selector]}
        assert await running.both(f"{PODS}/llm-0/{ENGINE}?{asked}") == wanted
        assert await running.both(f"{PODS}/*/{ENGINE}?labelSelector=app%3Dllm&{asked}") == wanted


async def test_a_selector_on_series_is_told_back(stage: Stage) -> None:
    """FC-22 (a)."""
    async with adapter(stage, PROFILES, PROFILE) as running:
        path = f"{PODS}/llm-0/{ENGINE}?metricLabelSelector=GPU_I_PROFILE%3D1g.10gb"
        older = (await running.http.get(f"{P1}/{path}")).json()["items"][0]
        newer = (await running.http.get(f"{P2}/{path}")).json()["items"][0]
    told = {"matchLabels": {"GPU_I_PROFILE": "1g.10gb"}}
    assert older["selector"] == newer["metric"]["selector"] == told


@pytest.mark.parametrize(
    "selector",
    ["modelName=NVIDIA H100", "gpu>1", "gpu<1", "=", "a in (", "modelName=NVIDIA H100 80GB"],
)
async def test_a_selector_on_series_that_cannot_be_is_a_bad_request(
    stage: Stage, selector: str
) -> None:
    """FC-22 (b), (c): for one object and for a list."""
    async with adapter(stage, PROFILES, PROFILE) as running:
        for name in ("llm-0", "*"):
            path = f"{PODS}/{name}/{ENGINE}?metricLabelSelector={quote(selector)}"
            [code] = await running.both(path)
            assert code == "400"


@pytest.mark.parametrize(
    "rules", [EXTERNAL_ONLY, "rules: []\n", "rules:\n"], ids=["external", "none", "null"]
)
async def test_the_group_is_served_without_rules_for_it(stage: Stage, rules: str) -> None:
    """FC-23: a placeholder stands for no metric, as an empty list upsets clients."""
    async with adapter(stage, FEW, rules) as running:
        for root in (P1, P2):
            answer = await running.http.get(root)
            assert (answer.status_code, answer.json()["kind"]) == (200, "APIResourceList")
            assert [one["name"] for one in answer.json()["resources"]] == ["/custommetric"]
        answers = await asyncio.gather(*(running.http.get(P1) for _ in range(5)))
        assert {answer.status_code for answer in answers} == {200}
