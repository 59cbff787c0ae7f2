"""The adapter behind the real kube-apiserver, as the harness starts and registers it."""

import json

import pytest

from tests.cluster.adapter import AdapterProcess
from tests.cluster.plane import ControlPlane

pytestmark = pytest.mark.anyio


async def test_kube_apiserver_forwards_both_versions_to_the_adapter(
    plane: ControlPlane, adapter: AdapterProcess
) -> None:
    for version in ("v1beta1", "v1beta2"):
        path = f"/apis/custom.metrics.k8s.io/{version}"
        listed = json.loads((await plane.kubectl("get", "--raw", path)).stdout)
        assert listed["kind"] == "APIResourceList"
        assert listed["groupVersion"] == f"custom.metrics.k8s.io/{version}"


async def test_the_adapter_speaks_to_the_front_proxy_directly(
    plane: ControlPlane, adapter: AdapterProcess
) -> None:
    """With the front proxy's pair a client may say who it is; without, it is nobody."""
    headers = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
    path = "/apis/custom.metrics.k8s.io/v1beta2"
    async with adapter.client(plane.pki.proxy_client) as http:
        assert (await http.get(path, headers=headers)).status_code == 200
    async with adapter.client() as http:
        assert (await http.get(path, headers=headers)).status_code == 401
