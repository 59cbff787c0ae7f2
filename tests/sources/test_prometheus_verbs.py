"""Which verb carries a request, and that the URL's own query goes with it either way."""

from urllib.parse import parse_qs

import httpx
import pytest

from adapter.errors import InputError, PrometheusDown
from adapter.options import parse
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry
from tests.fakes.prometheus import FakePrometheus

pytestmark = pytest.mark.anyio
PREFIX = "/select/0/prometheus"
ENDPOINTS = {
    f"{PREFIX}/api/v1/query": "GET POST",
    f"{PREFIX}/api/v1/label/__name__/values": "GET GET",
    f"{PREFIX}/api/v1/labels": "GET POST",
    f"{PREFIX}/api/v1/series": "GET POST",
}
LONG = 'up{pod=~"' + "|".join(f"a-name-of-thirty-three-characters{n}" for n in range(1500)) + '"}'


def asking(fake: FakePrometheus, **more: object) -> Prometheus:
    settings = PrometheusSettings(**{"url": "http://prom:9090", **more})  # type: ignore[arg-type]  # each test names its own
    return Prometheus(settings, Telemetry(), transport=fake)


async def ask_everything(prometheus: Prometheus) -> None:
    await prometheus.query("up")
    await prometheus.metric_names("up", start=0, end=1)
    await prometheus.label_names("up", start=0, end=1)
    await prometheus.series("up", start=0, end=1)


@pytest.mark.parametrize(("place", "verb"), [(0, "GET"), (1, "POST")])
async def test_prefix_query_and_tenant_go_with_every_call(place: int, verb: str) -> None:
    fake = FakePrometheus()
    url = f"http://vm:8481{PREFIX}/?extra_label=a%3Db&extra_label=c%3Dd&nocache="
    headers = (("X-Scope-OrgID", "a=b"),)
    await ask_everything(asking(fake, url=url, verb=verb, headers=headers))
    assert {asked.path: asked.verb for asked in fake.asked} == {
        path: verbs.split()[place] for path, verbs in ENDPOINTS.items()
    }
    for asked in fake.asked:
        own = parse_qs(asked.url.query.decode(), keep_blank_values=True)
        assert (own["extra_label"], own["nocache"]) == (["a=b", "c=d"], [""])
        assert asked.headers["x-scope-orgid"] == "a=b"


async def test_prometheus_is_told_our_patience_with_every_call() -> None:
    fake = FakePrometheus()
    await ask_everything(asking(fake, timeout=2.5))
    assert [asked.params["timeout"] for asked in fake.asked] == ["2500ms"] * 4


@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_a_query_for_1500_pods_is_posted_whole_whatever_the_verb(verb: str) -> None:
    fake = FakePrometheus()
    await asking(fake, verb=verb).query(LONG)
    assert (fake.asked[0].verb, fake.asked[0].params["query"]) == ("POST", LONG)
    assert fake.asked[0].url.query == b""


@pytest.mark.parametrize(
    ("query", "verb"),
    [
        ("a" * 4096, "GET"),
        ("a" * 4097, "POST"),
        # 2 bytes each, and 6 once quoted: too long for a request line.
        ("é" * 2000, "POST"),
        ("é" * 1000, "GET"),
    ],
)
async def test_four_kib_is_the_longest_that_goes_by_get(query: str, verb: str) -> None:
    fake = FakePrometheus()
    await asking(fake).query(query)
    assert fake.asked[0].verb == verb


async def test_get_is_kept_for_everything_when_it_is_forced() -> None:
    fake = FakePrometheus()
    await asking(fake, force_get=True).query("a" * 5000)
    assert (fake.asked[0].verb, fake.asked[0].params["query"]) == ("GET", "a" * 5000)


async def test_a_backend_that_takes_no_post_is_told_with_the_cure() -> None:
    fake = FakePrometheus(fault=httpx.Response(405))
    with pytest.raises(PrometheusDown, match=r"405 to a long query.*--prometheus-force-get"):
        await asking(fake).query("a" * 5000)


def test_get_is_forced_by_a_flag_of_its_own() -> None:
    assert parse(["--prometheus-force-get"]).prometheus.force_get
    assert not parse(["--prometheus-verb=GET"]).prometheus.force_get


def test_get_cannot_be_forced_and_post_wanted() -> None:
    with pytest.raises(InputError, match="--prometheus-force-get and --prometheus-verb=POST"):
        parse(["--prometheus-force-get", "--prometheus-verb=POST"])


def test_a_call_without_a_time_limit_is_an_input_error() -> None:
    with pytest.raises(InputError, match="--prometheus-timeout is 0"):
        parse(["--prometheus-timeout=0"])
