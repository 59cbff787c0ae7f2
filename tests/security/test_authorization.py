"""What a path asks for, and what becomes of the cluster's word on it."""

import contextlib

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.errors import Forbidden, InternalError
from adapter.model.identity import Access, Decision, PathAccess, ResourceAccess, User
from adapter.model.kinds import Kinds
from adapter.security.authorization import Authorizer, access_of, at_its_scope
from adapter.settings import AuthorizationSettings
from tests.security.making import Clock, Cluster

GROUP = "custom.metrics.k8s.io"
ROOT = f"/apis/{GROUP}/v1beta2"
ALICE = User(name="alice", groups=("system:authenticated",))
READ = PathAccess(verb="get", path="/metrics")


def resource(
    verb: str, word: str, name: str = "", subresource: str = "", namespace: str = ""
) -> ResourceAccess:
    """Access to a resource of our API group."""
    return ResourceAccess(
        verb=verb,
        group=GROUP,
        version="v1beta2",
        resource=word,
        name=name,
        subresource=subresource,
        namespace=namespace,
    )


@pytest.mark.parametrize(
    ("path", "access"),
    [
        ("/namespaces/ns/pods/*/m", resource("get", "pods", "*", "m", "ns")),
        ("/namespaces/ns/pods/p/m", resource("get", "pods", "p", "m", "ns")),
        (
            "/namespaces/ns/deployments.apps/d/m",
            resource("get", "deployments.apps", "d", "m", "ns"),
        ),
        ("/namespaces/ns/metrics/m", resource("get", "metrics", "m", "", "ns")),
        ("/nodes/n/m", resource("get", "nodes", "n", "m")),
        ("/nodes/*/m", resource("get", "nodes", "*", "m")),
        ("/namespaces/ns/nodes/n/m", resource("get", "nodes", "n", "m", "ns")),
        ("/namespaces/ns/pods/p", resource("get", "pods", "p", "", "ns")),
        ("/namespaces/ns/pods", resource("list", "pods", "", "", "ns")),
        ("/nodes", resource("list", "nodes")),
        ("/namespaces", resource("list", "namespaces")),
        ("/namespaces/ns", resource("get", "namespaces", "ns", "", "ns")),
        ("/namespaces/ns/status", resource("get", "namespaces", "ns", "status", "ns")),
        ("/namespaces/ns/status/m", resource("get", "namespaces", "ns", "status", "ns")),
        ("/namespaces/ns/finalize/m", resource("get", "namespaces", "ns", "finalize", "ns")),
        ("/namespaces//pods/p/m", resource("get", "pods", "p", "m")),
        ("/namespaces/*/m", resource("list", "m", "", "", "*")),
        ("/namespaces/ns/pods/p/m/more", resource("get", "pods", "p", "m", "ns")),
        ("/namespaces/ns/pods/p/m/", resource("get", "pods", "p", "m", "ns")),
    ],
)
def test_a_path_of_a_resource_has_the_attributes_of_request_info(path: str, access: Access) -> None:
    assert access_of("GET", ROOT + path) == access


@pytest.mark.parametrize(
    ("path", "verb", "word", "name", "namespace"),
    [
        ("external.metrics.k8s.io/v1beta1/namespaces/shop/lag", "list", "lag", "", "shop"),
        ("metrics.k8s.io/v1beta1/nodes", "list", "nodes", "", ""),
        ("metrics.k8s.io/v1beta1/nodes/gpu-a", "get", "nodes", "gpu-a", ""),
        ("metrics.k8s.io/v1beta1/pods", "list", "pods", "", ""),
        ("metrics.k8s.io/v1beta1/namespaces/ml/pods", "list", "pods", "", "ml"),
        ("metrics.k8s.io/v1beta1/namespaces/ml/pods/llm-0", "get", "pods", "llm-0", "ml"),
    ],
)
def test_the_other_groups_have_the_attributes_of_request_info(
    path: str, verb: str, word: str, name: str, namespace: str
) -> None:
    assert access_of("GET", f"/apis/{path}") == ResourceAccess(
        verb=verb,
        group=path.partition("/")[0],
        version="v1beta1",
        resource=word,
        name=name,
        namespace=namespace,
    )


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/apis",
        f"/apis/{GROUP}",
        ROOT,
        f"{ROOT}/",
        "/openapi/v3",
        f"/openapi/v3/apis/{GROUP}/v1beta2",
        "/metrics",
        "/readyz/ping",
        "/version",
    ],
)
def test_every_other_path_is_a_path(path: str) -> None:
    assert access_of("GET", path) == PathAccess(verb="get", path=path)


def test_head_of_a_resource_is_get() -> None:
    assert access_of("HEAD", f"{ROOT}/nodes/n/m") == resource("get", "nodes", "n", "m")


def test_head_of_a_path_is_head() -> None:
    """Non-resource rules name methods in lower case, HEAD among them."""
    assert access_of("HEAD", "/version") == PathAccess(verb="head", path="/version")


@pytest.mark.parametrize(
    ("method", "verb"),
    [("POST", "create"), ("PUT", "update"), ("PATCH", "patch"), ("DELETE", "delete")],
)
def test_other_methods_are_other_verbs(method: str, verb: str) -> None:
    assert access_of(method, f"{ROOT}/nodes/n/m") == resource(verb, "nodes", "n", "m")


def test_deleting_without_a_name_is_deleting_the_collection() -> None:
    assert access_of("DELETE", f"{ROOT}/nodes") == resource("deletecollection", "nodes")


@given(st.text(alphabet=st.sampled_from("/*.anpis"), max_size=40))
def test_only_four_segments_under_apis_are_a_resource(path: str) -> None:
    segments = path.strip("/").split("/")
    is_resource = isinstance(access_of("GET", path), ResourceAccess)
    assert is_resource == (segments[0] == "apis" and len(segments) >= 4)


@given(st.lists(st.text(alphabet="abc*", min_size=1, max_size=3), min_size=3, max_size=3))
def test_a_namespaced_path_names_all_its_parts(parts: list[str]) -> None:
    namespace, name, metric = parts
    access = access_of("GET", f"{ROOT}/namespaces/{namespace}/pods/{name}/{metric}")
    assert access == resource("get", "pods", name, metric, namespace)


def authorizer(
    cluster: Cluster, clock: Clock | None = None, *, allow: float = 10.0, deny: float = 10.0
) -> Authorizer:
    """An authorizer that asks the cluster."""
    settings = AuthorizationSettings(allow_ttl=allow, deny_ttl=deny)
    return Authorizer(cluster, settings, clock=clock or Clock())


def refusing(reason: str = "") -> Cluster:
    """A cluster that allows nothing."""
    return Cluster(decision=Decision(allowed=False, reason=reason))


async def refusal(user: User, access: Access, reason: str = "") -> Forbidden:
    """The error that a refusal raises."""
    with pytest.raises(Forbidden) as caught:
        await authorizer(refusing(reason)).authorize(user, access)
    return caught.value


@pytest.mark.anyio
async def test_what_the_cluster_allows_is_allowed() -> None:
    cluster = Cluster()
    await authorizer(cluster).authorize(ALICE, READ)
    assert cluster.reviews == [(ALICE, READ)]


@pytest.mark.anyio
async def test_a_refusal_in_a_namespace_has_the_words_of_kubernetes() -> None:
    error = await refusal(ALICE, resource("get", "pods", "*", "m", "ns"))
    assert error.message == (
        'pods.custom.metrics.k8s.io "*" is forbidden: User "alice" cannot get resource "pods/m" '
        'in API group "custom.metrics.k8s.io" in the namespace "ns"'
    )
    assert error.details == {"name": "*", "group": GROUP, "kind": "pods"}


@pytest.mark.anyio
async def test_a_refusal_at_the_cluster_scope_has_the_words_of_kubernetes() -> None:
    error = await refusal(ALICE, resource("list", "nodes"), "no RBAC rule matched")
    assert error.message == (
        'nodes.custom.metrics.k8s.io is forbidden: User "alice" cannot list resource "nodes" '
        'in API group "custom.metrics.k8s.io" at the cluster scope: no RBAC rule matched'
    )
    assert error.details == {"group": GROUP, "kind": "nodes"}


@pytest.mark.anyio
async def test_a_refusal_of_a_path_has_the_words_of_kubernetes() -> None:
    error = await refusal(ALICE, PathAccess(verb="get", path="/metrics"))
    assert error.message == 'forbidden: User "alice" cannot get path "/metrics"'
    assert error.details == {}


@pytest.mark.anyio
async def test_names_in_a_refusal_are_no_html() -> None:
    error = await refusal(User(name='<a href="x">&'), READ)
    assert error.message == (
        r'forbidden: User "&lt;a href=\"x\"&gt;&amp;" cannot get path "/metrics"'
    )


@pytest.mark.anyio
async def test_masters_may_do_everything_and_nobody_is_asked() -> None:
    cluster = refusing()
    await authorizer(cluster).authorize(User(name="root", groups=("system:masters",)), READ)
    assert cluster.reviews == []


@pytest.mark.anyio
async def test_without_the_clusters_word_the_answer_is_an_internal_error() -> None:
    with pytest.raises(InternalError) as caught:
        await authorizer(Cluster(down=True)).authorize(ALICE, READ)
    cause = "the cluster did not decide whether this is allowed: kube-apiserver: connection refused"
    assert caught.value.message == f"Internal error occurred: {cause}"
    assert caught.value.details == {"causes": [{"message": cause}]}


@pytest.mark.anyio
async def test_a_permission_outlives_the_cluster_by_ten_seconds() -> None:
    cluster, clock = Cluster(), Clock()
    asking = authorizer(cluster, clock)
    await asking.authorize(ALICE, READ)
    cluster.down = True
    clock.seconds += 9.9
    await asking.authorize(ALICE, READ)
    clock.seconds += 0.2
    with pytest.raises(InternalError):
        await asking.authorize(ALICE, READ)


@pytest.mark.anyio
@pytest.mark.parametrize(("allowed", "asked"), [(True, [1, 1, 2]), (False, [1, 2, 2])])
async def test_permissions_and_refusals_are_kept_for_times_of_their_own(
    *, allowed: bool, asked: list[int]
) -> None:
    """Permissions 30 seconds, refusals 10; asked at 0, 15 and 20 or 31 seconds."""
    cluster, clock = Cluster(decision=Decision(allowed=allowed)), Clock()
    asking, counts = authorizer(cluster, clock, allow=30, deny=10), []
    for later in (0.0, 15.0, 16.0 if allowed else 5.0):
        clock.seconds += later
        with contextlib.suppress(Forbidden):
            await asking.authorize(ALICE, READ)
        counts.append(len(cluster.reviews))
    assert counts == asked


@pytest.mark.anyio
async def test_a_decision_is_for_one_user_and_one_access() -> None:
    cluster = Cluster()
    asking = authorizer(cluster)
    grouped = User(name="alice", groups=("system:authenticated", "team"))
    for user, access in ((ALICE, READ), (grouped, READ), (ALICE, resource("list", "nodes"))):
        await asking.authorize(user, access)
    assert len(cluster.reviews) == 3


@pytest.mark.anyio
async def test_one_review_serves_all_who_ask_the_same_at_once() -> None:
    cluster, go_on = Cluster(), anyio.Event()

    class Slow:
        async def access(self, user: User, access: Access) -> Decision:
            await go_on.wait()
            return await cluster.access(user, access)

    asking = Authorizer(Slow(), AuthorizationSettings())
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(asking.authorize, ALICE, READ)
        await anyio.wait_all_tasks_blocked()
        go_on.set()
    assert len(cluster.reviews) == 1


@pytest.mark.anyio
async def test_decisions_on_very_long_paths_are_not_kept() -> None:
    """Or a client fills the memory with paths of its choice."""
    cluster = Cluster()
    asking = authorizer(cluster)
    for _ in range(2):
        await asking.authorize(ALICE, PathAccess(verb="get", path="/" + "x" * 10_000))
    assert len(cluster.reviews) == 2


def test_a_node_needs_a_right_outside_namespaces_by_whichever_path() -> None:
    by_namespace = access_of("GET", f"{ROOT}/namespaces/ns/nodes/n/m")
    assert at_its_scope(by_namespace, Kinds()) == resource("get", "nodes", "n", "m")


@pytest.mark.parametrize(
    "path",
    [
        f"{ROOT}/namespaces/ns/pods/p/m",
        f"{ROOT}/namespaces/ns/metrics/m",
        f"{ROOT}/namespaces/ns/gadgets.example.com/g/m",
        "/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/nodes",
        "/apis",
    ],
)
def test_other_rights_stay_as_the_path_says_them(path: str) -> None:
    access = access_of("GET", path)
    assert at_its_scope(access, Kinds()) == access
