"""A kube-apiserver on loopback and the client that asks it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapter.sources.kube import KubeApi
from tests.fakes.kubernetes import FakeKubernetes


@pytest.fixture
async def cluster() -> AsyncIterator[FakeKubernetes]:
    """Run a fake for one test."""
    async with FakeKubernetes().running() as fake:
        yield fake


@pytest.fixture
async def api(cluster: FakeKubernetes, tmp_path: Path) -> AsyncIterator[KubeApi]:
    """Connect to the fake as users do, by a kubeconfig."""
    api = await KubeApi.connect(cluster.kubeconfig(tmp_path))
    yield api
    await api.aclose()
