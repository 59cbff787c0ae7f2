"""A real control plane on loopback: etcd, kube-apiserver and kube-controller-manager."""

import json
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from certs.authority import Authority
from tests.cluster import commands
from tests.cluster.binaries import ControlPlaneBinaries
from tests.cluster.errors import HarnessError
from tests.cluster.pki import Pki, create_pki, kubeconfig, write_private
from tests.cluster.ports import free_ports
from tests.cluster.processes import Completed, Process, run

ADMIN = "plane-admin"
READY_SECONDS = 60
APPLY = ("apply", "--server-side", "--force-conflicts", "--validate=strict")


def client_context(pki: Pki, user: str, groups: Sequence[str] = ()) -> ssl.SSLContext:
    """TLS that trusts the control plane and shows a client certificate for the user."""
    certificate, key = pki.client(user, groups).write(pki.folder, f"client-{time.monotonic_ns()}")
    context = ssl.create_default_context(cafile=str(pki.ca_file))
    context.load_cert_chain(certificate, key)
    return context


@dataclass(slots=True, kw_only=True)
class ControlPlane:
    """A control plane that lives as long as `async with` does; all its files are in one folder.

    Entering raises HarnessError with the end of a program's log when one does not come up.
    """

    binaries: ControlPlaneBinaries
    folder: Path
    autoscaling: commands.Autoscaling = field(default_factory=commands.Autoscaling)
    pki: Pki = field(init=False)
    ports: commands.Ports = field(init=False)
    admin_kubeconfig: Path = field(init=False)
    http: httpx.AsyncClient = field(init=False)
    """Speaks to kube-apiserver as an administrator; paths are relative to its address."""
    etcd: Process = field(init=False)
    api_server: Process = field(init=False)
    controller_manager: Process = field(init=False)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)

    async def __aenter__(self) -> Self:
        self._lay_out()
        try:
            await self._bring_up()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    @property
    def url(self) -> str:
        """kube-apiserver's address."""
        return f"https://127.0.0.1:{self.ports.api_server}"

    @property
    def ca(self) -> Authority:
        """The cluster's authority, which signs clients and kube-apiserver's own pair."""
        return self.pki.cluster

    def client(self, user: str, groups: Sequence[str] = ()) -> httpx.AsyncClient:
        """An HTTP client that is this user; its caller closes it."""
        context = client_context(self.pki, user, groups)
        return httpx.AsyncClient(base_url=self.url, verify=context, timeout=30, trust_env=False)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig file of this user's."""
        text = kubeconfig(server=self.url, authority=self.ca, pair=self.pki.client(user, groups))
        return write_private(self.folder / f"{time.monotonic_ns()}.kubeconfig", text)

    def kubeconfig_for_service_account(self, namespace: str, name: str) -> Path:
        """A kubeconfig with the identity and groups of a ServiceAccount, whether it exists or not."""
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        return self.kubeconfig_for(f"system:serviceaccount:{namespace}:{name}", groups)

    async def kubectl(
        self,
        *arguments: str | Path,
        stdin: str = "",
        kubeconfig: Path | None = None,
        check: bool = True,
        seconds: float = 60,
    ) -> Completed:
        """Run kubectl, as an administrator unless another kubeconfig is given.

        Raises HarnessError with kubectl's words when it fails, unless `check` is false.
        """
        config = kubeconfig or self.admin_kubeconfig
        command = [self.binaries.kubectl, "--kubeconfig", config, *arguments]
        environment = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin"}
        done = await run(command, stdin=stdin, environment=environment, seconds=seconds)
        if check and done.code:
            words = " ".join(map(str, arguments))
            raise HarnessError(f"kubectl {words} ended with {done.code}: {done.stderr.strip()}")
        return done

    async def apply(self, *documents: Path | dict[str, Any]) -> Completed:
        """Apply files, kustomize folders or objects server-side; nothing unknown is tolerated.

        All of one kind of source go in one call, in the order given: folders, files, objects.
        """
        paths = [document for document in documents if isinstance(document, Path)]
        objects = [document for document in documents if isinstance(document, dict)]
        done = Completed(code=0, stdout="", stderr="")
        for sources, stdin in _sources(paths, objects):
            done = await self.kubectl(*APPLY, *sources, stdin=stdin)
        return done

    async def get(self, path: str) -> Any:
        """The decoded JSON that kube-apiserver answers an administrator with; raises on an error."""
        answer = await self.http.get(path)
        answer.raise_for_status()
        return answer.json()

    async def wait_available(self, api_service: str, *, seconds: float = 30) -> None:
        """Wait until kube-apiserver says that the APIService is Available."""
        condition = "--for=condition=Available"
        timeout = f"--timeout={seconds:g}s"
        await self.kubectl(
            "wait", condition, timeout, f"apiservice/{api_service}", seconds=seconds + 5
        )

    async def restart_api_server(self) -> None:
        """Stop kube-apiserver and start it again on the same port with the same data."""
        await self.api_server.stop()
        await self.api_server.start()

    def _lay_out(self) -> None:
        self.pki = create_pki(self.folder / "pki")
        first, second, third, fourth = free_ports(4)
        self.ports = commands.Ports(
            etcd=first, etcd_peer=second, api_server=third, controller_manager=fourth
        )
        self.admin_kubeconfig = self.kubeconfig_for(ADMIN, ["system:masters"])
        self.http = self.client(ADMIN, ["system:masters"])
        self.etcd = self._process(
            "etcd", commands.etcd(self.binaries.etcd, self.ports, self.folder / "etcd")
        )
        self.api_server = self._process(
            "kube-apiserver",
            commands.api_server(
                self.binaries.kube_apiserver, self.ports, self.pki, self.folder / "kube-apiserver"
            ),
        )
        self.controller_manager = self._process(
            "kube-controller-manager", self._controller_manager_command()
        )
        self.api_server.ready = self._api_server_ready
        self.controller_manager.ready = self._controllers_ready

    def _controller_manager_command(self) -> Sequence[str | Path]:
        config = self.kubeconfig_for("system:kube-controller-manager")
        program = self.binaries.kube_controller_manager
        return commands.controller_manager(program, self.ports, self.pki, config, self.autoscaling)

    def _process(self, name: str, command: Sequence[str | Path]) -> Process:
        log = self.folder / f"{name}.log"
        return Process(name=name, command=command, log=log, ready_seconds=READY_SECONDS)

    async def _bring_up(self) -> None:
        self._stack.push_async_callback(self.http.aclose)
        for process in (self.etcd, self.api_server, self.controller_manager):
            await self._stack.enter_async_context(process)

    async def _api_server_ready(self) -> bool:
        return await self._answers("/readyz")

    async def _controllers_ready(self) -> bool:
        """Pods can be made once the default ServiceAccount is there."""
        return await self._answers("/api/v1/namespaces/default/serviceaccounts/default")

    async def _answers(self, path: str) -> bool:
        try:
            answer = await self.http.get(path)
        except httpx.TransportError:
            return False
        return answer.is_success


def _sources(
    paths: Sequence[Path], objects: Sequence[dict[str, Any]]
) -> Iterator[tuple[list[str | Path], str]]:
    """The arguments and standard input of each call of kubectl that is needed."""
    for folder in filter(Path.is_dir, paths):
        yield ["-k", folder], ""
    files = [path for path in paths if not path.is_dir()]
    if files:
        yield [part for path in files for part in ("-f", path)], ""
    if objects:
        yield ["-f", "-"], json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
