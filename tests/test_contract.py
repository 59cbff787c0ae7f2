"""What is served keeps to the OpenAPI documents that kube-apiserver passes on."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import positive_data_acceptance

from adapter.engine.catalogue import Catalogue
from adapter.model.kinds import NAMESPACES, NODES, PODS
from tests.api.world import World, offer, ref

PATHS = [
    "",
    "{resource}/{name}/{metric}",
    "namespaces/{namespace}/{resource}/{name}/{metric}",
    "namespaces/{namespace}/metrics/{metric}",
]


def _document(version: str) -> schemathesis.BaseSchema:
    """Give the document as served; the examples in it name what this world has."""
    kinds = (PODS, NODES, NAMESPACES)
    world = World(catalogue=Catalogue(offer(kind, "DEV_GPU_UTIL_current", 180) for kind in kinds))
    world.objects.known["pods"] = {ref("llm-0", "default"): {"app": "llm"}}
    world.objects.known["namespaces"] = {ref("default", ""): {}}
    world.board.values = {ref("llm-0", "default"): 97.25, ref("default", ""): 1000.0}
    world.board.window = 180
    path = f"/openapi/v3/apis/custom.metrics.k8s.io/{version}"
    schema = schemathesis.openapi.from_asgi(path, world.app())
    schema.config.generation.update(modes=[schemathesis.GenerationMode.POSITIVE])
    return schema


def _operation(version: str, path: str) -> schemathesis.APIOperation[Any, Any, Any, Any]:
    return _document(version)[f"/apis/custom.metrics.k8s.io/{version}/{path}"]["GET"]


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
