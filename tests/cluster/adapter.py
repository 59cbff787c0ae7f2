"""Our adapter as a child process, and its registration with the control plane."""

import os
import ssl
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import yaml

from certs.authority import Authority
from tests.cluster.pki import Credentials
from tests.cluster.plane import ControlPlane
from tests.cluster.ports import free_port
from tests.cluster.processes import Process

REPOSITORY = Path(__file__).parents[2]
BASE = REPOSITORY / "manifests/base"
NAMESPACE = SERVICE = SERVICE_ACCOUNT = "gpu-metrics-adapter"
SERVER_NAMES = (f"{SERVICE}.{NAMESPACE}.svc", "localhost")
READY_SECONDS = 20


@dataclass(slots=True, kw_only=True)
class AdapterProcess:
    """`python -m adapter` on loopback, ready from entering `async with` on until leaving it.

    It can be stopped, killed and started again through `process`; its port stays.
    """

    folder: Path
    kubeconfig: Path
    prometheus_url: str
    config: Path | None = None
    flags: Sequence[str] = ()
    """More flags, e.g. `--freshness=1s`."""
    ready_path: str = "/readyz"
    """`/livez` for an adapter without a cluster, which serves and is never ready."""
    authority: Authority = field(default_factory=lambda: Authority.create("serving-ca"))
    port: int = field(default_factory=free_port)
    process: Process = field(init=False)
    _http: httpx.AsyncClient = field(init=False)

    async def __aenter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._http = self.client()
        self.process = Process(
            name="adapter",
            command=self._command(self._serving_pair()),
            log=self.folder / "adapter.log",
            environment={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            ready=self._is_ready,
            ready_seconds=READY_SECONDS,
            grace_seconds=10,
        )
        try:
            await self.process.start()
        except BaseException:
            await self._http.aclose()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self.process.stop()
        finally:
            await self._http.aclose()

    @property
    def url(self) -> str:
        """Its own address, past kube-apiserver."""
        return f"https://127.0.0.1:{self.port}"

    def client(self, credentials: Credentials | None = None) -> httpx.AsyncClient:
        """An HTTP client that speaks to it directly; its caller closes it.

        With the front proxy's credentials it may say X-Remote-User and so on.
        """
        authority = self.authority.certificate_pem.decode()
        context = ssl.create_default_context(cadata=authority)
        if credentials:
            context.load_cert_chain(credentials.certificate, credentials.key)
        # An idle connection of ours would not answer the adapter's farewell when it stops.
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.AsyncClient(
            base_url=self.url, verify=context, timeout=30, trust_env=False, limits=limits
        )

    def _serving_pair(self) -> Credentials:
        pair = self.authority.issue_server(SERVER_NAMES[0], SERVER_NAMES, ("127.0.0.1",))
        certificate, key = pair.write(self.folder, "serving", force=True)
        return Credentials(certificate=certificate, key=key)

    def _command(self, serving: Credentials) -> list[str | Path]:
        config = [f"--config={self.config}"] if self.config else []
        return [
            sys.executable,
            "-m",
            "adapter",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            f"--tls-cert-file={serving.certificate}",
            f"--tls-private-key-file={serving.key}",
            f"--lister-kubeconfig={self.kubeconfig}",
            f"--authentication-kubeconfig={self.kubeconfig}",
            f"--authorization-kubeconfig={self.kubeconfig}",
            f"--prometheus-url={self.prometheus_url}",
            *config,
            *self.flags,
        ]

    async def _is_ready(self) -> bool:
        try:
            answer = await self._http.get(self.ready_path)
        except httpx.TransportError:
            return False
        return answer.is_success


def adapter_kubeconfig(plane: ControlPlane) -> Path:
    """A kubeconfig with the identity of the adapter's ServiceAccount."""
    return plane.kubeconfig_for_service_account(NAMESPACE, SERVICE_ACCOUNT)


async def grant(plane: ControlPlane) -> None:
    """Apply the namespace, the ServiceAccount and the rights from manifests/base.

    Must be done before the adapter starts: it reads pods and asks for reviews.
    """
    names = ("namespace", "serviceaccount", "rbac", "rbac-readers")
    await plane.apply(*(BASE / f"{name}.yaml" for name in names))


async def register(plane: ControlPlane, adapter: AdapterProcess) -> None:
    """Make kube-apiserver forward custom.metrics.k8s.io to the adapter, and wait until it does.

    The APIServices are those of manifests/base with the adapter's own authority and port. The
    Service is of type ExternalName, through which kube-apiserver reaches a process on loopback;
    it still verifies the name `<service>.<namespace>.svc`.
    """
    services = api_services(adapter)
    await plane.apply(external_service(), *services)
    for service in services:
        await plane.wait_available(service["metadata"]["name"])


async def unregister(plane: ControlPlane) -> None:
    """Delete the APIServices and the Service."""
    await plane.kubectl("delete", "--ignore-not-found", "-f", BASE / "apiservices.yaml")
    await plane.kubectl("delete", "--ignore-not-found", "-n", NAMESPACE, "service", SERVICE)


def api_services(adapter: AdapterProcess) -> list[dict[str, Any]]:
    """The APIServices of manifests/base, pointing at the adapter."""
    documents = list(yaml.safe_load_all((BASE / "apiservices.yaml").read_text()))
    for document in documents:
        document["spec"]["caBundle"] = adapter.authority.ca_bundle()
        document["spec"]["service"]["port"] = adapter.port
    return documents


def external_service() -> dict[str, Any]:
    """The Service through which kube-apiserver reaches a process on loopback."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }
