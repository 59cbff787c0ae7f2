"""The command: check files of rules, or read flags and rules, say what is wrong, and serve."""

import asyncio
import logging
import sys
from collections.abc import Sequence

import uvloop

from adapter.check.command import run as check
from adapter.check.options import wants_check
from adapter.errors import InputError
from adapter.options import parse
from adapter.rules.config import RulesFile
from adapter.rules.dcgm import builtin_rules
from adapter.serve import serve
from adapter.settings import Settings
from adapter.sources.rule_files import RuleFiles
from adapter.telemetry import log_to_stderr

_DEBUG_FROM = 4
_log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server until SIGTERM or SIGINT, or `check`, and give the exit code.

    0 after a clean stop; 2 when flags or files are wrong, with one line for each problem on
    standard error. A check has its own.
    """
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except InputError as error:
        for problem in error.problems:
            print(f"gpu-metrics-adapter: {problem}", file=sys.stderr)  # noqa: T201  (the answer)
        return 2


def _run(argv: Sequence[str]) -> int:
    if wants_check(argv):
        return check(argv)
    settings = parse(argv)
    files = RuleFiles(settings.config) if settings.config else None
    rules = files.rules if files else RulesFile(rules=builtin_rules())
    log_to_stderr(logging.DEBUG if settings.verbosity >= _DEBUG_FROM else logging.INFO)
    _say(settings, rules)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(settings, rules, files))
    return 0


def _say(settings: Settings, rules: RulesFile) -> None:
    for name in settings.ignored:
        _log.warning("flag.ignored", extra={"flag": f"--{name}"})
    for warning in rules.warnings:
        _log.warning("rules.warning", extra={"problem": str(warning)})
