"""Liveness and readiness, in the words that Kubernetes uses."""

import logging

import httpx
import pytest
from starlette.applications import Starlette

from adapter.api.health import Health
from tests.api.world import World, client

pytestmark = pytest.mark.anyio

UNREADY = "[+]ping ok\n[-]pods failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n"


@pytest.mark.parametrize("endpoint", ["healthz", "livez", "readyz"])
async def test_all_is_well_in_two_letters(endpoint: str) -> None:
    answer = await World().get(f"/{endpoint}")
    assert (answer.status_code, answer.text) == (200, "ok")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


async def test_verbose_lists_every_check() -> None:
    answer = await World().get("/readyz?verbose")
    assert answer.text == "[+]ping ok\n[+]pods ok\n[+]shutdown ok\nreadyz check passed\n"


@pytest.mark.parametrize("query", ["", "?verbose"])
async def test_a_failed_check_is_named_and_no_more(query: str) -> None:
    answer = await World(ready=False).get(f"/readyz{query}")
    assert (answer.status_code, answer.text) == (500, UNREADY)


@pytest.mark.parametrize("endpoint", ["healthz", "livez"])
async def test_what_is_not_ready_is_alive(endpoint: str) -> None:
    assert (await World(ready=False).get(f"/{endpoint}")).status_code == 200


async def test_an_excluded_check_does_not_count() -> None:
    answer = await World(ready=False).get("/readyz?verbose&exclude=pods")
    assert answer.status_code == 200
    assert "[+]pods excluded: ok\n" in answer.text


async def test_an_unknown_exclusion_is_warned_of() -> None:
    answer = await World().get("/readyz?verbose&exclude=b&exclude=a")
    warning = 'warn: some health checks cannot be excluded: no matches for "a","b"'
    assert warning in answer.text.splitlines()


@pytest.mark.parametrize(("check", "code"), [("ping", 200), ("pods", 500), ("nope", 404)])
async def test_each_check_has_a_path(check: str, code: int) -> None:
    answer = await World(ready=False).get(f"/readyz/{check}")
    assert answer.status_code == code


async def test_the_log_has_each_change_once(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    with caplog.at_level(logging.WARNING, "adapter"):
        async with client(world) as asking:
            for ready in (True, False, False, True):
                world.ready = ready
                await asking.get("/readyz")
    assert [vars(record)["failing"] for record in caplog.records] == [["pods"], []]


@pytest.mark.parametrize(("ready", "code"), [(True, 200), (False, 500)])
async def test_a_note_is_told_below_its_check_and_fails_nothing(ready: bool, code: int) -> None:
    health = Health(
        live={},
        ready={"config": lambda: True, "pods": lambda: ready},
        notes={"config": lambda: ["rules.yaml:3: rule 1:\nwrong"]},
    )
    transport = httpx.ASGITransport(Starlette(routes=health.routes()))
    async with httpx.AsyncClient(transport=transport, base_url="http://adapter") as http:
        answer = await http.get("/readyz?verbose")
        plain = await http.get("/readyz/config")

    told = "[+]config ok\nwarn: config: rules.yaml:3: rule 1: wrong\n"
    assert answer.status_code == code
    assert told in answer.text
    assert (plain.status_code, plain.text) == (200, "ok")
