"""What is missing is never zero: each way in which a value can be missing, and what is told."""

from collections.abc import AsyncIterator

import pytest

from tests.cluster.adapter import AdapterProcess
from tests.cluster.exporter import Exporter
from tests.cluster.kubelet import MERGE_PATCH, Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.scene import (
    MEMORY,
    UTILISATION,
    V1BETA2,
    eventually,
    message_of,
    namespace,
    pod,
    run_pods,
    slots_of,
    values,
)

pytestmark = pytest.mark.anyio

SPACE = "missing"
PODS = f"namespaces/{SPACE}/pods"
UTIL = "DEV_GPU_UTIL_current"
FAULTS = {
    "nan": (float("nan"), "its value is NaN"),
    "infinite": (float("inf"), "its value is infinite"),
    "blank": (9223372036854775794, "its value is a DCGM blank value"),
    "impossible": (
        250,
        "its value is outside the possible range of DCGM_FI_DEV_GPU_UTIL (0 to 100)",
    ),
}
EXPORTER = {"namespace": "gpu-operator", "pod": "nvidia-dcgm-exporter-x7k2p"}


@pytest.fixture(scope="module")
async def scene(
    plane: ControlPlane,
    kubelet: Kubelet,
    exporter: Exporter,
    prometheus: PrometheusServer,
    adapter: AdapterProcess,
) -> AsyncIterator[None]:
    """One pod with a value, one for each fault, some without a GPU, and series of no living pod."""
    exporter.release()
    async with namespace(plane, kubelet, SPACE):
        await run_pods(
            plane,
            *(pod(SPACE, name, gpus=1, app="faulty") for name in FAULTS),
            pod(SPACE, "good", gpus=1, app="mixed", alone="yes"),
            pod(SPACE, "bare", app="mixed"),
            pod(SPACE, "lonely", app="lonely"),
            pod(SPACE, "finished", app="finished"),
            pod(SPACE, "moved", app="moved"),
        )
        await finish(plane, "finished")
        _expose(kubelet, exporter)
        await expose_ghosts(plane, exporter, prometheus)
        wanted = {"good": "37"}
        path = f"{PODS}/*/{UTIL}?labelSelector=app in (mixed,faulty)"
        assert await eventually(lambda: values(plane.http, path), wanted) == wanted
        yield
    exporter.release()
    prometheus.scrape(exporter.targets())


def _expose(kubelet: Kubelet, exporter: Exporter) -> None:
    for name, (value, _) in FAULTS.items():
        [slot] = slots_of(kubelet, SPACE, name)
        exporter.set(slot, UTILISATION, value)
    [slot] = slots_of(kubelet, SPACE, "good")
    exporter.set(slot, UTILISATION, 37)
    exporter.set(slot, MEMORY, 1234)


async def expose_ghosts(
    plane: ControlPlane, exporter: Exporter, prometheus: PrometheusServer
) -> None:
    """Series of a pod that never was, of one that has ended, and of one on the other node."""
    here = await node_of(plane, "moved")
    [other] = set(exporter.fleet.nodes) - {here}
    ghosts = {"deleted": here, "finished": here, "moved": other}
    lines = [
        f'{UTILISATION}{{UUID="GPU-of-{name}",Hostname="{node}",namespace="{SPACE}",'
        f'pod="{name}"}} 55\n'
        for name, node in ghosts.items()
    ]
    exporter.server.publish("/ghosts", "".join(lines))
    target = Target(address=exporter.server.address, path="/ghosts", labels=EXPORTER)
    prometheus.scrape([*exporter.targets(), target])
    series = f'{UTILISATION}{{exported_pod=~"{"|".join(ghosts)}"}}'
    await prometheus.wait_for(f"count({series}) == {len(ghosts)}")


async def finish(plane: ControlPlane, name: str) -> None:
    """Let a pod have run to its end."""
    body = {"status": {"phase": "Succeeded"}}
    path = f"/api/v1/namespaces/{SPACE}/pods/{name}/status"
    (await plane.http.patch(path, json=body, headers=MERGE_PATCH)).raise_for_status()


async def node_of(plane: ControlPlane, name: str) -> str:
    """The node that a pod runs on."""
    found: str = (await plane.get(f"/api/v1/namespaces/{SPACE}/pods/{name}"))["spec"]["nodeName"]
    return found


async def told(plane: ControlPlane, path: str) -> tuple[int, str, str]:
    """Of an answer that is an error: its code, the words that clients know, and the reason."""
    answer = await plane.http.get(f"{V1BETA2}/{path}")
    known, _, reason = message_of(answer).partition(": ")
    return answer.status_code, known, reason


def unknown(metric: str, name: str = "") -> str:
    """The words with which every refusal begins."""
    return f"the server could not find the metric {metric} for pods {name}".strip()


async def test_a_metric_that_nobody_knows_is_not_found_with_the_reason(
    plane: ControlPlane, scene: None
) -> None:
    nobody = "no rule offers a metric of this name in namespace missing"
    assert await told(plane, f"{PODS}/*/NOT_KNOWN") == (
        404,
        unknown("NOT_KNOWN"),
        f"{nobody}, or Prometheus has no series for it",
    )


async def test_a_selector_of_no_living_pod_is_not_found_with_the_reason(
    plane: ControlPlane, scene: None
) -> None:
    assert await told(plane, f"{PODS}/*/{UTIL}?labelSelector=app%3Dnone") == (
        404,
        unknown(UTIL),
        "no live pod in namespace missing matches app=none",
    )


async def test_living_pods_without_a_sample_are_an_empty_list(
    plane: ControlPlane, scene: None
) -> None:
    assert await values(plane.http, f"{PODS}/*/{UTIL}?labelSelector=app%3Dlonely") == {}


async def test_a_pod_without_a_sample_is_not_found_with_the_reason(
    plane: ControlPlane, scene: None
) -> None:
    assert await told(plane, f"{PODS}/lonely/{UTIL}") == (
        404,
        unknown(UTIL, "lonely"),
        "Prometheus has no sample of DCGM_FI_DEV_GPU_UTIL for pod lonely in namespace missing",
    )


async def test_pods_with_a_sample_are_listed_without_those_that_have_none(
    plane: ControlPlane, scene: None
) -> None:
    path = f"{PODS}/*/{UTIL}?labelSelector=app%3Dmixed"
    assert await values(plane.http, path) == {"good": "37"}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_sample_that_is_no_measurement_is_not_found_with_the_reason(
    plane: ControlPlane, scene: None, name: str
) -> None:
    sample = f"the sample of DCGM_FI_DEV_GPU_UTIL for pod {name} in namespace missing"
    assert await told(plane, f"{PODS}/{name}/{UTIL}") == (
        404,
        unknown(UTIL, name),
        f"{sample} is left out: {FAULTS[name][1]}",
    )


async def test_samples_that_are_no_measurements_are_left_out_of_a_list(
    plane: ControlPlane, scene: None
) -> None:
    assert await values(plane.http, f"{PODS}/*/{UTIL}?labelSelector=app%3Dfaulty") == {}


async def test_a_series_of_a_deleted_pod_is_no_value(plane: ControlPlane, scene: None) -> None:
    assert await told(plane, f"{PODS}/deleted/{UTIL}") == (
        404,
        unknown(UTIL, "deleted"),
        "pod deleted in namespace missing does not exist or has ended",
    )


async def test_a_series_of_a_finished_pod_is_no_value(plane: ControlPlane, scene: None) -> None:
    assert await told(plane, f"{PODS}/finished/{UTIL}") == (
        404,
        unknown(UTIL, "finished"),
        "pod finished in namespace missing does not exist or has ended",
    )


async def test_a_series_of_a_pod_that_moved_is_no_value(plane: ControlPlane, scene: None) -> None:
    code, known, reason = await told(plane, f"{PODS}/moved/{UTIL}")
    assert (code, known) == (404, unknown(UTIL, "moved"))
    assert reason.endswith(
        "is left out: its series are of a pod that ended, moved or had this name before"
    )


async def test_a_list_of_all_pods_has_only_measurements_of_living_ones(
    plane: ControlPlane, scene: None
) -> None:
    assert await values(plane.http, f"{PODS}/*/{UTIL}") == {"good": "37"}


async def test_a_query_that_prometheus_refuses_is_an_error_in_its_words(
    plane: ControlPlane, scene: None
) -> None:
    metric = "memory_of_no_function"
    code, known, reason = await told(plane, f"{PODS}/good/{metric}")
    assert (code, known) == (500, unknown(metric, "good"))
    assert reason.startswith("Prometheus refuses the query of rule 5 (")
    assert 'unknown function with name "no_such_function"' in reason


async def test_an_answer_without_the_label_is_the_value_of_one_pod_asked_for(
    plane: ControlPlane, scene: None
) -> None:
    assert await values(plane.http, f"{PODS}/good/memory_without_label") == {"good": "1234"}


async def test_an_answer_without_the_label_is_the_value_of_one_pod_selected(
    plane: ControlPlane, scene: None
) -> None:
    path = f"{PODS}/*/memory_without_label?labelSelector=alone"
    assert await values(plane.http, path) == {"good": "1234"}


async def test_an_answer_without_the_label_is_an_error_for_several_pods(
    plane: ControlPlane, scene: None
) -> None:
    metric = "memory_without_label"
    code, known, reason = await told(plane, f"{PODS}/*/{metric}?labelSelector=app%3Dmixed")
    assert (code, known) == (500, unknown(metric))
    assert reason.startswith("the answer to rule 4 (")
    assert reason.endswith("lacks label exported_pod, aggregate by (<<.GroupBy>>) to keep it")
