"""The command line of a check: files, the flags of the server, and how it is told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adapter.errors import InputError, Problem
from adapter.flag_table import FLAGS, PROG
from adapter.flags import Flag, build_parser, choice, read_flags, words_of
from adapter.options import settled
from adapter.settings import Settings

WORD = "check"
_STRAY = "/adapter"
_USAGE = f"{PROG} {WORD} FILE..."
_DESCRIPTION = """\
Checks rules before they serve. FILE is a file of rules, values of Prometheus Adapter's chart, or
a folder of *.yaml; several are checked as they would serve: together. Of the server's flags
--prometheus-url also shows what each rule matches now, --lister-kubeconfig makes the cluster's
own kinds known, and --config is one more FILE; those that only concern serving change nothing.

Exit code: 0 clean, 1 warnings with --strict, 2 errors."""
_OUTPUT = Flag(
    name="output",
    group="Check",
    read=choice("table", "json"),
    default="table",
    help="table for people, json for programs.",
    into="output",
)
_STRICT = "Warnings make the exit code 1; an answer of Prometheus that is partial is an error."
_KNOWN = (
    _OUTPUT,
    *(replace(flag, group="Check", help=_STRICT) for flag in FLAGS if flag.name == "strict"),
    *(flag for flag in FLAGS if flag.name != "strict"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be checked, told as `output` says; `settings` are the server's for these flags."""

    paths: tuple[Path, ...]
    output: str
    settings: Settings


def wants_check(argv: Sequence[str]) -> bool:
    """Tell whether the first word that is no flag is `check`, the chart's stray one not counted."""
    plain = [word for word in argv if word not in {"-h", "--help"}]
    return _words(plain)[:1] == [WORD]


def read(argv: Sequence[str]) -> Asked:
    """Read a command line whose first word is `check`.

    Raises InputError with every problem together; `--help` prints and exits.
    """
    values, given = read_flags(_KNOWN, build_parser(_KNOWN, _USAGE, _DESCRIPTION), argv)
    settings = settled(values, given)
    paths = [*map(Path, _words(argv)[1:]), *filter(None, [settings.config])]
    if not paths:
        fault, cure = f"{WORD} is given no file", f"write {_USAGE}"
        raise InputError([Problem(file="command line", fault=fault, cure=cure)])
    return Asked(paths=tuple(dict.fromkeys(paths)), output=values["output"], settings=settings)


def _words(argv: Sequence[str]) -> list[str]:
    words = words_of(_KNOWN, build_parser(_KNOWN, _USAGE, _DESCRIPTION), argv)
    return [word for word in words if word != _STRAY]
