"""What people are told: once when something changes, not at each attempt."""

import logging

import pytest

from adapter.engine.entry import Outcome
from adapter.engine.journal import Journal
from adapter.engine.question import Question
from adapter.engine.reading import Reading
from adapter.errors import AdapterError, PrometheusDown, QueryRefused
from tests.engine.parts import NAMESPACES, ask, offer, rule

RULE = rule()
PODS_QUESTION = ask(offer(RULE)).question
HOME_QUESTION = ask(offer(RULE, NAMESPACES), "ml").question
GOOD = Reading(values={}, dropped={}, timestamp=0, window=None, samples=0, unlabelled=0)


def told(
    caplog: pytest.LogCaptureFixture, *outcomes: tuple[Question[Reading], AdapterError | None]
) -> list[str]:
    """Give the events logged for evaluations that ended like this."""
    journal = Journal()
    with caplog.at_level(logging.INFO, "adapter"):
        for question, failure in outcomes:
            reading = None if failure else GOOD
            journal.note(question, Outcome(None, 0, 0, reading, failure))
    return [record.message for record in caplog.records]


def test_health_is_not_worth_a_word(caplog: pytest.LogCaptureFixture) -> None:
    assert told(caplog, (PODS_QUESTION, None), (HOME_QUESTION, None)) == []


def test_an_outage_is_told_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    down = PrometheusDown("connection refused")
    events = told(
        caplog,
        (PODS_QUESTION, down),
        (HOME_QUESTION, down),
        (PODS_QUESTION, down),
        (HOME_QUESTION, None),
        (PODS_QUESTION, None),
    )
    assert events == ["prometheus does not answer", "prometheus answers again"]


def test_a_query_that_fails_is_told_with_its_rule_until_it_works(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refused = QueryRefused("parse error")
    events = told(caplog, (PODS_QUESTION, refused), (PODS_QUESTION, refused), (PODS_QUESTION, None))
    assert events == ["query fails", "query works again"]
    assert caplog.records[0].__dict__["rule"] == "rules.yaml:3: rule 1"
    assert caplog.records[0].__dict__["cause"] == "parse error"


def test_a_warning_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    journal = Journal()
    with caplog.at_level(logging.INFO, "adapter"):
        for _ in range(3):
            journal.warn(("rule 1: several series",))
    assert [record.__dict__["warning"] for record in caplog.records] == ["rule 1: several series"]
