"""What counts as a value and how it is spelt; what is missing is never zero."""

import math

import pytest

from tests.cases.asking import P1, P2, Stage, adapter
from tests.cases.scenes import BUILT_IN, N1, R1, R1A, T1, scene
from tests.cluster.processes import until

pytestmark = pytest.mark.anyio

UTIL = "DCGM_FI_DEV_GPU_UTIL"
CURRENT = "DEV_GPU_UTIL_current"
PODS = "namespaces/ml/pods"

RATIO = """
- seriesQuery: 'DCGM_FI_DEV_FB_USED{exported_namespace!="",exported_pod!=""}'
  resources:
    overrides:
      exported_namespace: {resource: namespace}
      exported_pod: {resource: pod}
  name: {as: gpu_mem_ratio}
  metricsQuery: sum(DCGM_FI_DEV_FB_USED{<<.LabelMatchers>>}) by (<<.GroupBy>>) / sum(DCGM_FI_DEV_FB_TOTAL{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""
DIVIDED = scene(
    "divided",
    """
DCGM_FI_DEV_FB_USED{namespace="ml",pod="llm-0",UUID="GPU-1"} 500
DCGM_FI_DEV_FB_TOTAL{namespace="ml",pod="llm-0",UUID="GPU-1"} 1000
DCGM_FI_DEV_FB_USED{namespace="ml",pod="llm-1",UUID="GPU-2"} 0
DCGM_FI_DEV_FB_TOTAL{namespace="ml",pod="llm-1",UUID="GPU-2"} 0
DCGM_FI_DEV_FB_USED{namespace="ml",pod="web-0",UUID="GPU-3"} 7
DCGM_FI_DEV_FB_TOTAL{namespace="ml",pod="web-0",UUID="GPU-3"} 0
""",
)
NOT_A_NUMBER = scene(
    "not-a-number",
    """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} NaN
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",UUID="GPU-2",Hostname="gpu-b"} +Inf
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="web-0",UUID="GPU-3",Hostname="gpu-b"} 30
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="web-0",UUID="GPU-4",Hostname="gpu-b"} NaN
""",
)
BLANKS = scene(
    "blanks",
    """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} 9223372036854775794
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",UUID="GPU-2",Hostname="gpu-b"} 30
DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} 140737488355328
DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="ml",pod="llm-1",UUID="GPU-2",Hostname="gpu-b"} 0.5
DCGM_FI_DEV_POWER_USAGE{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} 140737488355330
DCGM_FI_DEV_POWER_USAGE{namespace="ml",pod="llm-1",UUID="GPU-2",Hostname="gpu-b"} 250
DCGM_FI_DEV_FB_USED{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} 2147483632
DCGM_FI_DEV_FB_USED{namespace="ml",pod="llm-1",UUID="GPU-2",Hostname="gpu-b"} 3
DCGM_FI_DEV_XID_ERRORS{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} 9223372036854775792
DCGM_FI_DEV_XID_ERRORS{namespace="ml",pod="llm-1",UUID="GPU-2",Hostname="gpu-b"} 31
DCGM_FI_DEV_SOME_NEW_FIELD{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} 9223372036854775795
DCGM_FI_DEV_SOME_NEW_FIELD{namespace="ml",pod="llm-1",UUID="GPU-2",Hostname="gpu-b"} 4
""",
)
GOOD = {
    "DEV_GPU_UTIL": "30",
    "PROF_GR_ENGINE_ACTIVE": "500m",
    "DEV_POWER_USAGE": "250",
    "DEV_FB_USED": "3",
    "DEV_XID_ERRORS": "31",
    "DEV_SOME_NEW_FIELD": "4",
}
IMPOSSIBLE = scene(
    "impossible",
    """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} 4294967295
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",UUID="GPU-2",Hostname="gpu-b"} 30
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="web-0",UUID="GPU-3",Hostname="gpu-b"} -1
""",
)
SPELT = {
    "19.6": "19600m",
    "12000": "12k",
    "5000000": "5M",
    "16106127360": "16106127360",
    "0": "0",
    "0.5": "500m",
    "1": "1",
    "1000": "1k",
    "1500": "1500",
    "-0.25": "-250m",
    "1234.567": "1234567m",
    "85899345920": "85899345920",
    "2000000000000": "2T",
    "1e15": "1P",
    "0.001": "1m",
    "97.25": "97250m",
    "40536": "40536",
}
QUANTITIES = scene(
    "quantities",
    "".join(
        f'queue_{number}{{namespace="ml",pod="llm-0",node="gpu-a"}} {text}\n'
        for number, text in enumerate(SPELT)
    ),
    {},
)
QUEUES = """
- seriesQuery: '{__name__=~"queue_.*"}'
  resources: {template: <<.Resource>>}
  metricsQuery: max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""
GONE = scene(
    "gone",
    """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1"} 80
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",UUID="GPU-2"} 40
""",
)
SCENES = (DIVIDED, NOT_A_NUMBER, BLANKS, IMPOSSIBLE, QUANTITIES, GONE)


def left_out(metric: str, series: str, name: str, cause: str) -> dict[str, str]:
    """The refusal of one pod's value."""
    begin = f"the server could not find the metric {metric} for pods {name}"
    return {
        "404": f"{begin}: the sample of {series} for pod {name} in namespace ml is left out: {cause}"
    }


async def test_a_ratio_without_a_denominator_is_no_value(stage: Stage) -> None:
    """FC-12: 500/1000, 0/0 and 7/0."""
    async with adapter(stage, DIVIDED, RATIO) as running:
        assert await running.both(f"{PODS}/*/gpu_mem_ratio") == {"llm-0": "500m"}
        told = {"llm-1": "its value is NaN", "web-0": "its value is infinite"}
        for name, cause in told.items():
            refusal = left_out("gpu_mem_ratio", "DCGM_FI_DEV_FB_USED", name, cause)
            assert await running.both(f"{PODS}/{name}/gpu_mem_ratio") == refusal


async def test_what_is_not_a_number_is_no_value(stage: Stage) -> None:
    """FC-12 as scraped; a device that has no number takes nothing from the other."""
    async with adapter(stage, NOT_A_NUMBER, BUILT_IN) as running:
        assert await running.both(f"{PODS}/*/{CURRENT}") == {"web-0": "30"}
        assert await running.both(f"nodes/*/{CURRENT}") == {"gpu-b": "30"}
        assert await running.both(f"namespaces/ml/metrics/{CURRENT}") == {"ml": "30"}
        refusal = left_out(CURRENT, UTIL, "llm-1", "its value is infinite")
        assert await running.both(f"{PODS}/llm-1/{CURRENT}") == refusal


async def test_a_blank_of_dcgm_is_no_value(stage: Stage) -> None:
    """FC-13: each sort of blank, on pods and nodes, in a list and alone."""
    async with adapter(stage, BLANKS, BUILT_IN) as running:
        for field, value in GOOD.items():
            metric = f"{field}_current"
            assert await running.both(f"{PODS}/*/{metric}") == {"llm-1": value}
            assert await running.both(f"nodes/*/{metric}") == {"gpu-b": value}
            assert await running.both(f"namespaces/ml/metrics/{metric}") == {"ml": value}
            refusal = left_out(
                metric, f"DCGM_FI_{field}", "llm-0", "its value is a DCGM blank value"
            )
            assert await running.both(f"{PODS}/llm-0/{metric}") == refusal


@pytest.mark.parametrize("query", ["sum", "avg", "max", "min"])
async def test_a_blank_of_dcgm_is_no_value_behind_an_aggregation(stage: Stage, query: str) -> None:
    """FC-13 by the raw names, with the rules that people copy."""
    rule = R1.replace("DCGM_FI_DEV_GPU_UTIL{", '{__name__=~"DCGM_.*",').replace("sum", query)
    async with adapter(stage, BLANKS, rule) as running:
        for field, value in GOOD.items():
            metric = f"DCGM_FI_{field}"
            assert await running.both(f"{PODS}/*/{metric}") == {"llm-1": value}
            refusal = left_out(metric, metric, "llm-0", "its value is a DCGM blank value")
            assert await running.both(f"{PODS}/llm-0/{metric}") == refusal


async def test_a_blank_of_dcgm_is_no_value_of_a_node(stage: Stage) -> None:
    """FC-13 with N1, which sums."""
    async with adapter(stage, BLANKS, N1) as running:
        assert await running.both("nodes/*/DCGM_FI_DEV_POWER_USAGE") == {"gpu-b": "250"}


async def test_an_impossible_utilisation_is_no_value(stage: Stage) -> None:
    """FC-14."""
    async with adapter(stage, IMPOSSIBLE, BUILT_IN) as running:
        assert await running.both(f"{PODS}/*/{CURRENT}") == {"llm-1": "30"}
        assert await running.both(f"nodes/*/{CURRENT}") == {"gpu-b": "30"}
        cause = f"its value is outside the possible range of {UTIL} (0 to 100)"
        for name, told in {"llm-0": "its value is a DCGM blank value", "web-0": cause}.items():
            refusal = left_out(CURRENT, UTIL, name, told)
            assert await running.both(f"{PODS}/{name}/{CURRENT}") == refusal
        metrics = (await running.http.get("/metrics")).text
        assert 'cause="out_of_range"' in metrics


@pytest.mark.parametrize("query", ["sum", "avg", "max", "min"])
async def test_an_impossible_utilisation_is_no_value_behind_an_aggregation(
    stage: Stage, query: str
) -> None:
    """FC-14 by the raw name."""
    async with adapter(stage, IMPOSSIBLE, R1.replace("sum", query)) as running:
        assert await running.both(f"{PODS}/*/{UTIL}") == {"llm-1": "30"}


async def test_quantities_are_spelt_as_kubernetes_spells_them(stage: Stage) -> None:
    """FC-15."""
    async with adapter(stage, QUANTITIES, QUEUES) as running:
        for number, spelt in enumerate(SPELT.values()):
            metric = f"queue_{number}"
            assert await running.both(f"{PODS}/*/{metric}") == {"llm-0": spelt}
            assert await running.both(f"nodes/gpu-a/{metric}") == {"gpu-a": spelt}


async def test_the_answer_of_each_version_has_its_own_form(stage: Stage) -> None:
    """FC-15: the item around the value, in v1beta1 and v1beta2."""
    async with adapter(stage, QUANTITIES, QUEUES) as running:
        older = (await running.http.get(f"{P1}/{PODS}/llm-0/queue_0")).json()
        newer = (await running.http.get(f"{P2}/{PODS}/llm-0/queue_0")).json()
    described = {"kind": "Pod", "namespace": "ml", "name": "llm-0", "apiVersion": "/v1"}
    [item] = older.pop("items")
    moment = item.pop("timestamp")
    assert math.isclose(len(moment), len("2026-12-01T02:30:00Z"))
    assert item == {
        "describedObject": described,
        "metricName": "queue_0",
        "value": "19600m",
        "selector": None,
    }
    [item] = newer.pop("items")
    assert item.pop("timestamp").endswith("Z")
    metric = {"name": "queue_0", "selector": None}
    assert item == {"describedObject": described, "metric": metric, "value": "19600m"}
    assert [older.pop("apiVersion"), newer.pop("apiVersion")] == [P1[6:], P2[6:]]
    assert older == newer == {"kind": "MetricValueList", "metadata": {}}


async def test_nothing_is_not_zero(stage: Stage) -> None:
    """FC-16: the series end, the pods live on."""
    async with adapter(stage, GONE, R1A) as running:
        path = f"{PODS}/*/{UTIL}?labelSelector=app%3Dllm"
        assert await running.both(path) == {"llm-0": "80", "llm-1": "40"}
        stage.publish(GONE, "")
        await until(lambda: running.gives(path, {}), what="the list is empty", seconds=15)
        begin = f"the server could not find the metric {UTIL} for pods llm-0"
        no_sample = f"Prometheus has no sample of {UTIL} for pod llm-0 in namespace ml"
        assert await running.both(f"{PODS}/llm-0/{UTIL}") == {"404": f"{begin}: {no_sample}"}
        assert f"pods/{UTIL}" in await running.offered()


async def test_nothing_is_not_zero_under_the_chart_s_template(stage: Stage) -> None:
    """FC-16 with T1: a sum of no series is no value."""
    async with adapter(stage, QUANTITIES, QUEUES + T1) as running:
        path = f"{PODS}/*/queue_0?labelSelector=app%3Dweb"
        assert await running.both(path) == {}
