"""The control plane's keys and certificates, all in one folder that only its owner can read."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from certs.authority import Authority, Pair

FRONT_PROXY = "front-proxy-client"
API_SERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Two files: a certificate and its key, PEM."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Pki:
    """What the control plane is made of; the authorities can sign more."""

    folder: Path
    cluster: Authority
    """Signs kube-apiserver's serving pair and the clients: CN is the user, O the groups."""
    front_proxy: Authority
    """Signs the certificate with which kube-apiserver speaks to aggregated servers."""
    ca_file: Path
    requestheader_ca_file: Path
    api_server: Credentials
    proxy_client: Credentials
    service_account_key: Path
    service_account_public_key: Path

    def client(self, user: str, groups: Sequence[str] = ()) -> Pair:
        """A client's pair for a user."""
        return self.cluster.issue_client(user, groups)


def create_pki(folder: Path) -> Pki:
    """Everything new, written into the folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    cluster = Authority.create("cluster-ca")
    front_proxy = Authority.create("front-proxy-ca")
    serving = cluster.issue_server("kube-apiserver", API_SERVER_NAMES, ("127.0.0.1",))
    private, public = _service_account_keys(folder)
    return Pki(
        folder=folder,
        cluster=cluster,
        front_proxy=front_proxy,
        ca_file=cluster.write(folder, "ca")[0],
        requestheader_ca_file=front_proxy.write(folder, "front-proxy-ca")[0],
        api_server=_write(serving, folder, "kube-apiserver"),
        proxy_client=_write(front_proxy.issue_client(FRONT_PROXY), folder, FRONT_PROXY),
        service_account_key=private,
        service_account_public_key=public,
    )


def kubeconfig(*, server: str, authority: Authority, pair: Pair) -> str:
    """A kubeconfig with everything inside. It is JSON, which is YAML."""
    cluster = {"server": server, "certificate-authority-data": authority.ca_bundle()}
    user = {
        "client-certificate-data": _base64(pair.certificate_pem),
        "client-key-data": _base64(pair.private_key_pem),
    }
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "plane", "cluster": cluster}],
        "users": [{"name": "client", "user": user}],
        "contexts": [{"name": "plane", "context": {"cluster": "plane", "user": "client"}}],
        "current-context": "plane",
    }
    return json.dumps(document, indent=1)


def write_private(path: Path, text: str) -> Path:
    """Write a file that only its owner can read."""
    path.touch(mode=0o600)
    path.write_text(text)
    return path


def _write(pair: Pair, folder: Path, name: str) -> Credentials:
    certificate, key = pair.write(folder, name)
    return Credentials(certificate=certificate, key=key)


def _service_account_keys(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return (
        write_private(folder / "service-accounts.key", private.decode()),
        write_private(folder / "service-accounts.pub", public.decode()),
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
