"""The files of rules are looked at again and again: good ones serve, bad ones are told."""

import logging
from pathlib import Path

import anyio
import pytest
from prometheus_client import generate_latest

from adapter.engine.reload import Reload
from adapter.rules.config import RulesFile
from adapter.sources.rule_files import RuleFiles
from adapter.telemetry import Telemetry
from tests.engine.parts import ManualClock

pytestmark = pytest.mark.anyio

GOOD = "rules: [{seriesQuery: up, metricsQuery: '<<.Series>>{<<.LabelMatchers>>}'}]\n"
OTHER = GOOD.replace("up", "queue_length")
BAD = "rules: [{seriesQuery: up}]\n"


class World:
    """A reload over one file, and what it put to use."""

    def __init__(self, path: Path) -> None:
        path.write_text(GOOD)
        self.path = path
        self.clock = ManualClock()
        self.telemetry = Telemetry()
        self.used: list[RulesFile] = []
        self.reload = Reload(RuleFiles(path), self.used.append, self.telemetry, self.clock)

    async def change(self, text: str) -> None:
        self.path.write_text(text)
        await self.reload.look()
        await self.reload.look()

    def measured(self, name: str) -> float | None:
        prefix = "gpu_metrics_adapter_config_"
        return self.telemetry.registry.get_sample_value(prefix + name)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "config.yaml")


async def test_a_good_change_is_put_to_use(world: World) -> None:
    await world.change(OTHER)

    assert [rules.rules[0].series_query for rules in world.used] == ["queue_length"]


async def test_a_bad_change_is_told_line_by_line_and_changes_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.change(BAD + "externalRule: []\n")

    told = [vars(one)["problem"] for one in caplog.records if one.levelno == logging.ERROR]
    assert world.used == []
    assert [line.removeprefix(f"{world.path}:")[:30] for line in told] == [
        "1: rule 1: metricsQuery: missi",
        "2: externalRule: unknown key; ",
    ]


async def test_what_is_refused_is_known_until_it_is_mended(world: World) -> None:
    await world.change(BAD)
    [line] = world.reload.refused
    assert line.startswith(f"refused, the rules before it serve on: {world.path}:1: rule 1: ")

    await world.change(OTHER)
    assert world.reload.refused == ()


async def test_the_metrics_tell_of_a_refusal_and_of_its_end(world: World) -> None:
    began = world.clock.wall()
    await world.clock.advance(60)
    await world.change(BAD)
    labels = {"file": str(world.path)}
    problems = world.telemetry.registry.get_sample_value(
        "gpu_metrics_adapter_config_problems", labels
    )
    assert problems == 1
    assert world.measured("last_reload_successful") == 0
    assert world.measured("last_reload_success_timestamp_seconds") == began

    await world.change(OTHER)
    assert world.measured("last_reload_successful") == 1
    assert world.measured("last_reload_success_timestamp_seconds") == began + 60
    assert b"config_problems{" not in generate_latest(world.telemetry.registry)


async def test_without_a_further_change_nothing_is_put_to_use_again(world: World) -> None:
    await world.change(OTHER)
    await world.reload.look()

    assert len(world.used) == 1


async def test_the_files_are_looked_at_each_second(world: World) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.reload.run)
        world.path.write_text(OTHER)
        while not world.used:
            await world.clock.advance(1.0)
        tasks.cancel_scope.cancel()

    assert set(world.clock.slept) == {1.0}
