"""What the board tells people: once when something changes, not at each attempt."""

import logging
from typing import Any

from adapter.engine.entry import Outcome
from adapter.engine.question import Question
from adapter.errors import PrometheusDown

_MOST_KEPT = 1024
_log = logging.getLogger(__name__)


class Journal:
    """Log lines about Prometheus, about queries that fail, and about odd answers."""

    def __init__(self) -> None:
        """Take it that all is well."""
        self._down = False
        self._faults: dict[Question[Any], str] = {}
        self._warned: set[str] = set()

    def note(self, question: Question[Any], outcome: Outcome[Any]) -> None:
        """Tell when Prometheus stops or starts answering, and when a query's fault changes."""
        failure = outcome.failure
        if isinstance(failure, PrometheusDown):
            self._tell_down(str(failure))
            return
        if self._down:
            self._down = False
            _log.warning("prometheus answers again")
        self._tell_fault(question, "" if failure is None else str(failure))

    def warn(self, warnings: tuple[str, ...]) -> None:
        """Tell each warning once."""
        for warning in warnings:
            if warning not in self._warned and len(self._warned) < _MOST_KEPT:
                self._warned.add(warning)
                _log.warning("odd answer", extra={"warning": warning})

    def _tell_down(self, cause: str) -> None:
        if not self._down:
            _log.warning("prometheus does not answer", extra={"cause": cause})
        self._down = True

    def _tell_fault(self, question: Question[Any], fault: str) -> None:
        if fault == self._faults.get(question, ""):
            return
        self._faults.pop(question, None)
        if fault:
            self._faults[question] = fault
            self._faults = dict(list(self._faults.items())[-_MOST_KEPT:])
        event = "query fails" if fault else "query works again"
        extra = {"rule": question.source, "metric": question.metric, "cause": fault}
        _log.warning(event, extra=extra)
