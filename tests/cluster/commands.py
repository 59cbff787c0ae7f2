"""The command lines of the control plane's programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.pki import FRONT_PROXY, Pki

SERVICE_RANGE = "10.96.0.0/16"
UNREAL_NODES = (
    "node-lifecycle-controller",
    "pod-garbage-collector-controller",
    "taint-eviction-controller",
)
"""Controllers that would delete the pods of nodes which no kubelet reports for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where the programs listen on 127.0.0.1."""

    etcd: int
    etcd_peer: int
    api_server: int
    controller_manager: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Autoscaling:
    """The horizontal pod autoscaler's intervals, short so that tests and demo are."""

    sync_period: str = "2s"
    downscale_stabilization: str = "5s"


def etcd(program: Path, ports: Ports, folder: Path) -> list[str | Path]:
    """A single member without fsync: its data lives no longer than the run."""
    client, peer = f"http://127.0.0.1:{ports.etcd}", f"http://127.0.0.1:{ports.etcd_peer}"
    flags = {
        "name": "plane",
        "data-dir": folder,
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"plane={peer}",
        "unsafe-no-fsync": "true",
        "log-level": "warn",
    }
    return [program, *_flags(flags)]


def api_server(program: Path, ports: Ports, pki: Pki, folder: Path) -> list[str | Path]:
    """RBAC, no anonymous users, and the aggregation layer as kubeadm sets it up."""
    flags = {
        "etcd-servers": f"http://127.0.0.1:{ports.etcd}",
        "bind-address": "127.0.0.1",
        "advertise-address": "127.0.0.1",
        "secure-port": ports.api_server,
        "cert-dir": folder,
        "tls-cert-file": pki.api_server.certificate,
        "tls-private-key-file": pki.api_server.key,
        "client-ca-file": pki.ca_file,
        "anonymous-auth": "false",
        "authorization-mode": "RBAC",
        # Nodes would be tainted as not ready, and nobody takes the taint away.
        "disable-admission-plugins": "TaintNodesByCondition",
        "endpoint-reconciler-type": "none",
        "service-cluster-ip-range": SERVICE_RANGE,
        "profiling": "false",
    }
    return [program, *_flags({**flags, **_aggregation(pki), **_service_accounts(pki)})]


def controller_manager(
    program: Path, ports: Ports, pki: Pki, config: Path, autoscaling: Autoscaling
) -> list[str | Path]:
    """All default controllers but those that distrust nodes without a kubelet."""
    flags = {
        "kubeconfig": config,
        "authentication-kubeconfig": config,
        "authorization-kubeconfig": config,
        "bind-address": "127.0.0.1",
        "secure-port": ports.controller_manager,
        "leader-elect": "false",
        # At the default rate its own start takes four seconds.
        "kube-api-qps": 200,
        "kube-api-burst": 400,
        "use-service-account-credentials": "true",
        "service-account-private-key-file": pki.service_account_key,
        "root-ca-file": pki.ca_file,
        "controllers": ",".join(["*", *(f"-{name}" for name in UNREAL_NODES)]),
        "horizontal-pod-autoscaler-sync-period": autoscaling.sync_period,
        "horizontal-pod-autoscaler-downscale-stabilization": autoscaling.downscale_stabilization,
        "horizontal-pod-autoscaler-initial-readiness-delay": "1s",
        "horizontal-pod-autoscaler-cpu-initialization-period": "1s",
    }
    return [program, *_flags(flags)]


def _aggregation(pki: Pki) -> Mapping[str, object]:
    return {
        "requestheader-client-ca-file": pki.requestheader_ca_file,
        "requestheader-allowed-names": FRONT_PROXY,
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-uid-headers": "X-Remote-Uid",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": pki.proxy_client.certificate,
        "proxy-client-key-file": pki.proxy_client.key,
    }


def _service_accounts(pki: Pki) -> Mapping[str, object]:
    return {
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": pki.service_account_public_key,
        "service-account-signing-key-file": pki.service_account_key,
    }


def _flags(values: Mapping[str, object]) -> Sequence[str]:
    return [f"--{name}={value}" for name, value in values.items()]
