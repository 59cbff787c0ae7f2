"""What a Service behind the aggregation layer needs: its names, the caBundle, the Secret."""

import base64
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from certs.authority import Authority, Pair, Validity

_SECRET = "gpu-metrics-adapter-serving"  # noqa: S105 - the name of a Secret, not its content


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A Kubernetes Service by name and namespace."""

    name: str
    namespace: str

    @property
    def dns_names(self) -> tuple[str, ...]:
        """What clients call it; kube-apiserver verifies the first, `<name>.<namespace>.svc`."""
        scoped = f"{self.name}.{self.namespace}"
        return (f"{scoped}.svc", scoped, f"{scoped}.svc.cluster.local", self.name, "localhost")

    def serving_pair(
        self,
        authority: Authority,
        dns_names: Sequence[str] = (),
        ip_addresses: Sequence[str] = (),
        *,
        validity: Validity | None = None,
    ) -> Pair:
        """A serving pair for the Service, for 127.0.0.1 and for the further names given."""
        names = [*self.dns_names, *dns_names]
        addresses = ["127.0.0.1", *ip_addresses]
        return authority.issue_server(self.name, names, addresses, validity=validity)


def bundle_of(certificates: Sequence[bytes]) -> str:
    """An APIService's `spec.caBundle` of PEM certificates: base64 of them all, one line."""
    return base64.b64encode(b"".join(certificates)).decode("ascii")


def bundle_patch(ca_bundle: str) -> str:
    """A JSON patch (RFC 6902, as YAML) for kustomize that puts the bundle into an APIService."""
    return f"- op: replace\n  path: /spec/caBundle\n  value: {ca_bundle}\n"


def secret_command(namespace: str, certificate: Path, private_key: Path) -> str:
    """The kubectl line that makes the Secret which the Deployment mounts, for a POSIX shell."""
    words = ["kubectl", "create", "secret", "tls", _SECRET, f"--namespace={namespace}"]
    return shlex.join([*words, f"--cert={certificate}", f"--key={private_key}"])
