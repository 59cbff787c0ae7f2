"""Security as it stands on the wire: TLS on loopback, uvicorn, the gate; only the cluster is a stand-in."""

import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio
import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from adapter.api.gate import Gate
from adapter.api.protocol import PeerCertificateProtocol
from adapter.model.identity import Decision, FrontProxy, PathAccess, User
from adapter.security.authentication import Authenticator
from adapter.security.authorization import Authorizer
from adapter.security.tls import ServingCertificate
from adapter.settings import AuthorizationSettings, ServingSettings
from certs.authority import Authority, Pair
from tests.security.making import Cluster, days

pytestmark = pytest.mark.anyio

ROOT = "/apis/custom.metrics.k8s.io/v1beta2"
ALICE = {"x-remote-user": "alice"}


@pytest.fixture(
    scope="module",
    params=[("asyncio", {"use_uvloop": True}), ("asyncio", {"use_uvloop": False})],
    ids=["uvloop", "asyncio"],
)
def anyio_backend(request: pytest.FixtureRequest) -> object:
    """Both loops: each has a TLS of its own."""
    return request.param


@pytest.fixture(scope="module")
def serving_authority() -> Authority:
    return Authority.create("serving-ca")


@pytest.fixture(scope="module")
def front_authority() -> Authority:
    return Authority.create("front-proxy-ca")


@pytest.fixture(scope="module")
def front(front_authority: Authority) -> Pair:
    return front_authority.issue_client("front-proxy-client")


@dataclass
class Adapter:
    """A server on loopback, the cluster it asks, and what a client needs."""

    directory: Path
    serving_authority: Authority
    proxies: list[FrontProxy]
    cluster: Cluster = field(default_factory=Cluster)
    port: int = 0

    @asynccontextmanager
    async def client(self, pair: Pair | None = None) -> AsyncIterator[httpx.AsyncClient]:
        """A client that checks the server and shows the pair, if any."""
        trusted = self.serving_authority.certificate_pem.decode()
        context = ssl.create_default_context(cadata=trusted)
        if pair is not None:
            context.load_cert_chain(*pair.write(self.directory, "client", force=True))
        url = f"https://localhost:{self.port}"
        async with httpx.AsyncClient(verify=context, base_url=url, trust_env=False) as client:
            yield client

    async def get(
        self, path: str, pair: Pair | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """One request on a connection of its own."""
        async with self.client(pair) as client:
            return await client.get(path, headers=headers)

    def rotate(self, *authorities: Authority) -> None:
        """Make these the authorities of the front proxy, as a changed ConfigMap would."""
        bundle = b"".join(authority.certificate_pem for authority in authorities)
        self.proxies.append(FrontProxy(ca_pem=bundle, allowed_names=("front-proxy-client",)))


async def told(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the user's name and the client's port."""
    user = scope["state"].get("user")
    body = {"user": user.name if user else None, "port": scope["client"][1]}
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


@pytest.fixture
async def adapter(
    tmp_path: Path, serving_authority: Authority, front_authority: Authority
) -> AsyncIterator[Adapter]:
    pair = serving_authority.issue_server("adapter", ["localhost"])
    certificate, key = pair.write(tmp_path, "serving")
    under_test = Adapter(directory=tmp_path, serving_authority=serving_authority, proxies=[])
    under_test.rotate(front_authority)
    proxies, cluster = under_test.proxies, under_test.cluster
    serving = ServingCertificate(
        ServingSettings(cert_file=certificate, key_file=key), lambda: proxies[-1]
    )
    gate = Gate(
        told,
        Authenticator(lambda: proxies[-1], cluster),
        Authorizer(cluster, AuthorizationSettings()),
        AuthorizationSettings().always_allow_paths,
    )
    async with running(gate, serving) as port:
        under_test.port = port
        yield under_test


@asynccontextmanager
async def running(app: ASGIApp, serving: ServingCertificate) -> AsyncIterator[int]:
    """Serve on a free port; the socket listens before anybody asks."""
    config = uvicorn.Config(
        app,
        http=PeerCertificateProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        ssl_context_factory=lambda *_: serving.context,
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            yield listener.getsockname()[1]
            server.should_exit = True


async def test_the_front_proxys_user_gets_through(adapter: Adapter, front: Pair) -> None:
    answer = await adapter.get(f"{ROOT}/nodes/n/m", front, ALICE)
    assert (answer.status_code, answer.json()["user"]) == (200, "alice")


async def test_a_forged_user_header_is_unauthorized(adapter: Adapter) -> None:
    answer = await adapter.get(f"{ROOT}/nodes/n/m", None, ALICE)
    assert (answer.status_code, answer.json()["message"]) == (401, "Unauthorized")


async def test_a_wrong_common_name_is_unauthorized(
    adapter: Adapter, front_authority: Authority
) -> None:
    other = front_authority.issue_client("somebody")
    assert (await adapter.get(f"{ROOT}/nodes/n/m", other, ALICE)).status_code == 401


async def test_an_expired_certificate_is_unauthorized(
    adapter: Adapter, front_authority: Authority
) -> None:
    past = days(-3, -1, now=datetime.now(UTC))
    expired = front_authority.issue_client("front-proxy-client", validity=past)
    assert (await adapter.get(f"{ROOT}/nodes/n/m", expired, ALICE)).status_code == 401


async def test_a_certificate_of_another_authority_gets_no_connection(adapter: Adapter) -> None:
    other = Authority.create("front-proxy-ca").issue_client("front-proxy-client")
    with pytest.raises(httpx.TransportError):
        await adapter.get(f"{ROOT}/nodes/n/m", other, ALICE)
    assert adapter.cluster.reviews == []


async def test_a_serving_certificate_gets_no_connection(
    adapter: Adapter, front_authority: Authority
) -> None:
    serving = front_authority.issue_server("front-proxy-client", ["front"])
    with pytest.raises(httpx.TransportError):
        await adapter.get(f"{ROOT}/nodes/n/m", serving, ALICE)
    assert adapter.cluster.reviews == []


async def test_one_clients_certificate_does_not_speak_for_another_connection(
    adapter: Adapter, front: Pair
) -> None:
    async with adapter.client(front) as trusted, adapter.client() as forger:
        asked = [
            (await client.get("/version", headers=ALICE)).status_code
            for client in (trusted, forger, trusted, forger)
        ]
    assert asked == [200, 401, 200, 401]


async def test_a_connection_that_is_kept_keeps_its_certificate(
    adapter: Adapter, front: Pair
) -> None:
    async with adapter.client(front) as client:
        answers = [
            (await client.get("/version", headers={"x-remote-user": name})).json()
            for name in ("alice", "bob", "carol")
        ]
    assert [answer["user"] for answer in answers] == ["alice", "bob", "carol"]
    assert len({answer["port"] for answer in answers}) == 1


async def test_health_needs_neither_certificate_nor_user(adapter: Adapter) -> None:
    answer = await adapter.get("/readyz", None, ALICE)
    assert (answer.status_code, answer.json()["user"]) == (200, None)


@pytest.mark.parametrize(
    ("user", "path"), [("system:kube-aggregator", ROOT), ("system:aggregator", "/openapi/v2")]
)
async def test_the_aggregators_users_without_groups_are_judged_as_authenticated(
    adapter: Adapter, front: Pair, user: str, path: str
) -> None:
    """ClusterRole system:discovery is bound to that group, not to their names."""
    assert (await adapter.get(path, front, {"x-remote-user": user})).status_code == 200
    asker = User(name=user, groups=("system:authenticated",))
    assert adapter.cluster.reviews == [(asker, PathAccess(verb="get", path=path))]


async def test_the_availability_probe_passes_without_a_review(
    adapter: Adapter, front: Pair
) -> None:
    adapter.cluster.down = True
    probe = {"x-remote-user": "system:kube-aggregator", "x-remote-group": "system:masters"}
    assert (await adapter.get(ROOT, front, probe)).status_code == 200


async def test_a_users_rights_are_asked_for_and_hold(adapter: Adapter, front: Pair) -> None:
    adapter.cluster.decision = Decision(allowed=False)
    answer = await adapter.get(f"{ROOT}/namespaces/ns/pods/%2A/m", front, ALICE)
    assert answer.status_code == 403
    assert answer.json()["message"] == (
        'pods.custom.metrics.k8s.io "*" is forbidden: User "alice" cannot get resource "pods/m" '
        'in API group "custom.metrics.k8s.io" in the namespace "ns"'
    )


async def test_a_bearer_token_needs_no_certificate(adapter: Adapter) -> None:
    adapter.cluster.owners["t"] = User(name="bob")
    answer = await adapter.get("/metrics", None, {"authorization": "Bearer t", **ALICE})
    assert (answer.status_code, answer.json()["user"]) == (200, "bob")


async def test_the_front_proxys_authority_changes_while_connections_are_open(
    adapter: Adapter, front_authority: Authority, front: Pair
) -> None:
    """Old, old and new, new alone: the kept connection of the old one lasts as long as the old."""
    following = Authority.create("front-proxy-ca")
    next_front = following.issue_client("front-proxy-client")
    async with adapter.client(front) as kept:
        kept_codes = [(await kept.get("/version", headers=ALICE)).status_code]
        adapter.rotate(front_authority, following)
        kept_codes.append((await kept.get("/version", headers=ALICE)).status_code)
        for pair in (front, next_front):
            assert (await adapter.get("/version", pair, ALICE)).status_code == 200
        adapter.rotate(following)
        kept_codes.append((await kept.get("/version", headers=ALICE)).status_code)
    assert kept_codes == [200, 200, 401]
    assert (await adapter.get("/version", next_front, ALICE)).status_code == 200
    with pytest.raises(httpx.TransportError):
        await adapter.get("/version", front, ALICE)


async def test_a_new_serving_pair_is_served_while_the_old_connection_goes_on(
    adapter: Adapter, front: Pair
) -> None:
    """The new pair's authority is known to the new client alone."""
    following = Authority.create("next-serving-ca")
    async with adapter.client(front) as kept:
        await kept.get("/version", headers=ALICE)
        pair = following.issue_server("adapter", ["localhost"])
        pair.write(adapter.directory, "serving", force=True)
        adapter.serving_authority = following
        assert (await adapter.get("/version", front, ALICE)).status_code == 200
        assert (await kept.get("/version", headers=ALICE)).status_code == 200


async def test_a_stop_does_not_wait_for_a_client_that_keeps_an_idle_connection(
    tmp_path: Path, serving_authority: Authority
) -> None:
    """The client never answers the end of its TLS session; the server still ends."""
    pair = serving_authority.issue_server("adapter", ["localhost"])
    certificate, key = pair.write(tmp_path, "serving")
    serving = ServingCertificate(ServingSettings(cert_file=certificate, key_file=key), lambda: None)
    trusted = ssl.create_default_context(cadata=serving_authority.certificate_pem.decode())
    with anyio.fail_after(10):
        async with running(told, serving) as port:
            idle = await anyio.connect_tcp("localhost", port, ssl_context=trusted)
            await idle.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await idle.receive()).startswith(b"HTTP/1.1 200")
    await anyio.aclose_forcefully(idle)


@pytest.mark.parametrize("sent", [b"FOO / HTTP/1.1\r\n\r\n", b"\x16\x03\x01 garbage\r\n\r\n"])
async def test_what_is_no_http_is_told_as_a_status(adapter: Adapter, sent: bytes) -> None:
    trusted = ssl.create_default_context(cadata=adapter.serving_authority.certificate_pem.decode())
    answer = b""
    async with await anyio.connect_tcp("localhost", adapter.port, ssl_context=trusted) as stream:
        await stream.send(sent)
        with contextlib.suppress(anyio.EndOfStream):
            while True:
                answer += await stream.receive()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json" in head
    assert json.loads(body)["reason"] == "BadRequest"
