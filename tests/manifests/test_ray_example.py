"""The Ray example: what is scaled is what is measured, and both autoscalers say the same."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.manifests.documents import BASE, RAY, container, kustomization, objects, one, read

RAY_STUB = """
import types
def remote(**needs):
    assert needs["num_gpus"] == 1
    return lambda f: types.SimpleNamespace(remote=lambda *given: (f, given))
def init(address): assert address == "auto"
def wait(calls, num_returns): return calls[-num_returns:], calls[:-num_returns]
def get(call): return call[0](*call[1])
util = types.SimpleNamespace(get_node_ip_address=lambda: "10.0.0.7")
"""
TORCH_STUB = """
import types
cuda = types.SimpleNamespace(synchronize=lambda: None)
def rand(rows, columns, device): assert (rows, columns, device) == (1100, 1100, "cuda")
def mm(left, right): assert left is right
"""


def autoscaler(name: str) -> dict[str, Any]:
    (document,) = read(RAY / name)
    return document


def test_the_autoscaler_keeps_the_workers_at_40_percent() -> None:
    spec = autoscaler("hpa.yaml")["spec"]
    assert spec["scaleTargetRef"] == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "ray-worker",
    }
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 4)
    assert spec["metrics"] == [
        {
            "type": "Pods",
            "pods": {
                "metric": {"name": "DEV_GPU_UTIL_current"},
                "target": {"type": "AverageValue", "averageValue": "40"},
            },
        }
    ]


def test_the_old_autoscaler_says_the_same_and_is_not_applied_with_the_rest() -> None:
    new, old = autoscaler("hpa.yaml"), autoscaler("hpa-v2beta1.yaml")
    assert (new["apiVersion"], old["apiVersion"]) == ("autoscaling/v2", "autoscaling/v2beta1")
    assert old["metadata"] == new["metadata"]
    (new_metric,) = new["spec"].pop("metrics")
    (old_metric,) = old["spec"].pop("metrics")
    assert old["spec"] == new["spec"]
    assert old_metric == {
        "type": "Pods",
        "pods": {
            "metricName": new_metric["pods"]["metric"]["name"],
            "targetAverageValue": new_metric["pods"]["target"]["averageValue"],
        },
    }
    assert "hpa-v2beta1.yaml" not in kustomization(RAY)["resources"]


def test_the_metric_is_one_that_the_rules_make_of_a_dcgm_field() -> None:
    (config,) = read(BASE / "config.yaml")
    made = {
        re.sub(rule["name"]["matches"], rule["name"]["as"].replace("${1}", r"\1"), series)
        for rule in config["rules"]
        for series in ["DCGM_FI_DEV_GPU_UTIL"]
    }
    assert made == {"DEV_GPU_UTIL_current", "DEV_GPU_UTIL_over_time"}


def test_the_target_is_the_worker_which_asks_for_one_gpu() -> None:
    worker = one(RAY, "Deployment", "ray-worker")
    assert container(worker)["resources"] == {
        "requests": {"cpu": "1000m", "memory": "512Mi"},
        "limits": {"nvidia.com/gpu": 1},
    }
    assert "replicas" not in worker["spec"]


def test_the_head_asks_for_no_gpu() -> None:
    assert "nvidia.com/gpu" not in str(one(RAY, "Deployment", "ray-head"))


def test_workers_find_the_head_through_its_service() -> None:
    service = one(RAY, "Service")
    head, worker = (one(RAY, "Deployment", name) for name in ("ray-head", "ray-worker"))
    assert service["spec"]["selector"] == head["spec"]["template"]["metadata"]["labels"]
    ports = {port["name"]: port["port"] for port in service["spec"]["ports"]}
    assert {port["targetPort"] for port in service["spec"]["ports"]} == set(ports)
    assert {port["name"]: port["containerPort"] for port in container(head)["ports"]} == ports
    address = f"--address={service['metadata']['name']}:{ports['gcs']}"
    assert address in container(worker)["command"]
    assert f"--port={ports['gcs']}" in container(head)["command"]


def test_head_and_workers_run_one_image() -> None:
    images = {
        container(one(RAY, "Deployment", name))["image"] for name in ("ray-head", "ray-worker")
    }
    assert images == {"gpu-load:1"}


def test_everything_is_in_the_namespace_of_the_walk_through() -> None:
    namespaces = {
        item["metadata"].get("namespace", item["metadata"]["name"]) for item in objects(RAY)
    }
    assert namespaces == {"rayexperiment"}


def test_the_load_submits_its_calls_and_prints_each_as_it_ends(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text(RAY_STUB)
    (tmp_path / "torch.py").write_text(TORCH_STUB)
    done = subprocess.run(
        [sys.executable, RAY / "gpu_load.py", "--calls", "2", "--seconds", "0"],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "2 calls submitted",
        "0 products on 10.0.0.7, 1 calls left",
        "0 products on 10.0.0.7, 0 calls left",
    ]


@pytest.mark.parametrize("name", ["requirements.txt", "gpu_load.py"])
def test_the_loads_image_has_what_its_dockerfile_copies(name: str) -> None:
    assert f"!{name}" in (RAY / ".dockerignore").read_text().splitlines()
    assert f"COPY {name} ." in (RAY / "Dockerfile").read_text().splitlines()
    assert (RAY / name).is_file()
