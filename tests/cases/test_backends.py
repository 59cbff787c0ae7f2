"""How Prometheus is reached: prefixes, tokens, outages, limits, and a start before it is up."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.cases.asking import P1, P2, Adapter, Stage, adapter
from tests.cases.scenes import BUILT_IN, R1A, scene
from tests.cases.tenancy import CLUSTER_PREFIX, Asked
from tests.cluster.processes import until
from tests.fakes.cluster_state import pod

pytestmark = pytest.mark.anyio

UTIL = "DCGM_FI_DEV_GPU_UTIL"
CURRENT = "DEV_GPU_UTIL_current"
PODS = "namespaces/ml/pods"
TWO_PODS = """
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-0",UUID="GPU-1"} 80
DCGM_FI_DEV_GPU_UTIL{namespace="ml",pod="llm-1",UUID="GPU-2"} 40
queue_depth{namespace="ml",pod="llm-0"} 3
"""
BOTH = {"llm-0": "80", "llm-1": "40"}
QUEUE = R1A.replace(UTIL, "queue_depth")

NAMES = [f"trainer-of-language-models-{number:06d}" for number in range(1500)]
LONGEST_QUERY, LONGEST_URL = 16384, 8192

PREFIXED = scene("prefixed", TWO_PODS)
GUARDED = scene("guarded", TWO_PODS)
BROKEN = scene("broken", TWO_PODS)
HANGING = scene("hanging", TWO_PODS)
LATE = scene("late", TWO_PODS)
SILENT = scene("silent", TWO_PODS)
BIG = scene(
    "big",
    "".join(
        f'DCGM_FI_DEV_GPU_UTIL{{namespace="big",pod="{name}",UUID="GPU-{number}"}} {number % 100}\n'
        for number, name in enumerate(NAMES)
    ),
)
SCENES = (PREFIXED, GUARDED, BROKEN, HANGING, LATE, SILENT, BIG)


def asked_of(stage: Stage, name: str) -> list[Asked]:
    """What Prometheus was asked for a scene."""
    return [asked for asked in stage.tenancy.asked if asked.scene == name]


@pytest.mark.parametrize("verb", ["GET", "POST"])
@pytest.mark.parametrize("slash", ["", "/"])
async def test_a_prefix_and_headers_go_with_every_call(stage: Stage, verb: str, slash: str) -> None:
    """FC-24."""
    flags = ("--prometheus-header=X-Scope-OrgID=a=b", f"--prometheus-verb={verb}")
    before = len(stage.tenancy.asked)
    async with adapter(stage, PREFIXED, R1A, *flags, prefix=f"{CLUSTER_PREFIX}{slash}") as running:
        assert await running.both(f"{PODS}/*/{UTIL}") == BOTH
    calls = stage.tenancy.asked[before:]
    assert {asked.headers.get("X-Scope-OrgID") for asked in calls} == {"a=b"}
    assert {asked.path[: len(CLUSTER_PREFIX) + 8] for asked in calls} == {
        f"{CLUSTER_PREFIX}/api/v1/"
    }
    assert f"{CLUSTER_PREFIX}/api/v1/query" in {asked.path for asked in calls}


async def test_a_token_counts_trimmed_and_as_soon_as_it_is_replaced(
    stage: Stage, tmp_path: Path
) -> None:
    """FC-25."""
    accepted, file = ["t1"], tmp_path / "token"

    async def guard(asked: Asked) -> tuple[int, str] | None:
        told = asked.headers.get("Authorization")
        return None if told == f"Bearer {accepted[0]}" else (401, "Unauthorized")

    stage.tenancy.faults[GUARDED.name] = guard
    file.write_text("t1\n")
    async with adapter(stage, GUARDED, R1A, f"--prometheus-token-file={file}") as running:
        assert await running.both(f"{PODS}/*/{UTIL}") == BOTH
        file.write_text("t2\n")
        accepted[0] = "t2"
        assert await running.both(f"{PODS}/*/{UTIL}") == BOTH


BUSY = {
    "unavailable": (503, json.dumps({"status": "error", "errorType": "unavailable", "error": "x"})),
    "gateway": (502, "Bad Gateway"),
    "text": (503, "Service Unavailable"),
}


@pytest.mark.parametrize("kind", BUSY)
async def test_a_prometheus_that_fails_is_an_outage_and_not_a_fault_of_ours(
    stage: Stage, kind: str
) -> None:
    """FC-26 (a): 503 with the reason, for one object and for a list; then all is well again."""

    async def fault(asked: Asked) -> tuple[int, str] | None:
        return BUSY[kind] if asked.path.endswith("/query") else None

    stage.tenancy.faults[BROKEN.name] = fault
    async with adapter(stage, BROKEN, R1A) as running:
        for path in (f"{PODS}/*/{UTIL}", f"{PODS}/llm-0/{UTIL}"):
            answer = await running.http.get(f"{P1}/{path}")
            assert (answer.status_code, answer.json()["reason"]) == (503, "ServiceUnavailable")
            assert "Prometheus gives no answer in namespace ml: " in answer.json()["message"]
            assert "retry-after" not in answer.headers
        del stage.tenancy.faults[BROKEN.name]
        wanted = f"{PODS}/*/{UTIL}"
        await until(lambda: running.gives(wanted, BOTH), what="well again", seconds=15)


async def test_a_query_that_hangs_is_an_outage_after_the_timeout(stage: Stage) -> None:
    """FC-26: a silent Prometheus."""

    async def hang(asked: Asked) -> tuple[int, str] | None:
        if asked.path.endswith("/query"):
            await asyncio.sleep(30)
        return None

    stage.tenancy.faults[SILENT.name] = hang
    async with adapter(stage, SILENT, R1A, "--prometheus-timeout=500ms") as running:
        for path in (f"{PODS}/*/{UTIL}", f"{PODS}/llm-0/{UTIL}"):
            [(code, message)] = (await running.both(path)).items()
            assert code == "503"
            assert "Prometheus gives no answer in namespace ml: " in message


async def test_a_rule_whose_discovery_hangs_does_not_stop_the_others(stage: Stage) -> None:
    """FC-26 (b): it times out; the other goes on being discovered."""

    async def hang(asked: Asked) -> tuple[int, str] | None:
        if "queue_depth" in asked.parameters.get("match[]", ""):
            await asyncio.sleep(30)
        return None

    stage.tenancy.faults[HANGING.name] = hang
    async with adapter(stage, HANGING, QUEUE + R1A, "--prometheus-timeout=1s") as running:
        path = f"{PODS}/*/{UTIL}"
        await until(lambda: running.gives(path, BOTH), what="R1a served", seconds=10)

        async def often() -> bool:
            matches = [asked.parameters.get("match[]", "") for asked in asked_of(stage, "hanging")]
            return sum(UTIL in match for match in matches) >= 6

        await until(often, what="R1a discovered again and again", seconds=20)
        [(code, message)] = (await running.both(f"{PODS}/*/queue_depth")).items()
        assert code == "404"
        assert "discovery fails for rule 1 (" in message


@pytest.mark.parametrize("verb", ["GET", "POST"])
@pytest.mark.parametrize(
    ("rules", "metric"), [(BUILT_IN, CURRENT), (R1A, UTIL)], ids=["built-in", "R1a"]
)
async def test_a_namespace_of_1500_pods_is_answered_whole(
    stage: Stage, rules: str, metric: str, verb: str
) -> None:
    """FC-27: within 16384 bytes a query and 8 KiB a URL; each pod has its own value."""

    async def limits(asked: Asked) -> tuple[int, str] | None:
        if asked.url_length > LONGEST_URL:
            return 414, "URI Too Long"
        if len(asked.parameters.get("query", "")) > LONGEST_QUERY:
            return 422, json.dumps({"status": "error", "errorType": "422", "error": "too long"})
        return None

    stage.tenancy.faults[BIG.name] = limits
    for name in NAMES:
        stage.kubernetes.put("/api/v1/pods", pod("big", name, app="trainer", node="gpu-a"))
    async with adapter(stage, BIG, rules, f"--prometheus-verb={verb}") as running:
        path = f"namespaces/big/pods/*/{metric}?labelSelector=app%3Dtrainer"
        wanted = {name: str(number % 100) for number, name in enumerate(NAMES)}
        # The page is printed by this process: a scrape may have been too slow just now.
        await until(lambda: running.gives(path, wanted), what="1500 items", seconds=20)


async def test_a_start_while_prometheus_is_down_is_live_and_tells_the_outage(stage: Stage) -> None:
    """FC-28: live; not ready; the group is there; metrics are 503; ready as soon as it is up."""

    async def down(asked: Asked) -> tuple[int, str] | None:
        return 503, "starting"

    stage.tenancy.faults[LATE.name] = down
    async with adapter(stage, LATE, R1A, ready=False) as running:
        assert (await running.http.get("/livez")).status_code == 200
        assert (await running.http.get("/readyz")).status_code == 500
        for root in (P1, P2):
            assert (await running.http.get(root)).status_code == 200
        for path in (f"{PODS}/*/{UTIL}", f"{PODS}/llm-0/{UTIL}"):
            [(code, message)] = (await running.both(path)).items()
            assert code == "503"
            assert message.endswith("Prometheus has not answered discovery yet")
        del stage.tenancy.faults[LATE.name]
        await until(lambda: _ready(running), what="ready", seconds=9)
        assert await running.both(f"{PODS}/*/{UTIL}") == BOTH


async def test_a_start_without_prometheus_is_ready_after_a_while(stage: Stage) -> None:
    """FC-28: the wait is bounded, for other groups and old values may be served."""

    async def down(asked: Asked) -> tuple[int, str] | None:
        return 502, "nothing there"

    stage.tenancy.faults[LATE.name] = down
    async with adapter(stage, LATE, R1A, ready=False) as running:
        assert (await running.http.get("/readyz")).status_code == 500
        await until(lambda: _ready(running), what="ready", seconds=15)
        [code] = await running.both(f"{PODS}/*/{UTIL}")
        assert code == "503"


async def _ready(running: Adapter) -> bool:
    return (await running.http.get("/readyz")).is_success
