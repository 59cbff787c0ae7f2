"""The repository's manifests, read as data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = ROOT / "manifests"
BASE = MANIFESTS / "base"
DEFAULT = MANIFESTS / "overlays" / "default"
CERT_MANAGER = MANIFESTS / "components" / "cert-manager"
RAY = MANIFESTS / "examples" / "ray"

Document = dict[str, Any]


def read(path: Path) -> list[Document]:
    """All documents of one YAML file."""
    return list(yaml.safe_load_all(path.read_text()))


def files() -> list[Path]:
    """Every YAML file under manifests/, but for certificates that somebody has made there."""
    return sorted(path for path in MANIFESTS.rglob("*.yaml") if path.parent.name != "certs")


def objects(folder: Path) -> Iterator[Document]:
    """Every object that the folder's kustomization lists, in order."""
    for resource in kustomization(folder)["resources"]:
        if (folder / resource).is_file():
            yield from read(folder / resource)


def one(folder: Path, kind: str, name: str | None = None) -> Document:
    """The only object of the kind (and name) in the folder."""
    (found,) = (
        item
        for item in objects(folder)
        if item["kind"] == kind and name in (None, item["metadata"]["name"])
    )
    return found


def kustomization(folder: Path) -> Document:
    """The folder's kustomization."""
    (document,) = read(folder / "kustomization.yaml")
    return document


def pod(deployment: Document) -> Document:
    """The pod that a Deployment makes."""
    spec: Document = deployment["spec"]["template"]["spec"]
    return spec


def container(deployment: Document) -> Document:
    """Its only container."""
    (only,) = pod(deployment)["containers"]
    found: Document = only
    return found
