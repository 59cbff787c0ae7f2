"""What is served keeps to the OpenAPI documents that kube-apiserver passes on."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import positive_data_acceptance

from adapter.engine.catalogue import Catalogue
from adapter.engine.external import ExternalOffer, ExternalValue
from adapter.engine.external_metrics import ExternalCatalogue
from adapter.engine.usage import Usage, Use
from adapter.model.kinds import NAMESPACES, NODES, PODS
from adapter.rules.resource_rules import ResourceRules
from tests.api.world import World, offer, ref
from tests.engine.test_external import external_rule
from tests.engine.test_usage import use_rule

PATHS = [
    "",
    "{resource}/{name}/{metric}",
    "namespaces/{namespace}/{resource}/{name}/{metric}",
    "namespaces/{namespace}/metrics/{metric}",
]


USAGE_PATHS = [
    "",
    "nodes",
    "nodes/{name}",
    "pods",
    "namespaces/{namespace}/pods",
    "namespaces/{namespace}/pods/{name}",
]
OTHERS = [
    ("external.metrics.k8s.io", ""),
    ("external.metrics.k8s.io", "namespaces/{namespace}/{metric}"),
    *(("metrics.k8s.io", path) for path in USAGE_PATHS),
]


def _world() -> World:
    """Give a world that has what the examples in the documents name."""
    kinds = (PODS, NODES, NAMESPACES)
    world = World(catalogue=Catalogue(offer(kind, "DEV_GPU_UTIL_current", 180) for kind in kinds))
    world.objects.known["pods"] = {ref("llm-0", "default"): {"app": "llm"}}
    world.objects.known["namespaces"] = {ref("default", ""): {}}
    world.board.values = {ref("llm-0", "default"): 97.25, ref("default", ""): 1000.0}
    world.board.window = 180
    lag = ExternalOffer(metric="queue_lag", rule=external_rule(), series="queue_lag")
    world.externals = ExternalCatalogue([lag])
    found = (({"topic": "orders"}, 12.5), (None, 1.0))
    world.external_board.values = tuple(
        ExternalValue(labels=labels, value=value, timestamp=0) for labels, value in found
    )
    world.resource_rules = ResourceRules(cpu=use_rule(), memory=use_rule(name="memory"))
    uses = {
        ref("llm-0", "default"): Use(containers={"main": 2048.0}, timestamp=0),
        ref("gpu-a", ""): Use(containers={"": 0.5}, timestamp=0),
    }
    usage = Usage(uses=uses, dropped={})
    world.usage_board.usages = {"cpu": usage, "memory": usage}
    return world


def _operation(
    version: str, path: str, group: str = "custom.metrics.k8s.io"
) -> schemathesis.APIOperation[Any, Any, Any, Any]:
    """Give an operation of the document as served."""
    where = f"/openapi/v3/apis/{group}/{version}"
    schema = schemathesis.openapi.from_asgi(where, _world().app())
    schema.config.generation.update(modes=[schemathesis.GenerationMode.POSITIVE])
    return schema[f"/apis/{group}/{version}/{path}"]["GET"]


@pytest.mark.parametrize(("group", "path"), OTHERS)
def test_the_other_groups_answer_as_their_documents_say(group: str, path: str) -> None:
    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(case=_operation("v1beta1", path, group).as_strategy())
    def holds(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    holds()


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("nodes", "items"),
        ("nodes/gpu-a", "usage"),
        ("pods", "items"),
        ("namespaces/default/pods", "items"),
        ("namespaces/default/pods/llm-0", "containers"),
    ],
)
def test_the_use_of_what_the_examples_name_is_known(path: str, field: str) -> None:
    template = path.replace("default", "{namespace}").replace("gpu-a", "{name}")
    named = {"namespace": "default", "name": path.rpartition("/")[2]}
    operation = _operation("v1beta1", template.replace("llm-0", "{name}"), "metrics.k8s.io")
    wanted = {key: value for key, value in named.items() if f"{{{key}}}" in operation.path}
    assert operation.Case(path_parameters=wanted).call_and_validate().json()[field]


def test_the_external_metric_of_the_example_has_values() -> None:
    path = "namespaces/{namespace}/{metric}"
    operation = _operation("v1beta1", path, "external.metrics.k8s.io")
    case = operation.Case(path_parameters={"namespace": "default", "metric": "queue_lag"})
    assert len(case.call_and_validate().json()["items"]) == 2


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
@pytest.mark.parametrize("path", PATHS)
def test_any_request_of_the_document_is_answered_as_it_says(version: str, path: str) -> None:
    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(case=_operation(version, path).as_strategy())
    def holds(case: schemathesis.Case[Any]) -> None:
        # Not every text is a selector, and the document cannot say which are.
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    holds()


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
@pytest.mark.parametrize("path", PATHS[2:])
def test_the_examples_of_the_document_have_values(version: str, path: str) -> None:
    parameters = {
        "namespace": "default",
        "resource": "pods",
        "name": "*",
        "metric": "DEV_GPU_UTIL_current",
    }
    named = {key: value for key, value in parameters.items() if f"{{{key}}}" in path}
    case = _operation(version, path).Case(path_parameters=named)
    assert len(case.call_and_validate().json()["items"]) == 1
