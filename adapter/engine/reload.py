"""The loop that looks whether the files of rules have changed, and puts good ones to use."""

import logging
from collections.abc import Callable, Iterable
from typing import Protocol

import anyio.to_thread

from adapter.engine.clock import Clock
from adapter.errors import Problem
from adapter.rules.config import RulesFile
from adapter.telemetry import Telemetry

_EVERY = 1.0

_log = logging.getLogger(__name__)


class Change(Protocol):
    """What a change of the files came to: the rules to serve, and what is wrong with the files."""

    @property
    def rules(self) -> RulesFile:
        """Give the rules to serve from now on."""
        ...

    @property
    def changed(self) -> bool:
        """Tell whether they differ from those before."""
        ...

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Give why files that were read anew are refused."""
        ...

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Give what is in doubt in the files that were read anew and are good."""
        ...


class Files(Protocol):
    """The files of rules."""

    @property
    def refused(self) -> tuple[Problem, ...]:
        """Give the problems of the files as they stand now."""
        ...

    def look(self) -> Change | None:
        """Give what a change came to, None when nothing changed."""
        ...


class Reload:
    """Keeps the rules in use those of the files; a bad file is told and changes nothing.

    Files are looked at each second. `use` is given the rules whenever they differ.
    """

    def __init__(
        self, files: Files, use: Callable[[RulesFile], None], telemetry: Telemetry, clock: Clock
    ) -> None:
        """Take the rules that `files` has as in use since now."""
        self._files = files
        self._use = use
        self._telemetry = telemetry
        self._clock = clock
        self._counted: frozenset[str] = frozenset()
        self._measure()

    @property
    def refused(self) -> tuple[str, ...]:
        """Give a line for each problem of a file that is not in use as it stands."""
        return tuple(f"refused, the rules before it serve on: {one}" for one in self._files.refused)

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await self._clock.sleep(_EVERY)
            await self.look()

    async def look(self) -> None:
        """Look once, and put to use what is new."""
        # In a thread: a large file takes longer to read than an answer may wait.
        change = await anyio.to_thread.run_sync(self._files.look)
        if change is None:
            return
        for problem in change.problems:
            _log.error("rules refused", extra={"problem": str(problem)})
        for warning in change.warnings:
            _log.warning("rules.warning", extra={"problem": str(warning)})
        if change.changed:
            self._use(change.rules)
            _log.info("rules reloaded", extra={"rules": len(change.rules.rules)})
        self._measure()

    def _measure(self) -> None:
        counts = _by_file(self._files.refused)
        for file in self._counted - counts.keys():
            self._telemetry.config_problems.remove(file)
        for file, count in counts.items():
            self._telemetry.config_problems.labels(file).set(count)
        self._counted = frozenset(counts)
        self._telemetry.config_good.set(not counts)
        if not counts:
            self._telemetry.config_reloaded.set(self._clock.wall())


def _by_file(problems: Iterable[Problem]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for problem in problems:
        counts[problem.file] = counts.get(problem.file, 0) + 1
    return counts
