"""Other rules take the place of those before, and nothing that was offered is missed meanwhile."""

import pytest

from adapter.errors import PrometheusDown, QueryRefused
from adapter.model.kinds import PODS
from tests.engine.parts import rule, settle
from tests.engine.test_discovery import GPU, QUEUE, World

pytestmark = pytest.mark.anyio

GPUS = rule(series_query='{UUID!=""}', name="gpu", matches=".*")
QUEUES = rule(series_query="queue_length", name="queue", matches=".*", number=2)


async def test_other_rules_are_looked_for_at_once() -> None:
    world = World([GPUS])
    async with world.running():
        world.discovery.use([QUEUES])
        await settle()
        assert world.offered() == ("queue",)


async def test_only_the_new_rules_are_asked_for() -> None:
    world = World([GPUS])
    async with world.running():
        world.index.asked.clear()
        world.discovery.use([GPUS, QUEUES])
        await settle()
        assert world.offered() == ("gpu", "queue")
    assert {match for _, match in world.index.asked} == {"queue_length"}


async def test_a_rule_that_says_the_same_in_its_place_stays_the_same_offer() -> None:
    world = World([GPUS])
    async with world.running():
        before = world.discovery.catalogue.find(PODS, "gpu")
        world.discovery.use([rule(series_query='{UUID!=""}', name="gpu", matches=".*"), QUEUES])
        await settle()
        assert world.discovery.catalogue.find(PODS, "gpu") == before


async def test_a_rule_that_only_moved_is_offered_under_its_new_number() -> None:
    world = World([GPUS])
    moved = rule(series_query='{UUID!=""}', name="gpu", matches=".*", number=7)
    async with world.running():
        world.index.asked.clear()
        world.discovery.use([moved])
        await settle()
        offer = world.discovery.catalogue.find(PODS, "gpu")
    assert offer is not None
    assert offer.rule is moved
    assert world.index.asked == []


async def test_until_a_changed_rule_is_found_the_one_before_serves() -> None:
    world = World([GPUS, QUEUES])
    changed = rule("max(<<.Series>>) by (<<.GroupBy>>)", series_query="slow", name="gpu")
    world.index.hanging.add("slow")
    async with world.running():
        world.discovery.use([changed])
        await settle()
        assert world.offered() == ("gpu", "queue")


async def test_while_prometheus_is_down_the_rules_before_serve() -> None:
    world = World([GPUS])
    async with world.running():
        world.index.failing["names"] = PrometheusDown("connection refused")
        world.discovery.use([QUEUES])
        await settle()
        assert world.offered() == ("gpu",)
        del world.index.failing["names"]
        await world.clock.advance(1.0)
        assert world.offered() == ("queue",)


async def test_a_new_rule_that_alone_gets_no_answer_holds_nothing_back() -> None:
    world = World([GPUS])
    async with world.running():
        world.index.failing["queue_length"] = PrometheusDown("it took too long")
        world.discovery.use([QUEUES])
        await settle()
        assert world.offered() == ()
        assert world.discovery.catalogue.failed == (QUEUES,)


async def test_a_new_rule_that_prometheus_refuses_holds_nothing_back() -> None:
    world = World([GPUS])
    async with world.running():
        world.index.failing["queue_length"] = QueryRefused("parse error")
        world.discovery.use([QUEUES])
        await settle()
        assert world.offered() == ()
        assert world.discovery.catalogue.failed == (QUEUES,)


async def test_rules_taken_away_are_no_longer_offered() -> None:
    world = World([GPUS, QUEUES], [GPU, QUEUE])
    async with world.running():
        world.discovery.use([])
        await settle()
        assert world.offered() == ()


async def test_of_two_changes_at_once_the_later_counts() -> None:
    world = World([GPUS])
    async with world.running():
        world.discovery.use([])
        world.discovery.use([QUEUES])
        await settle()
        assert world.offered() == ("queue",)
