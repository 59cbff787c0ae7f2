"""Credentials: from which file, read again when, and never in a text."""

import asyncio
import logging
import stat
import traceback
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import trustme
from hypothesis import assume, given
from hypothesis import strategies as st

from adapter.errors import InputError, PrometheusDown, SourceError
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.sources.prometheus_secrets import Secrets
from adapter.telemetry import Telemetry
from tests.fakes.prometheus import FakePrometheus

pytestmark = pytest.mark.anyio
SECRET = "s3cr3t+/="  # noqa: S105  (looked for in texts)
HIDDEN = "[hidden]"
EMPTY = '{"status":"success","data":{"resultType":"vector","result":[]}}'
KUBECONFIG = (
    "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
    " clusters: [{name: c, cluster: {server: 'http://x'}}],"
    " users: [{name: u, user: %s}]}"
)


def asking(seam: httpx.AsyncBaseTransport, url: str = "http://prom", **more: object) -> Prometheus:
    settings = PrometheusSettings(url=url, **more)  # type: ignore[arg-type]  # each test names its own
    return Prometheus(settings, Telemetry(), transport=seam)


class Guarded(httpx.AsyncBaseTransport):
    """A Prometheus that lets in whoever shows one of `words`; `shown` is all it was shown."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.shown: list[str] = []
        self.refused: Callable[[], object] = lambda: None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        word = request.headers.get("authorization", "")
        self.shown.append(word)
        if word in self.words:
            return httpx.Response(200, text=EMPTY)
        self.refused()
        return httpx.Response(401)


async def test_a_token_rotated_after_it_was_sent_is_used_within_the_same_request(
    tmp_path: Path,
) -> None:
    file = tmp_path / "token"
    file.write_text("t1\n")
    backend = Guarded("Bearer t2")
    backend.refused = lambda: file.write_text("t2\n")
    assert await asking(backend, token_file=file).query("up") == []
    assert backend.shown == ["Bearer t1", "Bearer t2"]


async def test_a_401_without_anything_to_read_again_is_told_at_once() -> None:
    backend = Guarded()
    with pytest.raises(PrometheusDown, match="401"):
        await asking(backend, "http://user:word@prom").query("up")
    assert len(backend.shown) == 1


async def test_a_kubeconfig_that_is_replaced_lends_its_new_token(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG % "{token: t1}")
    backend = Guarded("Bearer t1", "Bearer token-2")
    prometheus = asking(backend, auth_config=file)
    await prometheus.query("up")
    file.write_text(KUBECONFIG % "{token: token-2}")
    await prometheus.query("up")
    assert backend.shown == ["Bearer t1", "Bearer token-2"]


async def test_a_kubeconfig_that_breaks_keeps_what_it_lent(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG % "{token: t1}")
    backend = Guarded("Bearer t1")
    prometheus = asking(backend, auth_config=file)
    await prometheus.query("up")
    file.write_text("{")
    await prometheus.query("up")
    assert backend.shown == ["Bearer t1", "Bearer t1"]


async def test_a_credential_plugin_is_run_once_for_all_who_wait(tmp_path: Path) -> None:
    plugin, runs = tmp_path / "plugin", tmp_path / "runs"
    credential = (
        '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",'
        ' "status": {"token": "lent"}}'
    )
    plugin.write_text(f"#!/bin/sh\necho run >> {runs}\necho '{credential}'\n")
    plugin.chmod(stat.S_IRWXU)
    file = tmp_path / "kubeconfig"
    user = f"{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: {plugin}}}}}"
    file.write_text(KUBECONFIG % user)
    backend = Guarded("Bearer lent")
    prometheus = asking(backend, auth_config=file)
    await asyncio.gather(*(prometheus.query("up") for _ in range(5)))
    assert backend.shown == ["Bearer lent"] * 5
    assert runs.read_text() == "run\n"


def test_what_a_ca_file_takes_the_place_of_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    ca = tmp_path / "ca.crt"
    trustme.CA().cert_pem.write_to_path(ca)
    asking(FakePrometheus(), ca_file=ca, auth_config=tmp_path / "kubeconfig")
    assert [record.message for record in caplog.records] == ["flags without effect"]


def test_outside_a_cluster_the_flag_that_asks_for_its_files_is_named() -> None:
    with pytest.raises(InputError) as caught:
        asking(FakePrometheus(), auth_incluster=True)
    keys = [problem.key for problem in caught.value.problems]
    assert keys == ["--prometheus-auth-incluster"] * 2


async def test_a_proxy_that_cannot_be_used_is_an_outage_with_its_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"socks5://u:{SECRET.rstrip('+/=')}@127.0.0.1:1")
    prometheus = Prometheus(PrometheusSettings(url="http://prom"), Telemetry())
    with pytest.raises(PrometheusDown, match="SOCKS") as caught:
        await prometheus.query("up")
    assert "s3cr3t" not in "".join(traceback.format_exception(caught.value))


async def test_half_a_surrogate_pair_is_an_outage_of_that_query_alone() -> None:
    prometheus = asking(FakePrometheus())
    with pytest.raises(PrometheusDown, match="what HTTP cannot carry"):
        await prometheus.query('up{a="\ud800"}')
    assert await prometheus.query("up") == []


async def test_a_header_is_sent_trimmed_and_as_utf_8() -> None:
    fake = FakePrometheus()
    await asking(fake, headers=(("X-Team", " größer \t"),)).query("up")
    sent = dict(fake.asked[0].headers.raw)
    assert sent[b"X-Team"] == "größer".encode()


@pytest.mark.parametrize(
    "header", [("X-Key", f"{SECRET}\nX-Other: 1"), ("X Key", SECRET), (SECRET, "\r")]
)
def test_a_header_that_http_cannot_carry_is_an_input_error(header: tuple[str, str]) -> None:
    with pytest.raises(InputError, match="--prometheus-header: header 2 has") as caught:
        asking(FakePrometheus(), headers=(("X-Fine", "1"), header))
    assert SECRET not in str(caught.value)


def test_a_token_of_two_lines_is_an_input_error(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n{SECRET}")
    with pytest.raises(InputError, match=r"--prometheus-token-file: .* line break") as caught:
        asking(FakePrometheus(), token_file=file)
    assert SECRET not in str(caught.value)


async def test_a_token_that_becomes_unusable_is_told_once_and_the_last_one_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    file = tmp_path / "token"
    file.write_text("t1")
    backend = Guarded("Bearer t1")
    prometheus = asking(backend, token_file=file)
    file.write_text(f"{SECRET}\n{SECRET}")
    await prometheus.query("up")
    await prometheus.query("up")
    assert backend.shown == ["Bearer t1"] * 2
    assert [record.message for record in caplog.records] == [
        "credentials for Prometheus not read again"
    ]
    assert SECRET not in str(vars(caplog.records[0]))


def echoing(text: str) -> list[httpx.Response | Exception]:
    """Give the faults in which a text may come back to us."""
    error = '{"status":"error","errorType":"%s","error":"%s"}'
    return [
        httpx.Response(400, text=error % ("bad_data", text)),
        httpx.Response(422, text=error % ("execution", text)),
        httpx.Response(503, text=error % ("timeout", text)),
        httpx.Response(200, text=error % ("internal", text)),
        httpx.ConnectError(f"no route to {text}"),
        httpx.RemoteProtocolError(f"illegal header line: {text!r}"),
        httpx.LocalProtocolError(f"Illegal header value {text.encode()!r}"),
        httpx.ProxyError(text),
        OSError(text),
        ValueError(text),
    ]


@pytest.mark.parametrize("fault", echoing(f"<{SECRET}>"), ids=range(10))
@pytest.mark.parametrize("way", ["password", "query", "header", "token"])
async def test_no_text_carries_a_credential(
    fault: httpx.Response | Exception, way: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(SECRET)
    url = {"password": "http://u:s3cr3t+%2F=@prom", "query": "http://prom/?k=s3cr3t%2B%2F="}
    prometheus = asking(
        FakePrometheus(fault=fault),
        url.get(way, "http://prom"),
        headers=(("X-Key", SECRET),) if way == "header" else (),
        token_file=file if way == "token" else None,
    )
    with pytest.raises(SourceError) as caught:
        await prometheus.query("up")
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None or SECRET not in str(caught.value.__context__)


def test_a_password_that_breaks_the_url_stands_in_no_text() -> None:
    with pytest.raises(InputError, match="--prometheus-url") as caught:
        asking(FakePrometheus(), f"http://u:{SECRET}@prom")
    assert "s3cr3t" not in "".join(traceback.format_exception_only(caught.value))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


async def test_a_text_without_a_credential_keeps_its_cause() -> None:
    fake = FakePrometheus(fault=httpx.ConnectError("Connection refused"))
    with pytest.raises(PrometheusDown, match="reached: Connection refused") as caught:
        await asking(fake, "http://u:word@prom").query("up")
    assert isinstance(caught.value.__cause__, httpx.ConnectError)


@given(secret=st.text(min_size=4), around=st.tuples(st.text(), st.text()))
def test_a_secret_is_hidden_wherever_it_stands(secret: str, around: tuple[str, str]) -> None:
    assume(secret not in HIDDEN)
    text = Secrets.of([secret]).hidden(secret.join(around))
    assert secret not in text or secret in around[0] + around[1]


def test_short_values_are_no_secrets() -> None:
    assert Secrets.of(["1", "ab"]).hidden("1 label of ab is wrong") == "1 label of ab is wrong"
