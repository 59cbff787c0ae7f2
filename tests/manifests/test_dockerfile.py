"""The image agrees with the Deployment, with the project, and with what may be sent to build it."""

import json
import tomllib

from tests.manifests.documents import BASE, ROOT, container, one, pod

LINES = (ROOT / "Dockerfile").read_text().replace("\\\n", "").splitlines()


def arguments(instruction: str) -> list[str]:
    """What follows the instruction, on each line that has it."""
    return [line.split(maxsplit=1)[1] for line in LINES if line.startswith(f"{instruction} ")]


def test_the_user_is_the_deployments_and_a_number() -> None:
    security = pod(one(BASE, "Deployment"))["securityContext"]
    assert arguments("USER") == [f"{security['runAsUser']}:{security['runAsGroup']}"]
    assert arguments("USER") == ["65532:65532"]


def test_the_port_is_the_deployments() -> None:
    (port,) = container(one(BASE, "Deployment"))["ports"]
    assert arguments("EXPOSE") == [str(port["containerPort"])]


def test_the_image_runs_the_projects_command_and_the_deployment_gives_only_flags() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (entrypoint,) = arguments("ENTRYPOINT")
    assert json.loads(entrypoint) == ["gpu-metrics-adapter"]
    assert "gpu-metrics-adapter" in project["scripts"]
    deployed = container(one(BASE, "Deployment"))
    assert "command" not in deployed
    assert all(flag.startswith("--") for flag in deployed["args"])


def test_both_stages_have_one_python_that_the_project_supports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stages = arguments("FROM")
    assert [stage.split()[0] for stage in stages] == ["python:3.11-slim-bookworm"] * 2
    assert project["requires-python"] == ">=3.11"


def test_the_environment_stays_where_it_was_made_and_leads_the_path() -> None:
    assert "--from=build /opt/adapter /opt/adapter" in arguments("COPY")
    assert arguments("ENV")[-1].startswith("PATH=/opt/adapter/bin:$PATH ")


def test_every_installation_is_locked_by_hashes_or_has_no_index() -> None:
    installs = [part for line in LINES for part in line.split("&&") if "pip install" in part]
    assert len(installs) == 3
    assert all("--require-hashes" in part or "--no-index" in part for part in installs)
    for lock in ("build.txt", "run.txt"):
        assert "--hash=sha256:" in (ROOT / "requirements" / lock).read_text()


def test_what_is_copied_exists_and_is_sent() -> None:
    copied = [
        source.rstrip("/")
        for line in arguments("COPY")
        if not line.startswith("--from")
        for source in line.split()[:-1]
    ]
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line[0] == "!"]
    assert sorted(copied) == sorted(sent)
    assert all((ROOT / source).exists() for source in copied)


def test_nothing_but_what_is_copied_is_sent() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] != "#"]
    assert rules[0] == "*"


def test_health_is_left_to_the_kubelet() -> None:
    assert arguments("HEALTHCHECK") == []
