"""Objects of the cluster and samples of Prometheus, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A kind of object as the API server's discovery names it."""

    group: str = ""
    version: str = "v1"
    plural: str
    singular: str
    kind: str
    namespaced: bool

    @property
    def qualified(self) -> str:
        """Give `pods` for core kinds, `deployments.apps` for the others."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def described_version(self) -> str:
        """Give `GROUP/VERSION`; core kinds are `/v1`, as every existing server of this API says."""
        return f"{self.group}/{self.version}"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """One object; `namespace` is empty for cluster-scoped kinds (nodes, namespaces)."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One element of an instant vector; `timestamp` is the evaluation's, Unix seconds."""

    labels: Mapping[str, str]
    value: float
    timestamp: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """What is kept of a living pod; `ip`, `node` and `uid` are empty while unknown.

    `ip` is empty as well where the pod has no address of its own, but its node's.
    """

    namespace: str
    name: str
    uid: str = ""
    node: str = ""
    ip: str = ""
    labels: Mapping[str, str]
