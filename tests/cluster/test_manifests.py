"""The manifests, applied to a real kube-apiserver: nothing is refused, warned of or dropped."""

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from certs.cli import main
from tests.cluster.binaries import ControlPlaneBinaries
from tests.cluster.plane import ControlPlane

pytestmark = pytest.mark.anyio

MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"
ADAPTER = "system:serviceaccount:gpu-metrics-adapter:gpu-metrics-adapter"
# kube-apiserver writes quantities as text, in their shortest form.
QUANTITIES = {"1000m": "1", 1: "1"}
CHARTS_API_SERVICE = {
    "apiVersion": "apiregistration.k8s.io/v1",
    "kind": "APIService",
    "metadata": {"name": "v1beta1.custom.metrics.k8s.io"},
    "spec": {
        "service": {"name": "prometheus-adapter", "namespace": "monitoring"},
        "group": "custom.metrics.k8s.io",
        "version": "v1beta1",
        "insecureSkipTLSVerify": True,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
    },
}
METRIC = {
    "group": "custom.metrics.k8s.io",
    "version": "v1beta2",
    "resource": "pods",
    "name": "*",
    "subresource": "DEV_GPU_UTIL_current",
    "namespace": "default",
    "verb": "get",
}


@pytest.fixture(scope="module")
async def empty_plane(
    anyio_backend: str, binaries: ControlPlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ControlPlane]:
    """A control plane of its own: what is applied here would replace what other tests register."""
    folder = tmp_path_factory.mktemp("manifests-plane")
    async with ControlPlane(binaries=binaries, folder=folder) as running:
        yield running


@pytest.fixture(scope="module")
def default_overlay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default overlay as its user has it, after the first of the two commands."""
    copied = tmp_path_factory.mktemp("copy") / "manifests"
    shutil.copytree(MANIFESTS, copied, ignore=shutil.ignore_patterns("certs"))
    overlay = copied / "overlays" / "default"
    assert main(["init", "--directory", str(overlay / "certs")]) == 0
    return overlay


@pytest.fixture(scope="module")
async def installed(empty_plane: ControlPlane, default_overlay: Path) -> ControlPlane:
    await empty_plane.apply(default_overlay)
    return empty_plane


async def test_the_default_overlay_is_taken_whole(
    empty_plane: ControlPlane, default_overlay: Path
) -> None:
    done = await empty_plane.apply(default_overlay)
    assert "Warning" not in done.stderr
    assert await lost(empty_plane, default_overlay) == []


async def test_it_takes_the_place_of_an_api_service_whose_tls_is_unverified(
    installed: ControlPlane, default_overlay: Path
) -> None:
    """Prometheus Adapter's chart makes one such; the second documented command replaces it."""
    name = "v1beta1.custom.metrics.k8s.io"
    await installed.kubectl("delete", "apiservice", name)
    await installed.kubectl("create", "-f", "-", stdin=json.dumps(CHARTS_API_SERVICE))
    await installed.kubectl("apply", "-k", default_overlay)
    spec = (await installed.get(f"/apis/apiregistration.k8s.io/v1/apiservices/{name}"))["spec"]
    assert spec["service"]["name"] == "gpu-metrics-adapter"
    assert spec["caBundle"]
    assert not spec.get("insecureSkipTLSVerify")


async def test_the_ray_example_is_taken_whole(empty_plane: ControlPlane) -> None:
    done = await empty_plane.apply(MANIFESTS / "examples" / "ray")
    assert "Warning" not in done.stderr
    assert await lost(empty_plane, MANIFESTS / "examples" / "ray") == []


OTHER_GROUPS = ("external-metrics", "resource-metrics")


def overlay_beside(default: Path, name: str, resource: str, *components: str) -> Path:
    """An overlay of a user's own, as docs/other-groups.md shows it."""
    folder = default.parent / name
    folder.mkdir(exist_ok=True)
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [resource],
        "components": [f"../../components/{each}" for each in components],
    }
    (folder / "kustomization.yaml").write_text(json.dumps(kustomization))
    return folder


async def test_both_other_groups_are_taken_whole_with_the_overlays_authority(
    empty_plane: ControlPlane, default_overlay: Path
) -> None:
    overlay = overlay_beside(default_overlay, "mine", "../default", *OTHER_GROUPS)
    done = await empty_plane.apply(overlay)
    assert "Warning" not in done.stderr
    assert await lost(empty_plane, overlay) == []
    services = await empty_plane.get("/apis/apiregistration.k8s.io/v1/apiservices")
    bundles = {
        each["metadata"]["name"]: each["spec"]["caBundle"]
        for each in services["items"]
        if "caBundle" in each["spec"]
    }
    assert len(bundles) == 4
    assert len(set(bundles.values())) == 1


async def test_with_cert_manager_every_api_service_is_its_injectors(
    empty_plane: ControlPlane, default_overlay: Path
) -> None:
    overlay = overlay_beside(
        default_overlay, "injected", "../../base", *OTHER_GROUPS, "cert-manager"
    )
    done = await empty_plane.kubectl("kustomize", overlay)
    made = [each for each in yaml.safe_load_all(done.stdout) if each["kind"] == "APIService"]
    told = [each["metadata"]["annotations"] for each in made if "caBundle" not in each["spec"]]
    assert len(made) == 4
    assert (
        told
        == [{"cert-manager.io/inject-ca-from": "gpu-metrics-adapter/gpu-metrics-adapter-serving"}]
        * 4
    )


async def test_the_api_services_of_the_base_alone_are_refused(empty_plane: ControlPlane) -> None:
    file = MANIFESTS / "base" / "apiservices.yaml"
    flags = ["--server-side", "--dry-run=server", "--force-conflicts"]
    done = await empty_plane.kubectl("apply", *flags, "-f", file, check=False)
    assert done.code != 0
    assert done.stderr.count("illegal base64 data") == 2


async def test_pods_of_the_deployment_are_admitted(installed: ControlPlane) -> None:
    """Pod security, priority class and service account let both replicas be made."""
    namespace, made = "--namespace=gpu-metrics-adapter", "--for=jsonpath={.status.replicas}=2"
    await installed.kubectl("wait", namespace, made, "--timeout=20s", "deployment", "--all")


@pytest.mark.parametrize(
    ("verb", "what", "namespace"),
    [
        ("watch", "pods", "default"),
        ("list", "deployments.apps", "default"),
        ("create", "tokenreviews.authentication.k8s.io", "default"),
        ("create", "subjectaccessreviews.authorization.k8s.io", "default"),
        ("watch", "configmaps/extension-apiserver-authentication", "kube-system"),
    ],
)
async def test_the_adapter_may_do_what_it_needs(
    installed: ControlPlane, verb: str, what: str, namespace: str
) -> None:
    assert await can(installed, verb, what, namespace) == "yes"


@pytest.mark.parametrize(
    ("verb", "what"),
    [("get", "secrets"), ("patch", "pods"), ("update", "apiservices.apiregistration.k8s.io")],
)
async def test_the_adapter_may_do_no_more(installed: ControlPlane, verb: str, what: str) -> None:
    assert await can(installed, verb, what, "gpu-metrics-adapter") == "no"


async def test_a_controller_manager_without_service_accounts_may_read_metrics(
    installed: ControlPlane,
) -> None:
    """An autoscaler with an account of its own may by Kubernetes' own roles already."""
    spec = {"user": "system:kube-controller-manager", "resourceAttributes": METRIC}
    review = {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": spec}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    answer = await installed.http.post(path, json=review)
    assert answer.json()["status"]["allowed"] is True


async def test_the_role_view_gains_the_metrics(installed: ControlPlane) -> None:
    verb = '{.rules[?(@.apiGroups[0]=="custom.metrics.k8s.io")].verbs[0]}'
    await installed.kubectl(
        "wait", f"--for=jsonpath={verb}=get", "--timeout=20s", "clusterrole/view"
    )


async def can(plane: ControlPlane, verb: str, what: str, namespace: str) -> str:
    """Kube-apiserver's own answer to `may the adapter do that`."""
    question = ["auth", "can-i", verb, what, f"--namespace={namespace}", f"--as={ADAPTER}"]
    done = await plane.kubectl(*question, check=False)
    return done.stdout.strip()


async def lost(plane: ControlPlane, folder: Path) -> list[str]:
    """The fields of the folder's objects that the live ones lack, or have otherwise."""
    rendered = await plane.kubectl("create", "--dry-run=client", "-o=json", "-k", folder)
    live = await plane.kubectl("get", "-o=json", "-k", folder)
    pairs = zip(items(rendered.stdout), items(live.stdout), strict=True)
    return [path for wanted, found in pairs for path in differences(wanted, found, wanted["kind"])]


def items(text: str) -> list[dict[str, Any]]:
    """The objects that kubectl printed: one list, or one document after another."""
    decoder, documents, position = json.JSONDecoder(), [], 0
    while position < len(text.rstrip()):
        document, position = decoder.raw_decode(text, position)
        documents += document.get("items", [document])
        position += len(text[position:]) - len(text[position:].lstrip())
    return sorted(documents, key=identity)


def identity(item: dict[str, Any]) -> tuple[str, str, str]:
    metadata = item["metadata"]
    return item["kind"], metadata.get("namespace", ""), metadata["name"]


def differences(wanted: Any, found: Any, path: str) -> Iterator[str]:
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            yield from differences(value, found.get(key), f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    elif wanted is False and found is None:
        return  # kube-apiserver leaves out what is false
    elif found not in (wanted, QUANTITIES.get(wanted), unfolded(wanted)):
        yield f"{path}: {wanted!r} became {found!r}"


def unfolded(value: Any) -> Any:
    """Kustomize folds a Secret's base64 into lines, which means the same."""
    return value.replace("\n", "") if isinstance(value, str) else value
