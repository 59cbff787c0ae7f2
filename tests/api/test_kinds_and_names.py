"""Kinds of the cluster's own, and names that a rule gives to several series."""

from dataclasses import replace

import pytest

from adapter.engine.catalogue import Catalogue
from adapter.model.kinds import BUILT_IN, PODS, Kinds
from adapter.model.objects import Resource
from tests.api.world import P1, P2, World, message, offer, ref, values_of

pytestmark = pytest.mark.anyio

FLEET = Resource(
    group="example.com",
    version="v1alpha1",
    plural="fleets",
    singular="fleet",
    kind="Fleet",
    namespaced=False,
)


def _fleets() -> World:
    world = World(catalogue=Catalogue([offer(FLEET)]), kinds=Kinds([*BUILT_IN, FLEET]))
    world.objects.known["fleets"] = {ref("blue", ""): {}, ref("red", ""): {}}
    world.board.values = {ref("blue", ""): 5.0, ref("red", ""): 7.0}
    return world


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("fleets.example.com/blue", {"blue": "5"}),
        ("fleet.example/blue", {"blue": "5"}),
        ("fleets.example.com/*", {"blue": "5", "red": "7"}),
        ("namespaces/ml/fleets.example.com/red", {"red": "7"}),
    ],
)
@pytest.mark.parametrize("root", [P1, P2])
async def test_a_cluster_scoped_kind_is_reached_from_the_root_and_by_name_from_a_namespace(
    root: str, path: str, values: dict[str, str]
) -> None:
    answer = await _fleets().get(f"{root}/{path}/gpu_util")
    assert answer.status_code == 200, answer.text
    assert values_of(answer) == values
    described = answer.json()["items"][0]["describedObject"]
    assert described["apiVersion"] == "example.com/v1alpha1"
    assert "namespace" not in described


async def test_a_kind_installed_later_is_known_from_then_on() -> None:
    world = _fleets()
    world.kinds = Kinds()
    assert (await world.get(f"{P2}/fleets.example.com/blue/gpu_util")).status_code == 404
    world.kinds = Kinds([*BUILT_IN, FLEET])
    assert (await world.get(f"{P2}/fleets.example.com/blue/gpu_util")).status_code == 200


@pytest.mark.parametrize(("name", "told"), [("*", "pods"), ("llm-0", "pods llm-0")])
async def test_a_withheld_metric_is_the_rules_fault_and_names_rule_and_series(
    name: str, told: str
) -> None:
    two = replace(offer(PODS), withheld="the series a, b would all be named so")
    world = World(catalogue=Catalogue([two]))
    answer = await world.get(f"{P2}/namespaces/ml/pods/{name}/gpu_util")
    assert answer.status_code == 500
    assert message(answer) == (
        f"the server could not find the metric gpu_util for {told}: rule 1 (rules.yaml:3) gives it"
        " no single meaning: the series a, b would all be named so"
    )
    assert world.board.asked == []
    assert "gpu_util" not in (await world.get(P2)).text
