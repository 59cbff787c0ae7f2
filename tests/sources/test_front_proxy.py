"""Whose headers are believed, as the cluster's ConfigMap says it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.model.identity import FrontProxy
from adapter.sources.front_proxy import NAME, FrontProxyWatch, front_proxy
from adapter.sources.kube import KubeApi
from tests.fakes.cluster_state import Document
from tests.fakes.kubernetes import FakeKubernetes
from tests.sources.following import at_once, running, until

pytestmark = pytest.mark.anyio
MAPS = "/api/v1/configmaps"
DATA = {
    "client-ca-file": "another CA",
    "requestheader-client-ca-file": "PEM",
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
}


def config_map(data: dict[str, str], name: str = NAME) -> Document:
    return {"metadata": {"namespace": "kube-system", "name": name}, "data": data}


def test_every_key_is_read_and_headers_are_in_lower_case() -> None:
    assert front_proxy(DATA) == FrontProxy(
        ca_pem=b"PEM",
        allowed_names=("front-proxy-client",),
        username_headers=("x-remote-user",),
        group_headers=("x-remote-group",),
        extra_prefixes=("x-remote-extra-",),
        uid_headers=("x-remote-uid",),
    )


def test_without_a_requestheader_ca_there_is_no_front_proxy() -> None:
    assert front_proxy({"client-ca-file": "another CA"}) is None
    assert front_proxy(DATA | {"requestheader-client-ca-file": "\n"}) is None


def test_a_header_that_is_not_named_is_not_believed() -> None:
    found = front_proxy({"requestheader-client-ca-file": "PEM"})
    assert found is not None
    assert (found.username_headers, found.group_headers, found.uid_headers) == ((), (), ())


def test_a_list_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="requestheader-allowed-names"):
        front_proxy(DATA | {"requestheader-allowed-names": "front-proxy-client"})


@given(key=st.sampled_from(sorted(DATA)), text=st.text())
def test_any_text_is_read_or_refused(key: str, text: str) -> None:
    try:
        found = front_proxy(DATA | {key: text})
    except ValueError:
        return
    assert found is None or found.ca_pem


async def test_the_config_map_is_followed(cluster: FakeKubernetes, api: KubeApi) -> None:
    cluster.put(MAPS, config_map({"requestheader-client-ca-file": "other"}, name="another"))
    cluster.put(MAPS, config_map(DATA))
    watch = FrontProxyWatch(api, backoff=at_once())
    assert not watch.read
    async with running(watch):
        await _until_ca(watch, b"PEM")
        cluster.put(MAPS, config_map(DATA | {"requestheader-client-ca-file": "NEW"}))
        await _until_ca(watch, b"NEW")
        cluster.put(MAPS, config_map(DATA | {"requestheader-allowed-names": "["}))
        await _until_ca(watch, None)
        cluster.put(MAPS, config_map(DATA))
        await _until_ca(watch, b"PEM")
        cluster.delete(MAPS, "kube-system", NAME)
        await _until_ca(watch, None)
    assert watch.read


async def test_a_cluster_without_the_config_map_is_read_as_having_none(
    cluster: FakeKubernetes, api: KubeApi
) -> None:
    watch = FrontProxyWatch(api, backoff=at_once())
    async with running(watch):
        await until(lambda: watch.read)
    assert watch.current is None
    asked = cluster.asked[0]
    assert asked.path == "/api/v1/namespaces/kube-system/configmaps"
    assert asked.params["fieldSelector"] == f"metadata.name={NAME}"


async def _until_ca(watch: FrontProxyWatch, ca: bytes | None) -> None:
    await until(lambda: (watch.current.ca_pem if watch.current else None) == ca)
