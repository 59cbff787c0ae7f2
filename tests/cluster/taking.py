"""An API group that the adapter serves besides custom.metrics.k8s.io, registered for a while."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import yaml

from tests.cluster.adapter import REPOSITORY, AdapterProcess, external_service
from tests.cluster.plane import ControlPlane

COMPONENTS = REPOSITORY / "manifests/components"


@asynccontextmanager
async def taking(
    plane: ControlPlane, adapter: AdapterProcess, component: str
) -> AsyncIterator[str]:
    """Apply a component's APIService and rights, and wait until the group is available.

    The APIService points at `adapter`, which need not be the one of the other groups. Gives its
    name, and deletes it afterwards.
    """
    folder = COMPONENTS / component
    service = yaml.safe_load((folder / "apiservice.yaml").read_text())
    service["spec"]["caBundle"] = adapter.authority.ca_bundle()
    service["spec"]["service"]["port"] = adapter.port
    name = str(service["metadata"]["name"])
    await plane.apply(Path(folder / "rbac.yaml"))
    await plane.apply(external_service(), service)
    await plane.wait_available(name)
    try:
        yield name
    finally:
        await plane.kubectl("delete", "apiservice", name)
