"""The transport to kube-apiserver: bodies, lines, credentials, and what its failures become."""

import json
import socket
from pathlib import Path

import pytest

from adapter.errors import ClusterDown, InputError
from adapter.sources.errors import ClusterRefused, ConnectionLost
from adapter.sources.kube import KubeApi
from tests.fakes.kubernetes import TOKEN_REVIEWS, FakeKubernetes, Fault

pytestmark = pytest.mark.anyio
SECRET = "s3cr3t"  # noqa: S105  (looked for in texts)


async def test_a_body_comes_as_it_was_sent(cluster: FakeKubernetes, api: KubeApi) -> None:
    cluster.documents["/apis"] = b'{ "kind" : "APIGroupList" }'
    assert await api.get("/apis", {"a": "x y"}, accept="application/weird") == (
        b'{ "kind" : "APIGroupList" }'
    )
    assert cluster.asked[0].params == {"a": "x y"}
    assert cluster.asked[0].headers["Accept"] == "application/weird"


async def test_a_post_carries_json(cluster: FakeKubernetes, api: KubeApi) -> None:
    cluster.tokens["t"] = {"username": "jane"}
    answer = json.loads(await api.post(TOKEN_REVIEWS, {"spec": {"token": "t"}}))
    assert answer["status"]["user"]["username"] == "jane"
    assert cluster.asked[0].headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("status", [403, 404, 410, 500])
async def test_a_refusal_keeps_its_status_and_the_server_s_words(
    cluster: FakeKubernetes, api: KubeApi, status: int
) -> None:
    body = json.dumps({"kind": "Status", "message": "pods is\nforbidden"}).encode()
    cluster.faults.append(Fault(status, body=body, headers={"Retry-After": "3"}))
    with pytest.raises(ClusterRefused) as caught:
        await api.get("/api/v1/pods")
    assert (caught.value.status, caught.value.retry_after) == (status, 3)
    assert str(caught.value) == f"kube-apiserver answered {status}: pods is forbidden"


async def test_a_dropped_connection_is_told_apart_from_a_refusal(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    cluster.faults.append(Fault(0, times=9))
    with pytest.raises(ConnectionLost):
        await api.post(TOKEN_REVIEWS, {})


async def test_nobody_listening_is_cluster_down(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        fake = FakeKubernetes()
        fake.url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    api = await KubeApi.connect(fake.kubeconfig(tmp_path))
    with pytest.raises(ClusterDown, match="kube-apiserver does not answer"):
        await api.get("/version")
    await api.aclose()


async def test_after_401_the_credentials_are_read_again(
    cluster: FakeKubernetes, tmp_path: Path
) -> None:
    cluster.bearer = "old"
    cluster.documents["/version"] = b"{}"
    api = await KubeApi.connect(cluster.kubeconfig(tmp_path))
    cluster.bearer = "new"
    cluster.kubeconfig(tmp_path)
    assert await api.get("/version") == b"{}"
    await api.aclose()


async def test_a_token_never_stands_in_an_error(cluster: FakeKubernetes, tmp_path: Path) -> None:
    cluster.bearer = SECRET
    api = await KubeApi.connect(cluster.kubeconfig(tmp_path))
    cluster.bearer = "other"
    with pytest.raises(ClusterRefused) as caught:
        await api.get("/version")
    assert caught.value.status == 401
    assert SECRET not in str(caught.value)
    await api.aclose()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{:", "a: b", "{current-context: c, contexts: [], clusters: [], users: []}"],
)
async def test_an_unusable_kubeconfig_is_one_line_that_names_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        await KubeApi.connect(file)
    assert str(caught.value).startswith(f"{file}: not a usable kubeconfig: ")
    assert "\n" not in str(caught.value)


async def test_outside_a_pod_without_a_kubeconfig_the_flag_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(InputError, match="--lister-kubeconfig"):
        await KubeApi.connect(None)
