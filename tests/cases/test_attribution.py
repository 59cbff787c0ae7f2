"""Whose value it is: labels under which the workload arrives, and devices counted once."""

import pytest

from tests.cases.asking import Stage, adapter
from tests.cases.scenes import BUILT_IN, EXPORTER, N1, R1, R1A, T1, Page, Scene, scene
from tests.fakes.cluster_state import pod

pytestmark = pytest.mark.anyio

UTIL = "DCGM_FI_DEV_GPU_UTIL"
CURRENT = "DEV_GPU_UTIL_current"
LLM = "?labelSelector=app%3Dllm"
PODS = "namespaces/ml/pods"

TWO_PODS = """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1"} 80
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",UUID="GPU-2"} 40
"""
# An exporter of the old namespace names the workload by labels of its own.
OLD_NAMES = """
DCGM_FI_DEV_GPU_UTIL{pod_namespace="ml",pod_name="llm-0",UUID="GPU-1"} 80
DCGM_FI_DEV_GPU_UTIL{pod_namespace="ml",pod_name="llm-1",UUID="GPU-2"} 40
"""
EXPORTED = scene("exported", TWO_PODS)
PLAIN = scene("plain", TWO_PODS, honor_labels=True)
UNTARGETED = scene("untargeted", TWO_PODS, {})
OLD = scene("old", OLD_NAMES)
FIRST, SECOND = TWO_PODS.strip().splitlines()
MIXED = Scene("mixed", (Page(text=f"{FIRST}\n", labels=EXPORTER), Page(text=f"{SECOND}\n")))
IDLE = scene(
    "idle",
    'DCGM_FI_DEV_GPU_UTIL{UUID="GPU-3",Hostname="gpu-a"} 7\n',
    {**EXPORTER, "job": "gpu-metrics", "instance": "10.0.0.7:9400"},
)
HOSTNAMES = {
    "renamed": 'hostname="gpu-a"',
    "as-ever": 'Hostname="gpu-a"',
    "both": 'Hostname="gpu-a",hostname="gpu-a"',
    "exporter": 'Hostname="dcgm-exp-a",node="gpu-a"',
    "exporter-renamed": 'hostname="dcgm-exp-a",node="gpu-a"',
    "localhost": 'Hostname="localhost",hostname="localhost",node="gpu-a"',
    "all": 'Hostname="dcgm-exp-a",hostname="gpu-b",node="gpu-a"',
}
NODES = {
    name: scene(f"node-{name}", f'DCGM_FI_DEV_POWER_USAGE{{{labels},UUID="GPU-1"}} 300\n')
    for name, labels in HOSTNAMES.items()
}
MANY = scene(
    "many",
    """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",gpu="0"} 90
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",gpu="1"} 10
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",gpu="2"} 10
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",gpu="3"} 90
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",gpu="4"} 20
""",
)
TWO_GPUS = scene(
    "two-gpus",
    """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1"} 90
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-2"} 70
DCGM_FI_DEV_FB_USED{namespace="ml",pod="llm-0",UUID="GPU-1"} 40000
DCGM_FI_DEV_FB_USED{namespace="ml",pod="llm-0",UUID="GPU-2"} 30000
DCGM_FI_DEV_POWER_USAGE{namespace="ml",pod="llm-0",UUID="GPU-1"} 300.25
DCGM_FI_DEV_POWER_USAGE{namespace="ml",pod="llm-0",UUID="GPU-2"} 100.25
DCGM_FI_DEV_GPU_TEMP{namespace="ml",pod="llm-0",UUID="GPU-1"} 60
DCGM_FI_DEV_GPU_TEMP{namespace="ml",pod="llm-0",UUID="GPU-2"} 41
""",
)
SHARED = scene("shared", 'DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1"} 71.4\n')
SHARED_BY_NAME = scene(
    "shared-by-name",
    """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1",node="gpu-a",Hostname="x"} 71.4
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="web-1",UUID="GPU-1",node="gpu-a",Hostname="x"} 71.4
DCGM_FI_DEV_FB_USED{namespace="ml",pod="llm-0",UUID="GPU-1",node="gpu-a",Hostname="x"} 3000
DCGM_FI_DEV_FB_USED{namespace="ml",pod="web-1",UUID="GPU-1",node="gpu-a",Hostname="x"} 3000
""",
)
MIG = scene(
    "mig",
    """
DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="ml",pod="llm-0",UUID="GPU-1",GPU_I_ID="7",GPU_I_PROFILE="1g.10gb"} 0.43
DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="ml",pod="llm-1",UUID="GPU-1",GPU_I_ID="8",GPU_I_PROFILE="1g.10gb"} 0.2
DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="ml",pod="llm-1",UUID="GPU-1",GPU_I_ID="9",GPU_I_PROFILE="1g.10gb"} 0.4
""",
)
ONE_GPU = """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} 40
DCGM_FI_DEV_FB_USED{namespace="ml",pod="llm-0",UUID="GPU-1",Hostname="gpu-a"} 1000
"""
TWICE = Scene(
    "twice",
    tuple(Page(text=ONE_GPU, labels={**EXPORTER, "job": job}) for job in ("a", "b", "c")),
)
# One job honours the page's labels, another, of an upgrade or a second team, does not.
TWO_WAYS = Scene(
    "two-ways",
    (Page(text=ONE_GPU), Page(text=ONE_GPU, labels={**EXPORTER, "job": "other"})),
)
SCENES = (
    *(EXPORTED, PLAIN, UNTARGETED, OLD, MIXED, IDLE),
    *NODES.values(),
    *(MANY, TWO_GPUS, SHARED, SHARED_BY_NAME, MIG, TWICE, TWO_WAYS),
)
BOTH = {"llm-0": "80", "llm-1": "40"}
R1_PLAIN = R1A.replace("exported_", "")
NAMED = {rule: f"{rule.rstrip()}\n  name: {{as: gpu_util}}\n" for rule in (R1A, R1_PLAIN)}


@pytest.mark.parametrize(
    "where", [EXPORTED, PLAIN, UNTARGETED, OLD, MIXED], ids=lambda one: one.name
)
async def test_workloads_have_their_values_however_their_labels_are_kept(
    stage: Stage, where: Scene
) -> None:
    """FC-01, FC-02, FC-03: honorLabels false and true, old labels, and a mixture, without rules."""
    async with adapter(stage, where, BUILT_IN) as running:
        assert await running.both(f"{PODS}/*/{CURRENT}{LLM}") == BOTH
        assert await running.both(f"{PODS}/llm-1/{CURRENT}") == {"llm-1": "40"}
        assert await running.both(f"namespaces/ml/metrics/{CURRENT}") == {"ml": "60"}
        [code] = await running.both(f"namespaces/gpu-operator/pods/dcgm-exp-a/{CURRENT}")
        assert code == "404"


async def test_a_rule_that_looks_at_the_exporter_finds_no_workload(stage: Stage) -> None:
    """FC-01: the chart's template taken literally stays an empty list."""
    async with adapter(stage, EXPORTED, T1) as running:
        assert await running.both(f"{PODS}/*/{UTIL}{LLM}") == {}


async def test_a_rule_on_exported_labels_finds_the_workload(stage: Stage) -> None:
    """FC-01 with R1."""
    async with adapter(stage, EXPORTED, R1) as running:
        assert await running.both(f"{PODS}/*/{UTIL}{LLM}") == BOTH


async def test_a_rule_on_plain_labels_finds_the_workload_where_labels_are_honoured(
    stage: Stage,
) -> None:
    """FC-02 with T1."""
    async with adapter(stage, PLAIN, T1) as running:
        assert await running.both(f"{PODS}/*/{UTIL}{LLM}") == BOTH
        assert await running.both(f"{PODS}/llm-0/{UTIL}") == {"llm-0": "80"}


@pytest.mark.parametrize("order", [(R1A, R1_PLAIN), (R1_PLAIN, R1A)], ids=["plain", "exported"])
async def test_two_rules_of_one_name_serve_a_mixed_fleet(
    stage: Stage, order: tuple[str, str]
) -> None:
    """FC-03: one rule for each sort of labels; each pod has the value of its own."""
    async with adapter(stage, MIXED, "".join(NAMED[rule] for rule in order)) as running:
        assert await running.both(f"{PODS}/*/gpu_util{LLM}") == BOTH
        for name, value in BOTH.items():
            assert await running.both(f"{PODS}/{name}/gpu_util") == {name: value}


@pytest.mark.parametrize("order", [T1 + R1A, R1A + T1], ids=["exported", "plain"])
async def test_a_template_and_overrides_serve_a_mixed_fleet(stage: Stage, order: str) -> None:
    """FC-03 by the raw name; the exporter has nothing by either."""
    async with adapter(stage, MIXED, order) as running:
        assert await running.both(f"{PODS}/*/{UTIL}{LLM}") == BOTH
        assert await running.both(f"namespaces/gpu-operator/pods/*/{UTIL}") == {}


TEMPLATE = """
- seriesQuery: '{__name__=~"^DCGM_.*",exported_pod!=""}'
  resources: {template: "exported_<<.Resource>>"}
  metricsQuery: max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""


@pytest.mark.parametrize(
    "path", [f"{PODS}/%2A/{UTIL}{LLM}", f"namespaces/ml/pod/*/{UTIL}", f"{PODS}/*/{UTIL}/"]
)
async def test_a_template_of_exported_labels_finds_the_workload(stage: Stage, path: str) -> None:
    """FC-01, however the path is written."""
    async with adapter(stage, EXPORTED, TEMPLATE) as running:
        assert await running.both(path) == BOTH
        for space in ("ml", "*"):
            assert await running.both(f"namespaces/{space}/metrics/{UTIL}") == {"ml": "80"}


OVERRIDES = {
    "exported-last": "pod exported_pod namespace exported_namespace",
    "exported-first": "exported_pod pod exported_namespace namespace",
    "added-below": "exported_namespace exported_pod pod namespace",
    "by-sort": "namespace pod exported_namespace exported_pod",
}


@pytest.mark.parametrize("query", ["sum", "avg", "max"])
@pytest.mark.parametrize("order", OVERRIDES)
async def test_of_two_labels_for_pods_the_workloads_counts(
    stage: Stage, order: str, query: str
) -> None:
    """FC-04: in whatever order the file has them, for the exporter's are never the GPU's user."""
    lines = "".join(
        f"      {label}: {{resource: {label.removeprefix('exported_')}}}\n"
        for label in OVERRIDES[order].split()
    )
    head, _, tail = R1A.replace("avg", query).partition("    overrides:\n")
    rule = f"{head}    overrides:\n{lines}{tail[tail.index('  metricsQuery') :]}"
    async with adapter(stage, EXPORTED, rule) as running:
        assert await running.both(f"{PODS}/*/{UTIL}{LLM}") == BOTH
        assert await running.both(f"{PODS}/llm-0/{UTIL}") == {"llm-0": "80"}


async def test_an_idle_gpu_is_nobodys(stage: Stage) -> None:
    """Its series carry the labels of the exporter's pod alone, which uses no GPU."""
    async with adapter(stage, IDLE, BUILT_IN) as running:
        [code] = await running.both(f"namespaces/gpu-operator/pods/dcgm-exp-a/{CURRENT}")
        assert code == "404"
        assert await running.both("nodes/gpu-a/DEV_GPU_UTIL_current") == {"gpu-a": "7"}


@pytest.mark.parametrize("spelling", HOSTNAMES)
async def test_a_node_has_its_value_however_it_is_spelt(stage: Stage, spelling: str) -> None:
    """FC-05, FC-06: renamed, doubled, or the exporter's pod; only names of nodes count."""
    async with adapter(stage, NODES[spelling], BUILT_IN) as running:
        metric = "DEV_POWER_USAGE_current"
        assert await running.both(f"nodes/gpu-a/{metric}") == {"gpu-a": "300"}
        assert await running.both(f"nodes/*/{metric}") == {"gpu-a": "300"}
        assert await running.both(f"nodes/*/{metric}?labelSelector=zone%3Da") == {"gpu-a": "300"}
        assert await running.both(f"namespaces/ml/nodes/gpu-a/{metric}") == {"gpu-a": "300"}
        [code] = await running.both(f"nodes/gpu-b/{metric}")
        assert code == "404"


async def test_a_rule_on_hostname_gives_nodes_their_value(stage: Stage) -> None:
    """FC-05 with N1."""
    async with adapter(stage, NODES["as-ever"], N1) as running:
        assert await running.both("nodes/*/DCGM_FI_DEV_POWER_USAGE") == {"gpu-a": "300"}


async def test_several_gpus_without_aggregation_are_the_mean(stage: Stage) -> None:
    """FC-07: 90 and 10, in either order; 10, 90 and 20."""
    rule = R1.replace(
        "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)", "<<.Series>>{<<.LabelMatchers>>}"
    )
    async with adapter(stage, MANY, rule) as running:
        assert await running.both(f"{PODS}/llm-0/{UTIL}") == {"llm-0": "50"}
        assert await running.both(f"{PODS}/*/{UTIL}") == {"llm-0": "50", "llm-1": "40"}
        assert await running.both(f"namespaces/ml/metrics/{UTIL}") == {"ml": "44"}


async def test_several_gpus_are_combined_as_their_field_says(stage: Stage) -> None:
    """FC-08: 90 and 70 percent, 40000 and 30000 MiB, 300.25 and 100.25 W, 60 and 41 degrees."""
    async with adapter(stage, TWO_GPUS, BUILT_IN) as running:
        for metric, value in {
            "DEV_GPU_UTIL": "80",
            "DEV_FB_USED": "70k",
            "DEV_POWER_USAGE": "400500m",
            "DEV_GPU_TEMP": "50500m",
        }.items():
            assert await running.both(f"{PODS}/llm-0/{metric}_current") == {"llm-0": value}
            assert await running.both(f"{PODS}/*/{metric}_current{LLM}") == {"llm-0": value}
            assert await running.both(f"namespaces/ml/metrics/{metric}_current") == {"ml": value}


async def test_nothing_is_invented_for_pods_that_share_a_gpu(stage: Stage) -> None:
    """FC-09: the exporter names one of them."""
    async with adapter(stage, SHARED, BUILT_IN) as running:
        assert await running.both(f"{PODS}/*/{CURRENT}") == {"llm-0": "71400m"}
        assert await running.both(f"{PODS}/llm-1/{CURRENT}") == {
            "404": "the server could not find the metric DEV_GPU_UTIL_current for pods llm-1: "
            "Prometheus has no sample of DCGM_FI_DEV_GPU_UTIL for pod llm-1 in namespace ml"
        }


async def test_mig_instances_are_devices_of_their_own(stage: Stage) -> None:
    """FC-10, with what is there today: 0.43; the mean of 0.2 and 0.4. No GPU_UTIL: no value."""
    metric = "PROF_GR_ENGINE_ACTIVE_current"
    async with adapter(stage, MIG, BUILT_IN) as running:
        assert await running.both(f"{PODS}/*/{metric}") == {"llm-0": "430m", "llm-1": "300m"}
        [code] = await running.both(f"{PODS}/llm-0/{CURRENT}")
        assert code == "404"


async def test_a_gpu_of_several_pods_counts_for_each_and_once_for_all(stage: Stage) -> None:
    """FC-09, where the exporter names all of them; the node has one GPU with 3000 MiB in use."""
    stage.kubernetes.put("/api/v1/pods", pod("ml", "web-1", app="web", node="gpu-a"))
    memory = "DEV_FB_USED_current"
    async with adapter(stage, SHARED_BY_NAME, BUILT_IN) as running:
        assert await running.both(f"{PODS}/*/{CURRENT}") == {"llm-0": "71400m", "web-1": "71400m"}
        assert await running.both(f"nodes/gpu-a/{CURRENT}") == {"gpu-a": "71400m"}
        assert await running.both(f"nodes/gpu-a/{memory}") == {"gpu-a": "3k"}
        assert await running.both(f"namespaces/ml/metrics/{memory}") == {"ml": "3k"}


async def test_the_gpus_of_a_node_without_aggregation_are_combined_as_well(stage: Stage) -> None:
    """FC-07 with N1's labels."""
    rule = (
        N1.replace("sum(", "").replace(") by (<<.GroupBy>>)", "").replace("POWER_USAGE", "FB_USED")
    )
    async with adapter(stage, TWICE, rule) as running:
        assert await running.both("nodes/*/DCGM_FI_DEV_FB_USED") == {"gpu-a": "1k"}


@pytest.mark.parametrize("where", [TWICE, TWO_WAYS], ids=lambda one: one.name)
async def test_a_device_scraped_by_several_jobs_counts_once(stage: Stage, where: Scene) -> None:
    """FC-11."""
    async with adapter(stage, where, BUILT_IN) as running:
        for what, name in ((f"{PODS}/llm-0", "llm-0"), ("nodes/gpu-a", "gpu-a")):
            assert await running.both(f"{what}/{CURRENT}") == {name: "40"}
            assert await running.both(f"{what}/DEV_FB_USED_current") == {name: "1k"}
