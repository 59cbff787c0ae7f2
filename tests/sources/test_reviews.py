"""TokenReview and SubjectAccessReview: what is sent, what the answers mean, what is tried again."""

import pytest

from adapter.errors import ClusterDown
from adapter.model.identity import Access, Decision, PathAccess, ResourceAccess, User
from adapter.sources.errors import ClusterRefused
from adapter.sources.kube import KubeApi
from adapter.sources.reviews import Reviews
from adapter.telemetry import Telemetry
from tests.fakes.kubernetes import ACCESS_REVIEWS, TOKEN_REVIEWS, FakeKubernetes, Fault
from tests.sources.following import at_once

pytestmark = pytest.mark.anyio
JANE = User(
    name="jane", uid="42", groups=("dev", "ops"), extra=(("scope", ("a", "b")), ("team", ("x",)))
)
METRIC = ResourceAccess(
    verb="get",
    group="custom.metrics.k8s.io",
    version="v1beta2",
    resource="pods",
    subresource="gpu",
    namespace="ns",
    name="*",
)


@pytest.fixture
def reviews(api: KubeApi) -> Reviews:
    return Reviews(api, Telemetry(), backoff=at_once)


async def test_a_known_token_is_its_user(cluster: FakeKubernetes, reviews: Reviews) -> None:
    cluster.tokens["t"] = {
        "username": "jane",
        "uid": "42",
        "groups": ["dev", "ops"],
        "extra": {"team": ["x"], "scope": ["a", "b"]},
    }
    assert await reviews.token("t") == JANE
    assert cluster.asked[0].path == TOKEN_REVIEWS
    assert cluster.asked[0].body == {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": "t"},
    }


async def test_an_unknown_token_is_nobody(reviews: Reviews) -> None:
    assert await reviews.token("t") is None


async def test_a_user_without_a_name_is_nobody(cluster: FakeKubernetes, reviews: Reviews) -> None:
    cluster.tokens["t"] = {"uid": "42"}
    assert await reviews.token("t") is None


async def test_access_is_asked_with_the_whole_user_and_the_resource(
    cluster: FakeKubernetes, reviews: Reviews
) -> None:
    cluster.allows = lambda _: True
    assert await reviews.access(JANE, METRIC) == Decision(allowed=True)
    assert cluster.asked[0].body["spec"] == {
        "user": "jane",
        "uid": "42",
        "groups": ["dev", "ops"],
        "extra": {"scope": ["a", "b"], "team": ["x"]},
        "resourceAttributes": {
            "verb": "get",
            "group": "custom.metrics.k8s.io",
            "version": "v1beta2",
            "resource": "pods",
            "subresource": "gpu",
            "namespace": "ns",
            "name": "*",
        },
    }


async def test_a_path_is_asked_as_a_path(cluster: FakeKubernetes, reviews: Reviews) -> None:
    access = PathAccess(verb="get", path="/metrics")
    assert await reviews.access(JANE, access) == Decision(allowed=False, reason="no rule")
    spec = cluster.asked[0].body["spec"]
    assert spec["nonResourceAttributes"] == {"verb": "get", "path": "/metrics"}
    assert "resourceAttributes" not in spec


async def test_denied_outweighs_allowed(cluster: FakeKubernetes, reviews: Reviews) -> None:
    cluster.documents[ACCESS_REVIEWS] = {"status": {"allowed": True, "denied": True, "reason": "r"}}
    assert await reviews.access(JANE, METRIC) == Decision(allowed=False, reason="r")


@pytest.mark.parametrize("fault", [429, 500, 504, 0])
async def test_what_may_pass_is_tried_again(
    cluster: FakeKubernetes, reviews: Reviews, fault: int
) -> None:
    cluster.allows = lambda _: True
    cluster.faults.append(Fault(fault, times=4))
    assert (await reviews.access(JANE, METRIC)).allowed
    assert len(cluster.asked) == 5


async def test_the_fifth_failure_is_the_last(cluster: FakeKubernetes, reviews: Reviews) -> None:
    cluster.faults.append(Fault(500, times=9))
    with pytest.raises(ClusterDown, match="500"):
        await reviews.token("t")
    assert len(cluster.asked) == 5


async def test_where_the_server_says_when_it_is_asked_again(
    cluster: FakeKubernetes, reviews: Reviews
) -> None:
    cluster.faults.append(Fault(503, headers={"Retry-After": "0"}))
    assert await reviews.token("t") is None
    assert len(cluster.asked) == 2


@pytest.mark.parametrize("status", [403, 404, 503])
async def test_what_will_not_pass_is_tried_once(
    cluster: FakeKubernetes, reviews: Reviews, status: int
) -> None:
    cluster.faults.append(Fault(status))
    access: Access = PathAccess(verb="get", path="/")
    with pytest.raises(ClusterRefused):
        await reviews.access(JANE, access)
    assert len(cluster.asked) == 1


@pytest.mark.parametrize("body", [b"", b"[]", b'{"status":{"allowed":"yes"}}', b'{"status":null}'])
async def test_an_answer_that_is_not_understood_allows_nothing(
    cluster: FakeKubernetes, reviews: Reviews, body: bytes
) -> None:
    cluster.faults.append(Fault(201, body=body or b" "))
    with pytest.raises(ClusterDown, match="not understood"):
        await reviews.access(JANE, METRIC)


async def test_reviews_are_counted_by_outcome(cluster: FakeKubernetes, api: KubeApi) -> None:
    telemetry = Telemetry()
    reviews = Reviews(api, telemetry, backoff=at_once)
    await reviews.access(JANE, METRIC)
    cluster.faults.append(Fault(403))
    with pytest.raises(ClusterDown):
        await reviews.token("t")
    for kind, outcome in (("access", "denied"), ("token", "failed")):
        labels = {"kind": kind, "outcome": outcome}
        name = "gpu_metrics_adapter_reviews_total"
        assert telemetry.registry.get_sample_value(name, labels) == 1
