"""What is sent to Prometheus, and what each of its answers becomes."""

from pathlib import Path

import httpx
import pytest

from adapter.errors import EndpointMissing, InputError, PrometheusDown, QueryRefused, SourceError
from adapter.model.objects import Sample
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.sources.prometheus_access import in_cluster
from adapter.telemetry import Telemetry
from tests.fakes.prometheus import FakePrometheus, vector

pytestmark = pytest.mark.anyio
SECRET = "s3cr3t"  # noqa: S105  (looked for in texts)


def asking(fake: FakePrometheus, url: str = "http://prom:9090", **more: object) -> Prometheus:
    settings = PrometheusSettings(url=url, **more)  # type: ignore[arg-type]  # each test names its own
    return Prometheus(settings, Telemetry(), transport=fake)


def refusing(status: int, text: str = "") -> FakePrometheus:
    return FakePrometheus(fault=httpx.Response(status, text=text))


async def test_an_instant_vector_becomes_samples() -> None:
    fake = FakePrometheus(vectors={"up": vector(({"pod": "a"}, "1.5"), timestamp=1550548004.45)})
    samples = await asking(fake).query("up")
    assert samples == [Sample(labels={"pod": "a"}, value=1.5, timestamp=1550548004.45)]


async def test_infinities_are_samples_like_any() -> None:
    fake = FakePrometheus(vectors={"up": vector(({}, "+Inf"), ({}, "-Inf"))})
    values = [sample.value for sample in await asking(fake).query("up")]
    assert values == [float("inf"), float("-inf")]


async def test_a_native_histogram_is_no_sample() -> None:
    histogram = {"metric": {}, "histogram": [1, {"count": "3", "sum": "4"}]}
    fake = FakePrometheus(vectors={"h": {"resultType": "vector", "result": [histogram]}})
    assert await asking(fake).query("h") == []


async def test_prometheus_s_own_clock_decides_and_it_is_told_our_patience() -> None:
    fake = FakePrometheus()
    await asking(fake, timeout=2.5).query("up")
    assert fake.asked[0].params == {"query": "up", "timeout": "2500ms"}


@pytest.mark.parametrize(
    "url", ["http://vm:8481/select/0/prometheus/", "http://vm:8481/select/0/prometheus"]
)
async def test_a_path_prefix_stands_before_every_endpoint(url: str) -> None:
    fake = FakePrometheus()
    prometheus = asking(fake, url)
    await prometheus.query("up")
    await prometheus.metric_names("up", start=0, end=1)
    await prometheus.label_names("up", start=0, end=1)
    await prometheus.series("up", start=0, end=1)
    prefix = "/select/0/prometheus/api/v1"
    endpoints = ["query", "label/__name__/values", "labels", "series"]
    assert [asked.path for asked in fake.asked] == [f"{prefix}/{name}" for name in endpoints]


@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_the_url_s_own_query_goes_with_each_call(verb: str) -> None:
    fake = FakePrometheus()
    await asking(fake, "http://prom/?tenant=a%2Fb", verb=verb).query("up")
    assert fake.asked[0].verb == verb
    assert fake.asked[0].params["tenant"] == "a/b"
    assert fake.asked[0].params["query"] == "up"


async def test_what_is_longer_than_four_kib_is_posted() -> None:
    fake = FakePrometheus()
    long = "up or " * 700
    await asking(fake).query(long)
    assert fake.asked[0].verb == "POST"
    assert fake.asked[0].params["query"] == long


async def test_a_label_s_values_are_asked_by_get_for_post_is_not_served() -> None:
    fake = FakePrometheus(names={"up": ["up"]})
    assert await asking(fake, verb="POST").metric_names("up", start=0, end=1) == ["up"]
    assert fake.asked[0].verb == "GET"


async def test_discovery_gives_the_span_in_milliseconds() -> None:
    fake = FakePrometheus(labels={"up": ["pod"]}, series={"up": [{"pod": "a"}]})
    prometheus = asking(fake)
    assert await prometheus.label_names("up", start=1550548004.45, end=1550548604.5) == ["pod"]
    assert await prometheus.series("up", start=0, end=1) == [{"pod": "a"}]
    assert fake.asked[0].params == {
        "match[]": "up",
        "start": "1550548004.450",
        "end": "1550548604.500",
        "timeout": "10000ms",
    }


async def test_a_header_keeps_what_follows_its_first_equals_sign_and_may_repeat() -> None:
    fake = FakePrometheus()
    await asking(fake, headers=(("X-Scope-OrgID", "a=b"), ("X-Scope-OrgID", "c"))).query("up")
    assert fake.asked[0].headers.get_list("x-scope-orgid") == ["a=b", "c"]


async def test_user_info_becomes_basic_authentication_and_leaves_the_url() -> None:
    fake = FakePrometheus()
    await asking(fake, f"http://us%40er:{SECRET}@prom:9090").query("up")
    # base64 of "us@er:s3cr3t"
    assert fake.asked[0].headers["authorization"] == "Basic dXNAZXI6czNjcjN0"
    assert SECRET not in str(fake.asked[0].url)


async def test_a_token_is_trimmed_and_replaced_when_its_file_is(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("t1\n")
    fake = FakePrometheus()
    prometheus = asking(fake, token_file=file)
    await prometheus.query("up")
    file.write_text("token-2\n")
    await prometheus.query("up")
    sent = [asked.headers["authorization"] for asked in fake.asked]
    assert sent == ["Bearer t1", "Bearer token-2"]


async def test_after_401_the_request_is_made_once_more(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("t1")
    fake = refusing(401)
    with pytest.raises(PrometheusDown, match="401"):
        await asking(fake, token_file=file).query("up")
    assert len(fake.asked) == 2


async def test_a_kubeconfig_lends_its_token(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(
        "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: 'http://x'}}],"
        " users: [{name: u, user: {token: lent}}]}"
    )
    fake = FakePrometheus()
    await asking(fake, auth_config=file).query("up")
    assert fake.asked[0].headers["authorization"] == "Bearer lent"


async def test_a_kubeconfig_that_is_broken_later_is_prometheus_down(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text("{}")
    with pytest.raises(PrometheusDown, match="not a usable kubeconfig"):
        await asking(FakePrometheus(), auth_config=file).query("up")


def test_in_a_cluster_the_service_account_s_files_are_taken_unless_others_are_given() -> None:
    taken = in_cluster(PrometheusSettings(auth_incluster=True))
    assert (taken.token_file, taken.ca_file) == (
        Path("/var/run/secrets/kubernetes.io/serviceaccount/token"),
        Path("/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"),
    )
    given = PrometheusSettings(auth_incluster=True, ca_file=Path("/ca"))
    assert in_cluster(given) == given


async def test_an_authorization_header_given_by_flag_wins(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("t")
    fake = FakePrometheus()
    await asking(fake, token_file=file, headers=(("authorization", "Custom x"),)).query("up")
    assert fake.asked[0].headers.get_list("authorization") == ["Custom x"]


@pytest.mark.parametrize("status", [400, 422])
async def test_a_refusal_is_told_in_prometheus_s_words(status: int) -> None:
    body = '{"status":"error","errorType":"bad_data","error":"1:3: parse error:\\n unexpected )"}'
    with pytest.raises(QueryRefused) as caught:
        await asking(refusing(status, body)).query("u)")
    assert str(caught.value) == "bad_data: 1:3: parse error: unexpected )"


async def test_503_is_prometheus_down_with_its_words() -> None:
    body = '{"status":"error","errorType":"timeout","error":"query timed out"}'
    with pytest.raises(PrometheusDown, match="503: timeout: query timed out"):
        await asking(refusing(503, body)).query("up")


@pytest.mark.parametrize("status", [301, 401, 403, 404, 405, 429, 500, 502, 503, 504])
async def test_any_other_status_is_prometheus_down(status: int) -> None:
    with pytest.raises(PrometheusDown, match=str(status)):
        await asking(refusing(status, "<html>")).query("up")


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_backend_without_an_endpoint_is_told_apart(status: int) -> None:
    prometheus = asking(refusing(status))
    with pytest.raises(EndpointMissing):
        await prometheus.metric_names("up", start=0, end=1)
    with pytest.raises(EndpointMissing):
        await prometheus.label_names("up", start=0, end=1)


async def test_a_backend_that_refuses_a_selector_of_names_is_told_apart() -> None:
    """Its series may still be had; a selector that is wrong is refused there too."""
    body = '{"status":"error","errorType":"bad_data","error":"match[] is not supported"}'
    prometheus = asking(refusing(400, body))
    with pytest.raises(EndpointMissing, match="not supported"):
        await prometheus.metric_names("up", start=0, end=1)
    with pytest.raises(EndpointMissing, match="not supported"):
        await prometheus.label_names("up", start=0, end=1)
    with pytest.raises(QueryRefused, match="not supported"):
        await prometheus.series("up", start=0, end=1)


async def test_a_backend_that_passes_over_the_selector_of_names_is_told_apart() -> None:
    every = '{"status":"success","data":["up","go_info"]}'
    seam = httpx.MockTransport(lambda _: httpx.Response(200, text=every))
    prometheus = Prometheus(PrometheusSettings(url="http://prom"), Telemetry(), transport=seam)
    for _ in range(2):
        with pytest.raises(EndpointMissing, match="names of all series"):
            await prometheus.metric_names("up", start=0, end=1)


async def test_whether_the_selector_counts_is_asked_once() -> None:
    fake = FakePrometheus(names={"up": ["up"]})
    prometheus = asking(fake)
    for _ in range(3):
        assert await prometheus.metric_names("up", start=0, end=1) == ["up"]
    assert [asked.params["match[]"] == "up" for asked in fake.asked].count(False) == 1


@pytest.mark.parametrize("kind", ["scalar", "matrix", "string"])
async def test_a_result_that_is_no_vector_is_refused(kind: str) -> None:
    fake = FakePrometheus(vectors={"q": {"resultType": kind, "result": [1, "1"]}})
    with pytest.raises(QueryRefused, match=kind):
        await asking(fake).query("q")


@pytest.mark.parametrize(
    "error",
    [
        httpx.ConnectError("Connection refused"),
        httpx.ReadTimeout(""),
        httpx.RemoteProtocolError("gone"),
        OSError("no route"),
    ],
)
async def test_what_the_network_raises_is_prometheus_down(error: Exception) -> None:
    fake = FakePrometheus(fault=error)
    with pytest.raises(PrometheusDown) as caught:
        await asking(fake, f"http://user:{SECRET}@prom/?key={SECRET}").query("up")
    assert SECRET not in str(caught.value)


async def test_silence_ends_with_our_patience() -> None:
    fake = FakePrometheus()
    fake.gate.clear()
    with pytest.raises(PrometheusDown, match=r"within 0\.01 s"):
        await asking(fake, timeout=0.01).query("up")


@pytest.mark.parametrize(
    "url", ["prom:9090", "ftp://prom", "http://", "http://prom:port", f"//u:{SECRET}@h"]
)
def test_a_url_that_cannot_be_asked_is_an_input_error(url: str) -> None:
    with pytest.raises(InputError, match="--prometheus-url") as caught:
        asking(FakePrometheus(), url)
    assert SECRET not in str(caught.value)


def test_every_unusable_file_is_named_at_once(tmp_path: Path) -> None:
    not_pem = tmp_path / "ca.crt"
    not_pem.write_text("no certificate")
    missing = tmp_path / "token"
    with pytest.raises(InputError) as caught:
        asking(FakePrometheus(), ca_file=not_pem, token_file=missing)
    assert [problem.file for problem in caught.value.problems] == [str(not_pem), str(missing)]


async def test_each_request_is_counted_by_path_and_outcome() -> None:
    telemetry = Telemetry()
    settings = PrometheusSettings(url="http://prom")
    fine = Prometheus(settings, telemetry, transport=FakePrometheus())
    await fine.query("up")
    broken = Prometheus(settings, telemetry, transport=refusing(500))
    with pytest.raises(SourceError):
        await broken.query("up")
    name = "gpu_metrics_adapter_prometheus_requests_total"
    for outcome in ("ok", "down"):
        labels = {"path": "/api/v1/query", "outcome": outcome}
        assert telemetry.registry.get_sample_value(name, labels) == 1


@pytest.mark.parametrize(
    ("told", "kind"), [(["gauge"], "gauge"), ([], ""), (["counter", "gauge"], "")]
)
async def test_a_metric_has_the_type_that_its_exporters_agree_on(
    told: list[str], kind: str
) -> None:
    fake = FakePrometheus(types={"up": told})
    assert await asking(fake).kind_of("up") == kind
    assert fake.asked[0].path == "/api/v1/metadata"


async def test_a_range_gives_the_times_of_its_samples() -> None:
    matrix = {"resultType": "matrix", "result": [{"metric": {}, "values": [[1, "0"], [16, "0"]]}]}
    fake = FakePrometheus(vectors={"up[1m]": matrix})
    assert await asking(fake).moments("up[1m]") == [[1, 16]]
