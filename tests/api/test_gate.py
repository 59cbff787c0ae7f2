"""Who gets through to the application, and what the others are told."""

from collections.abc import Sequence

import anyio
import httpx
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapter.api.gate import Gate
from adapter.errors import Forbidden, InternalError, Unauthorized
from adapter.model.identity import Access, PathAccess, ResourceAccess, User

pytestmark = pytest.mark.anyio

HEALTH = ("/healthz", "/readyz", "/livez")
METRIC = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/pods/*/m"
CREDENTIALS = {"x-remote-user": "root", "authorization": "Bearer t"}


class Guards:
    """Authenticator and authorizer in one: says who it is, or raises what it is told to."""

    def __init__(
        self, user: User | None = None, refusal: Forbidden | InternalError | None = None
    ) -> None:
        self.user = user
        self.refusal = refusal
        self.peers: list[bytes | None] = []
        self.asked: list[tuple[User, Access]] = []

    async def authenticate(
        self, headers: Sequence[tuple[bytes, bytes]], peer_certificate: bytes | None
    ) -> User:
        self.peers.append(peer_certificate)
        if self.user is None:
            raise Unauthorized("Unauthorized")
        return self.user

    def strip(self, headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        return [(name, value) for name, value in headers if name.decode() not in CREDENTIALS]

    async def authorize(self, user: User, access: Access) -> None:
        self.asked.append((user, access))
        if self.refusal is not None:
            raise self.refusal


class Inner:
    """The application behind the gate: remembers what reaches it, answers 204 when it may."""

    def __init__(self, go_on: anyio.Event | None = None) -> None:
        self.scopes: list[Scope] = []
        self.go_on = go_on

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        if self.go_on is not None:
            await self.go_on.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def gate(guards: Guards, inner: Inner, open_paths: Sequence[str] = HEALTH, most: int = 9) -> Gate:
    """The gate before `inner`."""
    return Gate(inner, guards, guards, open_paths, most_at_once=most)


async def ask(
    app: ASGIApp, path: str, method: str = "GET", headers: dict[str, str] | None = None
) -> httpx.Response:
    """One request to the application."""
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="https://adapter") as client:
        return await client.request(method, path, headers=headers)


ALICE = User(name="alice")


async def test_a_user_who_may_gets_through_under_his_name() -> None:
    inner = Inner()
    answer = await ask(gate(Guards(ALICE), inner), METRIC)
    assert answer.status_code == 204
    assert inner.scopes[0]["state"]["user"] == ALICE


async def test_nobody_is_told_unauthorized_and_nothing_more() -> None:
    inner, guards = Inner(), Guards()
    answer = await ask(gate(guards, inner), METRIC)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/json"
    assert "www-authenticate" not in answer.headers
    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }
    assert (inner.scopes, guards.asked) == ([], [])


async def test_a_user_who_may_not_is_told_what() -> None:
    refusal = Forbidden("forbidden: no", details={"name": "*", "kind": "pods"})
    inner = Inner()
    answer = await ask(gate(Guards(ALICE, refusal), inner), METRIC)
    assert answer.status_code == 403
    assert answer.headers["x-content-type-options"] == "nosniff"
    body = answer.json()
    assert (body["reason"], body["message"]) == ("Forbidden", "forbidden: no")
    assert body["details"] == {"name": "*", "kind": "pods"}
    assert inner.scopes == []


async def test_without_the_clusters_word_the_answer_is_500() -> None:
    inner = Inner()
    answer = await ask(gate(Guards(ALICE, InternalError("undecided")), inner), METRIC)
    assert answer.status_code == 500
    assert answer.json()["reason"] == "InternalError"
    assert inner.scopes == []


@pytest.mark.parametrize("path", HEALTH)
async def test_health_is_open_to_everybody(path: str) -> None:
    inner, guards = Inner(), Guards()
    assert (await ask(gate(guards, inner), path)).status_code == 204
    assert "user" not in inner.scopes[0]["state"]
    assert guards.peers == []


@pytest.mark.parametrize(
    "path",
    ["/readyz/ping", "/livez/", "/metrics", "/version", "/", "/apis", "/healthz%2Fx"],
)
async def test_only_the_exact_paths_are_open(path: str) -> None:
    assert (await ask(gate(Guards(), Inner()), path)).status_code == 401


async def test_a_prefix_opens_paths_and_never_a_resource() -> None:
    everything = gate(Guards(), Inner(), ["/*"])
    assert (await ask(everything, "/metrics")).status_code == 204
    assert (await ask(everything, METRIC)).status_code == 401


@pytest.mark.parametrize("path", [METRIC, "/healthz"])
async def test_no_credential_passes_the_gate(path: str) -> None:
    inner = Inner()
    await ask(gate(Guards(ALICE), inner), path, headers={"x-kept": "v", **CREDENTIALS})
    names = {name.decode() for name, _ in inner.scopes[0]["headers"]}
    assert "x-kept" in names
    assert names.isdisjoint(CREDENTIALS)


async def test_the_path_is_judged_as_kube_apiserver_sends_it() -> None:
    """It encodes the star; RBAC sees it decoded."""
    guards = Guards(ALICE)
    await ask(gate(guards, Inner()), METRIC.replace("*", "%2A"), method="HEAD")
    access = ResourceAccess(
        verb="get",
        group="custom.metrics.k8s.io",
        version="v1beta2",
        resource="pods",
        subresource="m",
        namespace="ns",
        name="*",
    )
    assert guards.asked == [(ALICE, access)]


async def test_a_path_of_the_namespace_metric_is_judged_as_metrics() -> None:
    guards = Guards(ALICE)
    await ask(gate(guards, Inner()), "/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/metrics/m")
    (_, access) = guards.asked[0]
    assert isinstance(access, ResourceAccess)
    assert (access.resource, access.name, access.subresource) == ("metrics", "m", "")


async def test_other_methods_are_judged_before_they_are_refused() -> None:
    guards = Guards(ALICE)
    await ask(gate(guards, Inner()), "/version", method="POST")
    assert guards.asked == [(ALICE, PathAccess(verb="post", path="/version"))]


async def test_the_connections_certificate_is_what_is_judged() -> None:
    guards = Guards(ALICE)
    guarded = gate(guards, Inner())

    async def with_certificate(scope: Scope, receive: Receive, send: Send) -> None:
        await guarded({**scope, "state": {"peer_certificate": b"der"}}, receive, send)

    await ask(with_certificate, METRIC)
    assert guards.peers == [b"der"]


async def crowd(user: User, path: str = METRIC, most: int = 2) -> list[int]:
    """What three get who come while others are inside, in the order of their answers."""
    go_on = anyio.Event()
    app, codes = gate(Guards(user), Inner(go_on), most=most), list[int]()

    async def come() -> None:
        codes.append((await ask(app, path)).status_code)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(come)
        await anyio.wait_all_tasks_blocked()
        go_on.set()
    return codes


async def test_more_at_once_than_there_is_room_for_are_told_to_come_back() -> None:
    assert await crowd(ALICE) == [429, 204, 204]


async def test_there_is_room_again_afterwards() -> None:
    app = gate(Guards(ALICE), Inner(), most=1)
    assert [(await ask(app, METRIC)).status_code for _ in range(3)] == [204, 204, 204]


async def test_masters_and_health_always_find_room() -> None:
    """kube-apiserver's probe of availability comes as system:masters."""
    assert await crowd(User(name="probe", groups=("system:masters",))) == [204, 204, 204]
    assert await crowd(ALICE, "/readyz") == [204, 204, 204]


async def nothing() -> Message:
    """A connection on which nothing comes."""
    return {"type": "websocket.connect"}


async def test_websockets_are_closed() -> None:
    inner, sent = Inner(), list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    await gate(Guards(ALICE), inner)({"type": "websocket", "path": METRIC}, nothing, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert inner.scopes == []


async def test_the_right_that_is_asked_for_may_be_wider_than_the_path() -> None:
    guards, everywhere = Guards(User(name="alice")), PathAccess(verb="get", path="/everywhere")
    guard = Gate(Inner(), guards, guards, HEALTH, scoped=lambda _: everywhere)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=guard), base_url="https://adapter"
    ) as client:
        await client.get(METRIC)
    assert [access for _, access in guards.asked] == [everywhere]
