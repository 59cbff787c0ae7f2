"""The command: read flags and rules, say what is wrong with them, or serve."""

import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from adapter.errors import InputError, Problem
from adapter.options import parse
from adapter.rules.config import RulesFile, load
from adapter.rules.dcgm import builtin_rules
from adapter.serve import serve
from adapter.settings import Settings
from adapter.telemetry import log_to_stderr

_DEBUG_FROM = 4
_log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server until SIGTERM or SIGINT and give the exit code.

    0 after a clean stop; 2 when flags or files are wrong, with one line for each problem on
    standard error.
    """
    try:
        settings = parse(sys.argv[1:] if argv is None else argv)
        rules = read_rules(settings.config)
        log_to_stderr(logging.DEBUG if settings.verbosity >= _DEBUG_FROM else logging.INFO)
        _say(settings, rules)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(settings, rules))
    except InputError as error:
        for problem in error.problems:
            print(f"gpu-metrics-adapter: {problem}", file=sys.stderr)  # noqa: T201  (the answer)
        return 2
    return 0


def read_rules(path: Path | None) -> RulesFile:
    """Give the rules of the file, or the built-in ones when no file is given.

    Raises InputError with every problem of the file.
    """
    if path is None:
        return RulesFile(rules=builtin_rules(), prometheus_url=None, warnings=())
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fault = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            [
                Problem(
                    file=str(path),
                    fault=f"the rules file cannot be read: {fault}",
                    cure="mount it there, or leave --config out for the built-in DCGM rules",
                )
            ]
        ) from error
    return load(text, str(path))


def _say(settings: Settings, rules: RulesFile) -> None:
    for name in settings.ignored:
        _log.warning("flag.ignored", extra={"flag": f"--{name}"})
    for warning in rules.warnings:
        _log.warning("rules.warning", extra={"problem": str(warning)})
