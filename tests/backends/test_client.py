"""The adapter's client on each backend: what exists, values, refusals, verbs."""

import time

import pytest

from adapter.errors import EndpointMissing, QueryRefused
from adapter.sources.prometheus import Prometheus
from tests.backends.backends import Backend
from tests.backends.pages import RATE

pytestmark = pytest.mark.anyio
GPUS = '{__name__=~"DCGM_FI_.*",UUID!=""}'
LONG = "|".join(f"a-name-of-thirty-three-characters{n}" for n in range(300))


def span() -> dict[str, float]:
    """The last minute."""
    now = time.time()
    return {"start": now - 60, "end": now}


def values(samples: object, label: str = "exported_pod") -> dict[str, float]:
    assert isinstance(samples, list)
    return {sample.labels.get(label, ""): sample.value for sample in samples}


async def test_a_selector_gives_the_names_of_its_series(client: Prometheus) -> None:
    found = await client.metric_names(GPUS, **span())
    assert sorted(found) == ["DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_GPU_UTIL"]


async def test_a_label_s_presence_narrows_the_names(client: Prometheus) -> None:
    assert await client.metric_names('{UUID!="",no_such_label!=""}', **span()) == []


async def test_a_selector_gives_the_labels_of_its_series_and_no_others(client: Prometheus) -> None:
    found = set(await client.label_names("steps_total", **span()))
    assert found - {"__name__"} == {"instance", "job", "page"}


async def test_a_selector_gives_its_series(client: Prometheus) -> None:
    found = await client.series("DCGM_FI_DEV_GPU_UTIL", **span())
    assert {one["exported_pod"]: one["__name__"] for one in found} == {
        "llm-0": "DCGM_FI_DEV_GPU_UTIL",
        "llm-1": "DCGM_FI_DEV_GPU_UTIL",
    }


@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_everything_is_answered_by_either_verb(backend: Backend, verb: str) -> None:
    asking = backend.ask(verb=verb)
    assert len(await asking.metric_names(GPUS, **span())) == 2
    assert "UUID" in await asking.label_names(GPUS, **span())
    assert len(await asking.series(GPUS, **span())) == 4
    assert len(await asking.query("DCGM_FI_DEV_GPU_UTIL")) == 2
    await asking.aclose()


async def test_a_series_has_its_value_now(client: Prometheus) -> None:
    samples = await client.query('DCGM_FI_DEV_GPU_UTIL{exported_namespace="ml"}')
    assert values(samples) == {"llm-0": 10.5, "llm-1": 30.5}
    assert all(abs(sample.timestamp - time.time()) < 10 for sample in samples)


async def test_the_ceiling_of_a_mean_over_time(client: Prometheus) -> None:
    samples = await client.query('ceil(avg_over_time(DCGM_FI_DEV_GPU_UTIL{UUID!=""}[3m]))')
    assert values(samples) == {"llm-0": 11, "llm-1": 31}


async def test_an_aggregation_by_label(client: Prometheus) -> None:
    samples = await client.query("sum(DCGM_FI_DEV_GPU_UTIL) by (exported_namespace)")
    assert values(samples, "exported_namespace") == {"ml": 41}


async def test_the_rate_of_a_counter(client: Prometheus) -> None:
    (sample,) = await client.query("rate(steps_total[5s])")
    assert sample.value == pytest.approx(RATE, rel=0.2)


async def test_a_division_by_zero_is_infinite(client: Prometheus) -> None:
    samples = await client.query("DCGM_FI_DEV_FB_USED / 0")
    assert values(samples) == {"llm-0": float("inf"), "llm-1": float("inf")}


async def test_what_does_not_exist_is_an_empty_answer(client: Prometheus) -> None:
    assert await client.query("no_such_series") == []
    assert await client.metric_names("no_such_series", **span()) == []
    assert await client.series("no_such_series", **span()) == []


async def test_a_metric_that_has_ended_has_no_value(client: Prometheus) -> None:
    assert await client.query("ending_metric") == []


async def test_a_query_over_4_kib_is_answered(client: Prometheus) -> None:
    samples = await client.query(f'DCGM_FI_DEV_GPU_UTIL{{exported_pod=~"llm-0|{LONG}"}}')
    assert values(samples) == {"llm-0": 10.5}


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("sum(", ""),
        ("no_such_function(up)", "function"),
        ('up{a=~"("}', "missing closing )"),
        ('label_replace(up, "a", "b", "page", "(")', "reg"),
    ],
)
async def test_a_query_at_fault_is_refused_in_the_same_words_each_time(
    client: Prometheus, query: str, word: str
) -> None:
    with pytest.raises(QueryRefused) as caught:
        await client.query(query)
    assert word in str(caught.value)
    with pytest.raises(QueryRefused) as again:
        await client.query(query)
    assert str(again.value) == str(caught.value)


async def test_a_match_of_one_with_many_is_refused(client: Prometheus) -> None:
    """In words that name the series, in any order."""
    with pytest.raises(QueryRefused, match="duplicate"):
        await client.query("DCGM_FI_DEV_GPU_UTIL * on (exported_namespace) DCGM_FI_DEV_GPU_UTIL")


async def test_a_selector_at_fault_is_refused_in_the_end(client: Prometheus) -> None:
    """Names may be refused for lack of `match[]` as well, so the series have the last word."""
    with pytest.raises((QueryRefused, EndpointMissing)):
        await client.metric_names("{{", **span())
    with pytest.raises(QueryRefused):
        await client.series("{{", **span())


async def test_strict_lets_whole_answers_pass(backend: Backend) -> None:
    """Prometheus 3 remarks on the rate of a gauge, which makes the answer no less whole."""
    asking = backend.ask(strict=True)
    assert len(await asking.query("rate(DCGM_FI_DEV_GPU_UTIL[1m])")) == 2
    assert len(await asking.metric_names(GPUS, **span())) == 2
    await asking.aclose()
