"""Where the backends differ; docs/backends.md tells each of these to users."""

import time

import httpx
import pytest

from adapter.errors import QueryRefused
from adapter.sources.prometheus import Prometheus
from tests.backends.backends import PROMETHEUS, PROMETHEUS_3, VICTORIAMETRICS, Backend

pytestmark = pytest.mark.anyio
VALUES = "/api/v1/label/__name__/values"
LAG = 3


async def answer(client: Prometheus, query: str) -> object:
    """Give the values, or the word for a refusal."""
    try:
        return [sample.value for sample in await client.query(query)]
    except QueryRefused:
        return "refused"


async def test_a_number_is_a_vector_to_victoriametrics_alone(
    backend: Backend, client: Prometheus
) -> None:
    told = {PROMETHEUS: "refused", PROMETHEUS_3: "refused", VICTORIAMETRICS: [1.0]}
    assert await answer(client, "1") == told[backend.name]


async def test_nan_is_left_out_by_victoriametrics_itself(
    backend: Backend, client: Prometheus
) -> None:
    samples = await client.query("DCGM_FI_DEV_FB_USED * 0 / 0")
    assert len(samples) == (0 if backend.name == VICTORIAMETRICS else 2)


async def test_a_range_leaves_out_its_beginning_except_in_prometheus_2(
    backend: Backend, client: Prometheus
) -> None:
    told = {PROMETHEUS: [3.0], PROMETHEUS_3: [2.0], VICTORIAMETRICS: [2.0]}
    query = "count_over_time(vector(1)[10s:5s] @ 100)"
    assert await answer(client, query) == told[backend.name]


async def test_a_quoted_metric_name_is_no_query_to_prometheus_2(
    backend: Backend, client: Prometheus
) -> None:
    told = {PROMETHEUS: "refused", PROMETHEUS_3: [10.5], VICTORIAMETRICS: [10.5]}
    query = '{"DCGM_FI_DEV_GPU_UTIL", exported_pod="llm-0"}'
    assert await answer(client, query) == told[backend.name]


async def test_prometheus_3_has_no_holt_winters(backend: Backend, client: Prometheus) -> None:
    told = await answer(client, "count(holt_winters(DCGM_FI_DEV_GPU_UTIL[1m], 0.5, 0.5))")
    assert told == ("refused" if backend.name == PROMETHEUS_3 else [2.0])


async def test_victoriametrics_alone_bounds_the_length_of_a_query(
    backend: Backend, client: Prometheus
) -> None:
    query = f'DCGM_FI_DEV_GPU_UTIL{{exported_pod=~"llm-0|{"x" * 20_000}"}}'
    if backend.name != VICTORIAMETRICS:
        assert await answer(client, query) == [10.5]
        return
    with pytest.raises(QueryRefused, match=r"too long query.*maxQueryLen=16384"):
        await client.query(query)


async def test_a_label_s_values_are_served_by_post_by_victoriametrics_alone(
    backend: Backend,
) -> None:
    answer = await backend.server.http.post(VALUES, data={"match[]": "up"})
    assert answer.status_code == (200 if backend.name == VICTORIAMETRICS else 405)


async def test_a_path_that_is_not_there_is_400_to_victoriametrics(backend: Backend) -> None:
    answer = await backend.server.http.get("/wrong/prefix/api/v1/query", params={"query": "up"})
    assert answer.status_code == (400 if backend.name == VICTORIAMETRICS else 404)


async def test_a_metric_that_has_ended_goes_on_being_listed_by_all(client: Prometheus) -> None:
    now = time.time()
    assert await client.metric_names("ending_metric", start=now - 1, end=now) == ["ending_metric"]


async def test_its_series_are_listed_for_the_day_by_victoriametrics_alone(
    backend: Backend, client: Prometheus
) -> None:
    now = time.time()
    found = await client.series("ending_metric", start=now + 60, end=now + 120)
    assert len(found) == (1 if backend.name == VICTORIAMETRICS else 0)


async def test_prometheus_3_alone_remarks_on_queries(backend: Backend) -> None:
    query = {"query": "rate(DCGM_FI_DEV_GPU_UTIL[1m])"}
    answer = (await backend.server.http.get("/api/v1/query", params=query)).json()
    assert ("infos" in answer) == (backend.name == PROMETHEUS_3)
    assert "warnings" not in answer


async def age(url: str, server: httpx.AsyncClient) -> tuple[float, float]:
    """Give how old the newest value shown is, and how old it is said to be; infinite without one."""
    (found,) = (await server.get(url)).json()["data"]["result"] or [None]
    if found is None:
        return float("inf"), float("inf")
    said, value = float(found["value"][0]), float(found["value"][1])
    return time.time() - value, time.time() - said


async def test_victoriametrics_alone_shows_only_what_is_older_than_thirty_seconds(
    backend: Backend,
) -> None:
    plain, _ = await age("/api/v1/query?query=the_time", backend.server.http)
    assert (plain > 25) == (backend.name == VICTORIAMETRICS)


async def test_nocache_shows_what_is_newest_everywhere(backend: Backend) -> None:
    newest, _ = await age("/api/v1/query?query=the_time&nocache=1", backend.server.http)
    assert newest < 10


async def test_victoriametrics_says_of_a_value_held_back_that_it_is_of_now(
    backend: Backend,
) -> None:
    url = f"/api/v1/query?query=the_time&latency_offset={LAG}s"
    shown, said = await age(url, backend.server.http)
    held_back = backend.name == VICTORIAMETRICS
    assert (shown >= LAG - 1) == held_back
    assert said < LAG
