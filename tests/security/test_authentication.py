"""Who is believed, and who is nobody."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import anyio
import pytest

from adapter.errors import Unauthorized
from adapter.model.identity import FrontProxy, User
from adapter.security.authentication import Authenticator
from certs.authority import Authority, Pair
from tests.security.making import NOON, Clock, Cluster, days, der

pytestmark = pytest.mark.anyio

ALICE = [(b"x-remote-user", b"alice"), (b"x-remote-group", b"team")]


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.create("front-proxy-ca", validity=days(-9, 9))


@pytest.fixture(scope="module")
def front(authority: Authority) -> Pair:
    return authority.issue_client("front-proxy-client", validity=days(-9, 9))


def trusting(
    authority: Authority,
    *,
    names: tuple[str, ...] = ("front-proxy-client",),
    cluster: Cluster | None = None,
    now: datetime = NOON,
) -> Authenticator:
    """An authenticator that believes front proxies of the authority."""
    proxy = FrontProxy(ca_pem=authority.certificate_pem, allowed_names=names)
    return Authenticator(lambda: proxy, cluster or Cluster(), now=lambda: now)


def by_token(cluster: Cluster, clock: Clock | None = None) -> Authenticator:
    """An authenticator in a cluster without a front proxy."""
    return Authenticator(lambda: None, cluster, clock=clock or Clock())


def bearer(token: str) -> list[tuple[bytes, bytes]]:
    """The header that carries a token."""
    return [(b"authorization", f"Bearer {token}".encode())]


async def refused(
    authenticator: Authenticator, headers: Sequence[tuple[bytes, bytes]], peer: bytes | None
) -> bool:
    """Whether the request is nobody's."""
    try:
        await authenticator.authenticate(headers, peer)
    except Unauthorized as error:
        return error.message == "Unauthorized"
    return False


async def test_a_front_proxy_speaks_for_its_user(authority: Authority, front: Pair) -> None:
    user = await trusting(authority).authenticate(ALICE, der(front))
    assert user == User(name="alice", groups=("team", "system:authenticated"))


async def test_a_forged_user_header_is_unauthorized(authority: Authority) -> None:
    assert await refused(trusting(authority), ALICE, None)


async def test_a_wrong_common_name_makes_headers_count_for_nothing(authority: Authority) -> None:
    other = authority.issue_client("somebody", validity=days(-1, 1))
    assert await refused(trusting(authority), ALICE, der(other))


async def test_without_allowed_names_every_common_name_is_a_front_proxy(
    authority: Authority,
) -> None:
    other = authority.issue_client("somebody", validity=days(-1, 1))
    user = await trusting(authority, names=()).authenticate(ALICE, der(other))
    assert user.name == "alice"


async def test_a_certificate_of_another_authority_makes_headers_count_for_nothing(
    authority: Authority,
) -> None:
    forged = Authority.create("front-proxy-ca", validity=days(-9, 9))
    pair = forged.issue_client("front-proxy-client", validity=days(-1, 1))
    assert await refused(trusting(authority), ALICE, der(pair))


async def test_a_serving_certificate_makes_headers_count_for_nothing(authority: Authority) -> None:
    pair = authority.issue_server("front-proxy-client", ["front"], validity=days(-1, 1))
    assert await refused(trusting(authority), ALICE, der(pair))


async def test_a_certificate_that_expires_on_an_open_connection_counts_no_longer(
    authority: Authority, front: Pair
) -> None:
    times = [NOON, NOON + timedelta(days=10)]
    proxy = FrontProxy(ca_pem=authority.certificate_pem)
    authenticator = Authenticator(lambda: proxy, Cluster(), now=lambda: times.pop(0))
    assert (await authenticator.authenticate(ALICE, der(front))).name == "alice"
    assert await refused(authenticator, ALICE, der(front))


async def test_without_a_front_proxy_in_the_cluster_headers_count_for_nothing(front: Pair) -> None:
    assert await refused(by_token(Cluster()), ALICE, der(front))


async def test_a_changed_authority_counts_at_once(authority: Authority, front: Pair) -> None:
    """Old, then old and new, then new alone, as a rotation goes."""
    following = Authority.create("front-proxy-ca", validity=days(-9, 9))
    next_front = following.issue_client("front-proxy-client", validity=days(-9, 9))
    old, new = authority.certificate_pem, following.certificate_pem
    bundles = [old, old + new, new]
    authenticator = Authenticator(
        lambda: FrontProxy(ca_pem=bundles[0]), Cluster(), now=lambda: NOON
    )
    believed = []
    while bundles:
        peers = (der(front), der(next_front))
        believed.append([not await refused(authenticator, ALICE, peer) for peer in peers])
        bundles.pop(0)
    assert believed == [[True, False], [True, True], [False, True]]


async def test_a_proxy_without_a_user_header_leaves_it_to_the_token(
    authority: Authority, front: Pair
) -> None:
    cluster = Cluster(owners={"t": User(name="bob")})
    user = await trusting(authority, cluster=cluster).authenticate(bearer("t"), der(front))
    assert user.name == "bob"


async def test_a_token_counts_beside_a_certificate_that_does_not(authority: Authority) -> None:
    cluster = Cluster(owners={"t": User(name="bob")})
    other = authority.issue_client("somebody", validity=days(-1, 1))
    authenticator = trusting(authority, cluster=cluster)
    user = await authenticator.authenticate([*ALICE, *bearer("t")], der(other))
    assert user.name == "bob"


async def test_a_user_without_groups_is_among_the_authenticated(
    authority: Authority, front: Pair
) -> None:
    headers = [(b"x-remote-user", b"system:kube-aggregator")]
    user = await trusting(authority).authenticate(headers, der(front))
    assert user.groups == ("system:authenticated",)


@pytest.mark.parametrize("group", ["system:authenticated", "system:unauthenticated"])
async def test_the_group_is_not_added_beside_itself_or_its_opposite(group: str) -> None:
    cluster = Cluster(owners={"t": User(name="bob", groups=(group,))})
    assert (await by_token(cluster).authenticate(bearer("t"), None)).groups == (group,)


async def test_a_token_gives_its_owner_whole() -> None:
    bob = User(name="bob", uid="7", groups=("team",), extra=(("scopes", ("one",)),))
    user = await by_token(Cluster(owners={"t": bob})).authenticate(bearer("t"), None)
    assert user == replace(bob, groups=("team", "system:authenticated"))


async def test_an_unknown_token_is_unauthorized() -> None:
    assert await refused(by_token(Cluster()), bearer("t"), None)


async def test_nothing_at_all_is_unauthorized_and_asks_nobody() -> None:
    cluster = Cluster()
    assert await refused(by_token(cluster), [], None)
    assert cluster.tokens == []


@pytest.mark.parametrize(
    "value", [b"Basic dTpw", b"Bearer", b"Bearer ", b"Bearer  t", b"Bearer \xfc", b"t"]
)
async def test_other_authorization_headers_are_no_tokens(value: bytes) -> None:
    cluster = Cluster(owners={"t": User(name="bob")})
    assert await refused(by_token(cluster), [(b"authorization", value)], None)
    assert cluster.tokens == []


async def test_the_scheme_may_be_written_in_any_case() -> None:
    cluster = Cluster(owners={"t": User(name="bob")})
    user = await by_token(cluster).authenticate([(b"authorization", b"bEARER t")], None)
    assert user.name == "bob"


@pytest.mark.parametrize("owners", [{"t": User(name="bob")}, {}], ids=["known", "unknown"])
async def test_an_answer_about_a_token_is_kept_for_ten_seconds(owners: dict[str, User]) -> None:
    cluster, clock = Cluster(owners=owners), Clock()
    authenticator = by_token(cluster, clock)
    asked = []
    for later in (0.0, 9.9, 0.2):
        clock.seconds += later
        await refused(authenticator, bearer("t"), None)
        asked.append(len(cluster.tokens))
    assert asked == [1, 1, 2]


async def test_one_review_serves_all_who_come_with_the_same_token() -> None:
    cluster, go_on = Cluster(owners={"t": User(name="bob")}), anyio.Event()

    class Slow:
        async def token(self, token: str) -> User | None:
            await go_on.wait()
            return await cluster.token(token)

    authenticator = Authenticator(lambda: None, Slow())
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(authenticator.authenticate, bearer("t"), None)
        await anyio.wait_all_tasks_blocked()
        go_on.set()
    assert cluster.tokens == ["t"]


async def test_a_cluster_that_does_not_answer_leaves_a_token_unauthorized(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "adapter"):
        assert await refused(by_token(Cluster(down=True)), bearer("secret"), None)
    (record,) = caplog.records
    assert vars(record)["cause"] == "kube-apiserver: connection refused"
    assert "secret" not in str(vars(record))


async def test_a_cluster_that_answers_again_is_asked_again() -> None:
    cluster = Cluster(owners={"t": User(name="bob")}, down=True)
    authenticator = by_token(cluster)
    assert await refused(authenticator, bearer("t"), None)
    cluster.down = False
    assert (await authenticator.authenticate(bearer("t"), None)).name == "bob"


async def test_a_disbelieved_certificate_is_told_once(
    authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    other = authority.issue_client("somebody", validity=days(-1, 1))
    authenticator = trusting(authority)
    with caplog.at_level(logging.WARNING, "adapter"):
        for _ in range(3):
            await refused(authenticator, ALICE, der(other))
    (record,) = caplog.records
    assert vars(record)["cause"] == "its common name 'somebody' is no front proxy's"


async def test_headers_are_stripped_of_what_the_front_proxy_writes() -> None:
    proxy = FrontProxy(ca_pem=b"", group_headers=("x-team",))
    authenticator = Authenticator(lambda: proxy, Cluster())
    headers = [*ALICE, *bearer("t"), (b"x-team", b"a"), (b"accept", b"*/*")]
    assert authenticator.strip(headers) == [(b"accept", b"*/*")]
