"""Who asks, for what, and what the cluster says about believing headers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """An authenticated user; `extra` keeps each key's values in order."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceAccess:
    """The attributes of a request for a resource, as RequestInfo derives them from its path."""

    verb: str
    group: str
    version: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathAccess:
    """The attributes of a request for a non-resource path; `verb` is the method in lower case."""

    verb: str
    path: str


Access = ResourceAccess | PathAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the authorizer of the cluster said; `reason` may be empty."""

    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontProxy:
    """Whose client certificates may speak for others, and in which headers (lower case).

    From ConfigMap kube-system/extension-apiserver-authentication. No allowed names: any name that
    the CA signed. No `uid_headers`: a UID header counts for nothing.
    """

    ca_pem: bytes
    allowed_names: tuple[str, ...] = ()
    username_headers: tuple[str, ...] = ("x-remote-user",)
    group_headers: tuple[str, ...] = ("x-remote-group",)
    extra_prefixes: tuple[str, ...] = ("x-remote-extra-",)
    uid_headers: tuple[str, ...] = ()
