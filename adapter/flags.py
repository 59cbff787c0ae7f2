"""The command line: every flag as a row of a table, and how the rows become Settings.

Syntax is pflag's, as the incumbent has it: `--name=value`, `--name value`, `--switch` or
`--switch=false`; words that are no flags are ignored (the Helm chart passes `/adapter`).
"""

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from adapter.errors import InputError, Problem

_DURATION_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)")
_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def duration(text: str) -> float:
    """Give the seconds of a Go duration (`90s`, `1m30s`, `0`).

    Raises ValueError when it is none or negative.
    """
    if text in {"0", "+0"}:
        return 0.0
    parts = _DURATION_PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.removeprefix("+"):
        msg = "it is no duration such as 90s, 1m30s or 10m"
        raise ValueError(msg)
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)


def switch(text: str) -> bool:
    """Give the truth of a Go boolean; raises ValueError when it is none."""
    word = text.lower()
    if word in {"1", "t", "true"}:
        return True
    if word in {"0", "f", "false"}:
        return False
    msg = "it is neither true nor false"
    raise ValueError(msg)


def whole(text: str) -> int:
    """Give a whole number; raises ValueError when it is none."""
    try:
        return int(text)
    except ValueError:
        msg = "it is no whole number"
        raise ValueError(msg) from None


def port(text: str) -> int:
    """Give a port, 0 to 65535; raises ValueError when it is none."""
    number = whole(text)
    if not 0 <= number <= 65535:
        msg = "a port lies between 0 and 65535"
        raise ValueError(msg)
    return number


def choice(*words: str) -> Callable[[str], str]:
    """Give a reader that takes exactly one of `words`."""

    def read(text: str) -> str:
        if text in words:
            return text
        msg = f"it must be one of {', '.join(words)}"
        raise ValueError(msg)

    return read


def listed(text: str) -> tuple[str, ...]:
    """Give the parts of a comma-separated list; raises ValueError when one is blank."""
    parts = tuple(text.split(",")) if text else ()
    if any(not part.strip() for part in parts):
        msg = "an entry of the list is blank"
        raise ValueError(msg)
    return parts


def pair(text: str) -> tuple[str, str]:
    """Give name and value of `name=value`; without `=` the value is empty."""
    name, _, value = text.partition("=")
    if not name.strip():
        msg = "it has no name before the ="
        raise ValueError(msg)
    return name, value


def path(text: str) -> Path | None:
    """Give a path, None for the empty text."""
    return Path(text) if text else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag: `default` is shown as a user would write it; `repeated` collects all values.

    `into` is the dotted name of the setting it decides; without one the flag is accepted, so that
    old manifests start, and has no effect.
    """

    name: str
    group: str
    help: str
    into: str = ""
    read: Callable[[str], Any] = str
    default: str = ""
    repeated: bool = False

    @property
    def served(self) -> bool:
        """Tell whether the flag decides anything here."""
        return bool(self.into)


class _Parser(argparse.ArgumentParser):
    """Raises instead of printing usage and leaving, so that all problems are told together."""

    def error(self, message: str) -> NoReturn:
        raise InputError([_problem(message, "see gpu-metrics-adapter --help")])


def build_parser(flags: Sequence[Flag], prog: str, description: str) -> argparse.ArgumentParser:
    """Give a parser that keeps every value as text; its help groups the flags."""
    parser = _Parser(
        prog=prog,
        usage=f"{prog} [flags]",
        description=description,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    groups = {flag.group: parser.add_argument_group(flag.group) for flag in flags}
    for flag in flags:
        shown = f" (default {flag.default})" if flag.default and flag.served else ""
        groups[flag.group].add_argument(
            *_spellings(flag.name),
            dest=flag.name,
            action="append",
            metavar=_metavar(flag),
            help=(flag.help + shown).replace("%", "%%"),
        )
    return parser


def _spellings(name: str) -> tuple[str, ...]:
    """Give the words that mean a flag; pflag takes one letter after one dash too."""
    return (f"--{name}", f"-{name}") if len(name) == 1 else (f"--{name}",)


def _metavar(flag: Flag) -> str:
    names: dict[Callable[[str], Any], str] = {
        duration: "DURATION",
        switch: "BOOL",
        whole: "NUMBER",
        port: "PORT",
        path: "FILE",
        pair: "NAME=VALUE",
    }
    return names.get(flag.read, "VALUE")


def read_flags(
    flags: Sequence[Flag], parser: argparse.ArgumentParser, argv: Sequence[str]
) -> tuple[dict[str, Any], frozenset[str]]:
    """Give each flag's value by name, and the names that were given.

    A repeated flag's value is the tuple of all; otherwise the last one given counts.
    Raises InputError with every unknown flag and unreadable value together.
    """
    known, rest = parser.parse_known_args(list(_spelled_out(flags, argv)))
    texts: dict[str, list[str] | None] = vars(known)
    problems = [
        _problem(f"unknown flag {word.partition('=')[0]}", "see gpu-metrics-adapter --help")
        for word in rest
        if word.startswith("-") and word != "--"
    ]
    values: dict[str, Any] = {}
    for flag in flags:
        value = _value(flag, texts[flag.name])
        problems += [value] if isinstance(value, Problem) else []
        values[flag.name] = value
    if problems:
        raise InputError(problems)
    return values, frozenset(name for name, given in texts.items() if given is not None)


def words_of(
    flags: Sequence[Flag], parser: argparse.ArgumentParser, argv: Sequence[str]
) -> tuple[str, ...]:
    """Give the words that are neither flags nor values of flags, in order."""
    _, rest = parser.parse_known_args(list(_spelled_out(flags, argv)))
    return tuple(word for word in rest if not word.startswith("-"))


def _spelled_out(flags: Sequence[Flag], argv: Sequence[str]) -> Iterator[str]:
    """Give the words with `--switch` as `--switch=true`, as a switch never takes the next word."""
    switches = {f"--{flag.name}" for flag in flags if flag.read is switch}
    for word in argv:
        yield f"{word}=true" if word in switches else word


def _value(flag: Flag, given: list[str] | None) -> Any:
    texts = given or ([flag.default] if not flag.repeated else [])
    try:
        values = tuple(flag.read(text) for text in texts)
    except ValueError as error:
        return _problem(
            f"--{flag.name}={texts[-1]}: {error}", f"give --{flag.name} a value its help describes"
        )
    return values if flag.repeated else values[-1]


def _problem(fault: str, cure: str) -> Problem:
    return Problem(file="command line", fault=fault, cure=cure)
