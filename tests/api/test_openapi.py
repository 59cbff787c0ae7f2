"""The OpenAPI documents, as kube-apiserver asks for them."""

import json
from collections.abc import Iterator

import pytest

from adapter.engine.external import ExternalOffer
from adapter.engine.external_metrics import ExternalCatalogue
from adapter.rules.resource_rules import ResourceRules
from tests.api.world import World, client
from tests.engine.test_external import external_rule

pytestmark = pytest.mark.anyio

PARTS = [f"/openapi/v3/apis/custom.metrics.k8s.io/{version}" for version in ("v1beta1", "v1beta2")]
OTHERS = [
    f"/openapi/v3/apis/{group}/v1beta1" for group in ("external.metrics.k8s.io", "metrics.k8s.io")
]


async def test_v2_is_valid_and_adds_nothing() -> None:
    told = (await World().get("/openapi/v2", accept="application/json")).json()
    assert (told["swagger"], told["paths"], told["definitions"]) == ("2.0", {}, {})
    assert set(told["info"]) == {"title", "version"}


async def test_v3_lists_our_group_versions_only() -> None:
    """Any other key would hide one of kube-apiserver's own."""
    told = (await World().get("/openapi/v3")).json()["paths"]
    assert sorted(told) == [part.removeprefix("/openapi/v3/") for part in PARTS]


async def test_v3_lists_the_other_groups_while_they_have_rules() -> None:
    """Without rules they may be another server's, whose document would be hidden."""
    world = World()
    async with client(world) as asking:
        world.externals = ExternalCatalogue(
            [ExternalOffer(metric="queue_lag", rule=external_rule(), series="queue_lag")]
        )
        world.resource_rules = ResourceRules()
        told = (await asking.get("/openapi/v3")).json()["paths"]
        assert [f"/openapi/v3/{key}" for key in told if "custom" not in key] == OTHERS
        world.resource_rules = None
        told = (await asking.get("/openapi/v3")).json()["paths"]
        assert [f"/openapi/v3/{key}" for key in told if "custom" not in key] == OTHERS[:1]


@pytest.mark.parametrize("path", OTHERS)
async def test_a_group_without_rules_is_described_all_the_same(path: str) -> None:
    assert (await World().get(path)).json()["openapi"] == "3.0.0"


async def test_the_listed_addresses_lead_to_documents_that_may_be_kept_forever() -> None:
    async with client(World()) as asking:
        for listed in (await asking.get("/openapi/v3")).json()["paths"].values():
            answer = await asking.get(listed["serverRelativeURL"])
            assert answer.json()["openapi"] == "3.0.0"
            assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("query", ["", "?hash=OLD"])
async def test_another_hash_is_answered_without_a_redirect(query: str) -> None:
    answer = await World().get(f"{PARTS[0]}{query}")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache, private")


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3", *PARTS, *OTHERS])
async def test_a_client_that_has_the_document_gets_no_second_copy(path: str) -> None:
    tag = (await World().get(path)).headers["etag"]
    assert (await World().get(path, if_none_match=tag)).status_code == 304


@pytest.mark.parametrize("path", PARTS)
async def test_a_client_that_reads_protobuf_only_is_told_so(path: str) -> None:
    accept = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
    assert (await World().get(path, accept=accept)).status_code == 406


@pytest.mark.parametrize("path", [*PARTS, *OTHERS])
async def test_every_reference_leads_to_a_schema_and_every_schema_is_used(path: str) -> None:
    told = (await World().get(path)).json()
    schemas = {f"#/components/schemas/{name}" for name in told["components"]["schemas"]}
    assert set(_references(told)) == schemas


async def test_operations_have_names_of_their_own() -> None:
    texts = [(await World().get(part)).text for part in [*PARTS, *OTHERS]]
    names = [name for text in texts for name in _values("operationId", json.loads(text))]
    assert len(names) == len(set(names)) == 16


def _references(value: object) -> Iterator[object]:
    return _values("$ref", value)


def _values(key: str, value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from (found for name, found in value.items() if name == key)
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _values(key, inner)
