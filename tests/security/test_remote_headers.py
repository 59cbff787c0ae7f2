"""How a front proxy's headers become a user."""

from hypothesis import given
from hypothesis import strategies as st

from adapter.model.identity import FrontProxy, User
from adapter.security.remote_headers import RemoteHeaders

PROXY = FrontProxy(ca_pem=b"")
ALICE = (b"x-remote-user", b"alice")


def test_repeated_group_headers_are_groups_in_order() -> None:
    headers = [ALICE, (b"x-remote-group", b"b"), (b"x-remote-group", b"a")]
    assert RemoteHeaders(PROXY).user(headers) == User(name="alice", groups=("b", "a"))


def test_a_comma_does_not_separate_groups() -> None:
    headers = [ALICE, (b"x-remote-group", b"a, b")]
    assert RemoteHeaders(PROXY).user(headers) == User(name="alice", groups=("a, b",))


def test_without_a_user_header_there_is_no_user() -> None:
    assert RemoteHeaders(PROXY).user([(b"x-remote-group", b"system:masters")]) is None


def test_an_empty_user_header_names_nobody() -> None:
    assert RemoteHeaders(PROXY).user([(b"x-remote-user", b"")]) is None


def test_the_first_configured_header_with_a_value_names_the_user() -> None:
    proxy = FrontProxy(ca_pem=b"", username_headers=("x-first", "x-second", "x-third"))
    headers = [(b"x-third", b"c"), (b"x-second", b"b"), (b"x-first", b"")]
    assert RemoteHeaders(proxy).user(headers) == User(name="b")


def test_extra_keys_are_lower_case_and_percent_decoded() -> None:
    headers = [
        ALICE,
        (b"x-remote-extra-authentication.kubernetes.io%2fcredential-id", b"X509SHA256=1"),
        (b"x-remote-extra-scopes", b"one"),
        (b"x-remote-extra-scopes", b"two"),
    ]
    user = RemoteHeaders(PROXY).user(headers)
    assert user is not None
    assert user.extra == (
        ("authentication.kubernetes.io/credential-id", ("X509SHA256=1",)),
        ("scopes", ("one", "two")),
    )


def test_a_malformed_extra_key_stays_as_it_is() -> None:
    user = RemoteHeaders(PROXY).user([ALICE, (b"x-remote-extra-100%", b"v")])
    assert user is not None
    assert user.extra == (("100%", ("v",)),)


def test_names_are_utf_8() -> None:
    headers = [(b"x-remote-user", "jürgen".encode()), (b"x-remote-group", "größe".encode())]
    assert RemoteHeaders(PROXY).user(headers) == User(name="jürgen", groups=("größe",))


def test_a_uid_counts_only_where_the_cluster_names_its_header() -> None:
    headers = [ALICE, (b"x-remote-uid", b"42")]
    with_uid = FrontProxy(ca_pem=b"", uid_headers=("x-remote-uid",))
    assert RemoteHeaders(PROXY).user(headers) == User(name="alice")
    assert RemoteHeaders(with_uid).user(headers) == User(name="alice", uid="42")


def test_configured_names_may_be_written_in_any_case() -> None:
    proxy = FrontProxy(ca_pem=b"", username_headers=("X-Remote-User",))
    assert RemoteHeaders(proxy).user([ALICE]) == User(name="alice")


def test_no_credential_is_left_and_all_else_is() -> None:
    kept = [(b"accept", b"*/*"), (b"x-forwarded-for", b"10.0.0.1")]
    proxy = FrontProxy(ca_pem=b"", username_headers=("x-user",), extra_prefixes=("x-more-",))
    headers = [
        *kept,
        ALICE,
        (b"x-remote-anything", b"v"),
        (b"authorization", b"Bearer t"),
        (b"x-user", b"alice"),
        (b"x-more-scopes", b"one"),
    ]
    assert RemoteHeaders(proxy).strip(headers) == kept


def test_credentials_are_taken_out_before_the_cluster_is_known() -> None:
    assert RemoteHeaders(None).strip([ALICE, (b"authorization", b"Bearer t")]) == []


@given(st.lists(st.tuples(st.sampled_from([b"x-remote-extra-%", b"x-remote-user"]), st.binary())))
def test_any_bytes_give_text_that_can_be_sent_on(headers: list[tuple[bytes, bytes]]) -> None:
    user = RemoteHeaders(PROXY).user(headers)
    if user is not None:
        assert user.name.encode()
        assert all(value.encode() for _, values in user.extra for value in values if value)
