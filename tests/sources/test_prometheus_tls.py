"""Prometheus over TLS: which servers are believed, and which certificate we show."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from adapter.errors import InputError, PrometheusDown
from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry

pytestmark = pytest.mark.anyio
BODY = b'{"status":"success","data":{"resultType":"vector","result":[]}}'


class Server:
    """Answers every request with an empty vector and keeps the common names shown to it."""

    def __init__(self) -> None:
        self.url = ""
        self.shown: list[bytes | None] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
        self.shown.append(tls.getpeercert(binary_form=True))
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(BODY)
        writer.write(head + BODY)
        writer.close()
        await writer.wait_closed()


class Redirecting:
    """Plain HTTP that sends everybody to the same path at `there`."""

    def __init__(self, there: str) -> None:
        self.there = there

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1]
        head = b"HTTP/1.1 308 Permanent Redirect\r\nContent-Length: 0\r\nConnection: close\r\n"
        writer.write(head + b"Location: %s%s\r\n\r\n" % (self.there.encode(), path))
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def serving(ca: trustme.CA, clients: trustme.CA | None = None) -> AsyncIterator[Server]:
    """Serve on loopback with a certificate of `ca`, asking for one of `clients` if given."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ca.issue_cert("127.0.0.1").configure_cert(context)
    if clients is not None:
        clients.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    server = Server()
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0, ssl=context)
    async with listening:
        server.url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield server


def write_ca(ca: trustme.CA, directory: Path) -> Path:
    file = directory / "ca.crt"
    ca.cert_pem.write_to_path(file)
    return file


def write_pair(ca: trustme.CA, directory: Path) -> tuple[Path, Path]:
    leaf = ca.issue_cert(common_name="adapter")
    cert, key = directory / "client.crt", directory / "client.key"
    leaf.cert_chain_pems[0].write_to_path(cert)
    leaf.private_key_pem.write_to_path(key)
    return cert, key


async def test_a_server_of_the_given_authority_is_believed(tmp_path: Path) -> None:
    ca = trustme.CA()
    async with serving(ca) as server:
        settings = PrometheusSettings(url=server.url, ca_file=write_ca(ca, tmp_path))
        assert await Prometheus(settings, Telemetry()).query("up") == []
        assert server.shown == [None]


async def test_a_server_of_another_authority_is_not(tmp_path: Path) -> None:
    async with serving(trustme.CA()) as server:
        settings = PrometheusSettings(url=server.url, ca_file=write_ca(trustme.CA(), tmp_path))
        with pytest.raises(PrometheusDown, match="CERTIFICATE_VERIFY_FAILED"):
            await Prometheus(settings, Telemetry()).query("up")


async def test_without_a_ca_file_a_private_authority_is_not_believed() -> None:
    async with serving(trustme.CA()) as server:
        with pytest.raises(PrometheusDown, match="CERTIFICATE_VERIFY_FAILED"):
            await Prometheus(PrometheusSettings(url=server.url), Telemetry()).query("up")


async def test_a_replaced_client_pair_is_shown_on_the_next_connection(tmp_path: Path) -> None:
    ca = trustme.CA()
    async with serving(ca, clients=ca) as server:
        cert, key = write_pair(ca, tmp_path)
        settings = PrometheusSettings(
            url=server.url,
            ca_file=write_ca(ca, tmp_path),
            client_cert_file=cert,
            client_key_file=key,
        )
        prometheus = Prometheus(settings, Telemetry())
        await prometheus.query("up")
        before = ssl.PEM_cert_to_DER_cert(cert.read_text())
        write_pair(ca, tmp_path)
        await prometheus.query("up")
        after = ssl.PEM_cert_to_DER_cert(cert.read_text())
        assert server.shown == [before, after]
        await prometheus.aclose()


async def test_a_pair_that_is_half_replaced_is_shown_as_it_was(tmp_path: Path) -> None:
    ca = trustme.CA()
    async with serving(ca, clients=ca) as server:
        cert, key = write_pair(ca, tmp_path)
        settings = PrometheusSettings(
            url=server.url,
            ca_file=write_ca(ca, tmp_path),
            client_cert_file=cert,
            client_key_file=key,
        )
        prometheus = Prometheus(settings, Telemetry())
        before = ssl.PEM_cert_to_DER_cert(cert.read_text())
        leaf = ca.issue_cert(common_name="adapter")
        leaf.cert_chain_pems[0].write_to_path(cert)
        await prometheus.query("up")
        leaf.private_key_pem.write_to_path(key)
        await prometheus.query("up")
        after = ssl.PEM_cert_to_DER_cert(cert.read_text())
        assert server.shown == [before, after]
        await prometheus.aclose()


async def test_a_pair_is_shown_without_a_ca_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca = trustme.CA()
    monkeypatch.setenv("SSL_CERT_FILE", str(write_ca(ca, tmp_path)))
    async with serving(ca, clients=ca) as server:
        cert, key = write_pair(ca, tmp_path)
        settings = PrometheusSettings(url=server.url, client_cert_file=cert, client_key_file=key)
        prometheus = Prometheus(settings, Telemetry())
        await prometheus.query("up")
        assert server.shown == [ssl.PEM_cert_to_DER_cert(cert.read_text())]
        await prometheus.aclose()


async def test_a_replaced_authority_is_believed_and_the_former_no_more(tmp_path: Path) -> None:
    ca = trustme.CA()
    async with serving(ca) as server:
        file = write_ca(ca, tmp_path)
        prometheus = Prometheus(PrometheusSettings(url=server.url, ca_file=file), Telemetry())
        await prometheus.query("up")
        write_ca(trustme.CA(), tmp_path)
        with pytest.raises(PrometheusDown, match="CERTIFICATE_VERIFY_FAILED"):
            await prometheus.query("up")
        write_ca(ca, tmp_path)
        assert await prometheus.query("up") == []
        await prometheus.aclose()


async def test_an_authority_file_that_breaks_leaves_the_former_authority(tmp_path: Path) -> None:
    ca = trustme.CA()
    async with serving(ca) as server:
        file = write_ca(ca, tmp_path)
        prometheus = Prometheus(PrometheusSettings(url=server.url, ca_file=file), Telemetry())
        file.write_text("half a certif")
        assert await prometheus.query("up") == []
        await prometheus.aclose()


async def test_a_kubeconfig_lends_authority_and_pair(tmp_path: Path) -> None:
    ca = trustme.CA()
    cert, key = write_pair(ca, tmp_path)
    file = tmp_path / "kubeconfig"
    file.write_text(
        "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
        f" clusters: [{{name: c, cluster: {{server: 'https://x', certificate-authority:"
        f" {write_ca(ca, tmp_path)}}}}}],"
        f" users: [{{name: u, user: {{client-certificate: {cert}, client-key: {key}}}}}]}}"
    )
    async with serving(ca, clients=ca) as server:
        settings = PrometheusSettings(url=server.url, auth_config=file)
        prometheus = Prometheus(settings, Telemetry())
        await prometheus.query("up")
        before = ssl.PEM_cert_to_DER_cert(cert.read_text())
        write_pair(ca, tmp_path)
        await prometheus.query("up")
        assert server.shown == [before, ssl.PEM_cert_to_DER_cert(cert.read_text())]
        await prometheus.aclose()


async def test_a_kubeconfig_may_skip_verification(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(
        "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: 'https://x', insecure-skip-tls-verify: true}}],"
        " users: [{name: u, user: {}}]}"
    )
    async with serving(trustme.CA()) as server:
        settings = PrometheusSettings(url=server.url, auth_config=file)
        prometheus = Prometheus(settings, Telemetry())
        assert await prometheus.query("up") == []
        await prometheus.aclose()


async def test_a_redirect_from_http_to_https_believes_the_system_s_authorities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca = trustme.CA()
    monkeypatch.setenv("SSL_CERT_FILE", str(write_ca(ca, tmp_path)))
    async with serving(ca) as server:
        plain = await asyncio.start_server(Redirecting(server.url).answer, "127.0.0.1", 0)
        async with plain:
            port = plain.sockets[0].getsockname()[1]
            settings = PrometheusSettings(url=f"http://127.0.0.1:{port}")
            prometheus = Prometheus(settings, Telemetry())
            assert await prometheus.query("up") == []
            await prometheus.aclose()


def test_a_key_that_is_missing_is_named(tmp_path: Path) -> None:
    cert, key = write_pair(trustme.CA(), tmp_path)
    key.unlink()
    settings = PrometheusSettings(url="http://prom", client_cert_file=cert, client_key_file=key)
    with pytest.raises(InputError) as caught:
        Prometheus(settings, Telemetry())
    assert str(key) in [problem.file for problem in caught.value.problems]


def test_an_encrypted_key_is_an_input_error_and_asks_nobody(tmp_path: Path) -> None:
    cert, key = write_pair(trustme.CA(), tmp_path)
    plain = load_pem_private_key(key.read_bytes(), password=None)
    sealed = BestAvailableEncryption(b"word")
    key.write_bytes(plain.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealed))
    settings = PrometheusSettings(url="http://prom", client_cert_file=cert, client_key_file=key)
    with pytest.raises(InputError, match="the key is encrypted"):
        Prometheus(settings, Telemetry())


def test_a_pair_that_does_not_belong_together_is_an_input_error(tmp_path: Path) -> None:
    cert, _ = write_pair(trustme.CA(), tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    _, key = write_pair(trustme.CA(), other)
    settings = PrometheusSettings(url="http://prom", client_cert_file=cert, client_key_file=key)
    with pytest.raises(InputError, match="--prometheus-client-tls-cert-file"):
        Prometheus(settings, Telemetry())
