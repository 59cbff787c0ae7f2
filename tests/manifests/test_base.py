"""The base and its overlays: names, ports and paths agree with each other and with the program."""

import base64
import binascii
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from adapter.options import parse
from certs.cli import build_parser, main
from certs.service import Service, secret_command
from tests.manifests.documents import (
    BASE,
    CERT_MANAGER,
    DEFAULT,
    MANIFESTS,
    ROOT,
    container,
    files,
    kustomization,
    objects,
    one,
    pod,
    read,
)

NAME = "gpu-metrics-adapter"
RULE = {
    "seriesQuery": '{UUID!=""}',
    "resources": {
        "overrides": {
            "node": {"resource": "node"},
            "exported_pod": {"resource": "pod"},
            "exported_namespace": {"resource": "namespace"},
        }
    },
}


def mounts() -> dict[str, str]:
    """Mount path by volume name."""
    return {
        mount["name"]: mount["mountPath"]
        for mount in container(one(BASE, "Deployment"))["volumeMounts"]
    }


def volume(name: str) -> dict[str, Any]:
    (found,) = (item for item in pod(one(BASE, "Deployment"))["volumes"] if item["name"] == name)
    return dict(found)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(MANIFESTS)))
def test_every_file_is_yaml_with_a_mapping_in_each_document(path: Path) -> None:
    assert all(isinstance(document, dict) for document in read(path))


def test_every_file_is_listed_by_the_kustomization_beside_it() -> None:
    apart = {"kustomization.yaml", "hpa-v2beta1.yaml", "config.yaml"}
    for path in files():
        if path.name not in apart:
            assert path.name in kustomization(path.parent)["resources"], path


def test_tls_is_verified_everywhere() -> None:
    assert not [path for path in MANIFESTS.rglob("*") if path.is_file() and skips_tls(path)]


def skips_tls(path: Path) -> bool:
    text = path.read_text(encoding="utf-8").lower().replace("-", "")
    return "insecureskiptlsverify" in text.replace("insecureskiptlsverify: false", "")


def test_verification_is_asked_for_by_name_as_an_api_service_that_is_replaced_may_skip_it() -> None:
    services = [item for item in objects(BASE) if item["kind"] == "APIService"]
    assert [item["spec"]["insecureSkipTLSVerify"] for item in services] == [False, False]


def test_both_versions_of_the_group_are_registered_the_newer_one_first() -> None:
    services = [item for item in objects(BASE) if item["kind"] == "APIService"]
    assert [(item["metadata"]["name"], item["spec"]["versionPriority"]) for item in services] == [
        ("v1beta2.custom.metrics.k8s.io", 200),
        ("v1beta1.custom.metrics.k8s.io", 100),
    ]
    for item in services:
        spec = item["spec"]
        assert f"{spec['version']}.{spec['group']}" == item["metadata"]["name"]
        assert spec["groupPriorityMinimum"] == 100


def test_an_api_service_leads_to_the_service_and_the_service_to_the_container() -> None:
    service = one(BASE, "Service")
    (port,) = service["spec"]["ports"]
    for item in (item for item in objects(BASE) if item["kind"] == "APIService"):
        assert item["spec"]["service"] == {
            "name": service["metadata"]["name"],
            "namespace": service["metadata"]["namespace"],
            "port": port["port"],
        }
    (container_port,) = container(one(BASE, "Deployment"))["ports"]
    assert port["port"] == 443
    assert port["targetPort"] == container_port["name"] == "https"
    assert port["appProtocol"] == "https"


def test_service_spread_and_budget_select_the_deployments_pods() -> None:
    deployment = one(BASE, "Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert labels == {"app.kubernetes.io/name": NAME}
    assert one(BASE, "Service")["spec"]["selector"] == labels
    for selecting in (
        deployment["spec"],
        one(BASE, "PodDisruptionBudget")["spec"],
        *[
            {"selector": item["labelSelector"]}
            for item in pod(deployment)["topologySpreadConstraints"]
        ],
    ):
        assert selecting["selector"] == {"matchLabels": labels}


def test_the_flags_are_flags_of_the_adapter_and_none_is_ignored() -> None:
    settings = parse(container(one(BASE, "Deployment"))["args"])
    assert settings.ignored == ()
    assert settings.prometheus.url == "http://prometheus-operated.prometheus.svc:9090"
    assert settings.discovery.relist_interval == 60


def test_the_flags_agree_with_port_and_mounts() -> None:
    deployment = one(BASE, "Deployment")
    settings = parse(container(deployment)["args"])
    (port,) = container(deployment)["ports"]
    assert settings.serving.port == port["containerPort"] == 6443
    assert settings.serving.cert_file == Path(mounts()["serving-cert"], "tls.crt")
    assert settings.serving.key_file == Path(mounts()["serving-cert"], "tls.key")
    assert settings.config == Path(mounts()["config"], "config.yaml")
    assert settings.serving.cert_dir is not None
    assert PurePosixPath(mounts()["tmp"]) in PurePosixPath(settings.serving.cert_dir).parents


def test_the_chart_passes_the_program_as_a_first_argument_too() -> None:
    args = container(one(BASE, "Deployment"))["args"]
    assert parse(["/adapter", *args]) == parse(args)


def test_the_pod_stops_well_after_the_shutdown_delay() -> None:
    deployment = one(BASE, "Deployment")
    delay = parse(container(deployment)["args"]).serving.shutdown_delay
    assert pod(deployment)["terminationGracePeriodSeconds"] >= delay + 30


def test_config_map_and_secret_are_those_the_pod_mounts() -> None:
    (generator,) = kustomization(BASE)["configMapGenerator"]
    assert generator["name"] == volume("config")["configMap"]["name"]
    assert generator["namespace"] == one(BASE, "Deployment")["metadata"]["namespace"]
    assert generator["files"] == ["config.yaml"]
    (secret,) = kustomization(DEFAULT)["secretGenerator"]
    assert secret["name"] == volume("serving-cert")["secret"]["secretName"]
    assert secret["namespace"] == generator["namespace"]
    assert secret["options"] == {"disableNameSuffixHash": True}


def test_the_pod_passes_the_restricted_pod_security_standard() -> None:
    deployment = one(BASE, "Deployment")
    assert one(BASE, "Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == (
        "restricted"
    )
    security = pod(deployment)["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(deployment)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_only_tmp_can_be_written_and_the_key_is_not_for_everybody() -> None:
    writable = [
        mount["mountPath"]
        for mount in container(one(BASE, "Deployment"))["volumeMounts"]
        if not mount.get("readOnly")
    ]
    assert writable == ["/tmp"]  # noqa: S108 - the mount's path in the pod
    assert "emptyDir" in volume("tmp")
    assert volume("serving-cert")["secret"]["defaultMode"] == 0o440


def test_probes_use_the_health_paths_over_tls() -> None:
    only = container(one(BASE, "Deployment"))
    probes = {
        name: only[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    live = {"path": "/livez", "port": "https", "scheme": "HTTPS"}
    ready = {"path": "/readyz", "port": "https", "scheme": "HTTPS"}
    assert probes == {"startupProbe": live, "livenessProbe": live, "readinessProbe": ready}


def test_memory_is_bounded_and_processor_time_is_not() -> None:
    resources = container(one(BASE, "Deployment"))["resources"]
    assert set(resources["requests"]) == {"cpu", "memory"}
    assert set(resources["limits"]) == {"memory"}


def test_one_replica_stays_when_a_node_is_drained() -> None:
    assert one(BASE, "Deployment")["spec"]["replicas"] == 2
    budget = one(BASE, "PodDisruptionBudget")["spec"]
    assert budget["minAvailable"] == 1
    assert budget["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_the_image_is_of_the_projects_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    image = container(one(BASE, "Deployment"))["image"]
    assert image == f"{project['name']}:{project['version']}"


def test_the_rules_are_those_that_users_have_today() -> None:
    (config,) = read(BASE / "config.yaml")
    over_time, current = (
        {"matches": "^DCGM_FI_(.*)$", "as": f"${{1}}_{suffix}"}
        for suffix in ("over_time", "current")
    )
    averaged = "ceil(avg_over_time(<<.Series>>{<<.LabelMatchers>>}[3m]))"
    assert config == {
        "rules": [
            {**RULE, "name": over_time, "metricsQuery": averaged},
            {**RULE, "name": current, "metricsQuery": "<<.Series>>{<<.LabelMatchers>>}"},
        ]
    }


def test_the_base_by_itself_is_refused_by_kube_apiserver() -> None:
    """Its caBundle is no base64, which the API server says when it decodes the object."""
    for item in (item for item in objects(BASE) if item["kind"] == "APIService"):
        with pytest.raises(binascii.Error):
            base64.b64decode(item["spec"]["caBundle"], validate=True)


def test_init_writes_what_the_default_overlay_reads(tmp_path: Path) -> None:
    assert main(["init", "--directory", str(tmp_path / "certs")]) == 0
    (secret,) = kustomization(DEFAULT)["secretGenerator"]
    (patch,) = kustomization(DEFAULT)["patches"]
    named = dict(entry.split("=") for entry in secret["files"])
    assert secret["type"] == "kubernetes.io/tls"
    assert set(named) == {"tls.crt", "tls.key"}
    assert all((tmp_path / path).is_file() for path in [*named.values(), patch["path"]])
    assert patch["target"] == {"kind": "APIService"}


def test_certificates_are_made_for_the_service_unless_said_otherwise() -> None:
    arguments = build_parser().parse_args(["init", "--directory", "x"])
    metadata = one(BASE, "Service")["metadata"]
    assert (arguments.service, arguments.namespace) == (metadata["name"], metadata["namespace"])


def test_the_line_that_init_prints_makes_the_secret_that_the_pod_mounts() -> None:
    line = secret_command(NAME, Path("c"), Path("k")).split()
    assert line[4] == volume("serving-cert")["secret"]["secretName"]


def test_cert_manager_makes_the_same_names_and_the_same_secret() -> None:
    serving = one(CERT_MANAGER, "Certificate", f"{NAME}-serving")
    assert serving["spec"]["dnsNames"] == list(Service(name=NAME, namespace=NAME).dns_names)
    assert serving["spec"]["secretName"] == volume("serving-cert")["secret"]["secretName"]
    issuer = one(CERT_MANAGER, "Issuer", serving["spec"]["issuerRef"]["name"])
    authority = one(CERT_MANAGER, "Certificate", f"{NAME}-ca")
    assert issuer["spec"]["ca"]["secretName"] == authority["spec"]["secretName"]
    assert authority["spec"]["isCA"] is True


def test_cert_managers_injector_takes_the_place_of_the_bundle() -> None:
    (patch,) = kustomization(CERT_MANAGER)["patches"]
    assert "op: remove\n  path: /spec/caBundle" in patch["patch"]
    assert f"cert-manager.io/inject-ca-from: {NAME}/{NAME}-serving" in patch["patch"]
