"""Kinds that an override names: those of every cluster, and those of the one at hand."""

from pathlib import Path

import anyio.to_thread
import pytest

from adapter.cli import main
from tests.check.files import CLEAN, checked, told, write
from tests.fakes.kubernetes import FakeKubernetes

pytestmark = pytest.mark.anyio

RAY = CLEAN.replace("{overrides: {", "{overrides: {ray: {group: ray.io, resource: raycluster}, ")


def served(*resources: tuple[str, str]) -> list[object]:
    """Kinds as discovery lists them: resource and singular."""
    return [
        {
            "resource": resource,
            "singularResource": singular,
            "responseKind": {"group": "", "version": "", "kind": singular},
            "scope": "Namespaced",
            "verbs": ["get", "list"],
        }
        for resource, singular in resources
    ]


def group(name: str, *resources: tuple[str, str]) -> object:
    """One API group with one version."""
    versions = [{"version": "v1", "resources": served(*resources)}]
    return {"metadata": {"name": name}, "versions": versions}


CORE = {
    "resources": [
        {"name": f"{one}s", "singularName": one, "kind": one, "namespaced": True, "verbs": ["list"]}
        for one in ("pod", "namespace")
    ]
}


def test_without_a_cluster_a_kind_of_ones_own_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = checked(capsys, *write(tmp_path, rules=RAY))

    [line] = told(document, "note")
    assert line == (
        "3/1 resources.overrides.ray: raycluster.ray.io: not a kind that every cluster has, and the"
        " rule waits until the cluster has it"
    )


@pytest.mark.parametrize(
    ("groups", "doubted"),
    [
        ([group("ray.io", ("rayclusters", "raycluster"))], []),
        ([group("apps", ("deployments", "deployment"))], ["3/1 resources.overrides.ray"]),
    ],
)
async def test_a_kind_that_the_cluster_lacks_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], groups: list[object], doubted: list[str]
) -> None:
    async with FakeKubernetes().running() as cluster:
        cluster.documents["/api/v1"] = CORE
        cluster.documents["/apis"] = {"kind": "APIGroupDiscoveryList", "items": groups}
        flag = f"--lister-kubeconfig={cluster.kubeconfig(tmp_path)}"
        files = write(tmp_path, rules=RAY)
        document = await anyio.to_thread.run_sync(lambda: checked(capsys, flag, *files))

    assert [line.partition(":")[0] for line in told(document, "warning")] == doubted


def test_a_cluster_that_does_not_answer_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("nothing")

    code = main(["check", f"--lister-kubeconfig={kubeconfig}", *write(tmp_path, rules=CLEAN)])

    assert code == 2
    assert str(kubeconfig) in capsys.readouterr().err
