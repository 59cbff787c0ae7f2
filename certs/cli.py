"""The command line: parse, run, print. One line on standard error and exit code 2 on failure."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from certs import commands
from certs.authority import AUTHORITY_DAYS, PAIR_DAYS
from certs.errors import CertificateError

_PROGRAM = "gpu-metrics-adapter-certs"
_ADAPTER = "gpu-metrics-adapter"
_MOST_DAYS = 36500

_Run = Callable[[argparse.Namespace], list[str]]


class _Parsers(Protocol):
    """What argparse's add_subparsers gives, which has no public name."""

    def add_parser(self, name: str, *, help: str, description: str) -> argparse.ArgumentParser: ...  # noqa: A002 - argparse's word


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the arguments given (sys.argv's by default) and give the exit code.

    Wrong usage leaves by SystemExit with code 2, as argparse does.
    """
    arguments = build_parser().parse_args(argv)
    run: _Run = arguments.run
    try:
        lines = run(arguments)
    except CertificateError as exc:
        sys.stderr.write(f"{_PROGRAM}: {exc}\n")
        return 2
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; each sets `run`, which acts and gives the lines to print."""
    parser = argparse.ArgumentParser(
        prog=_PROGRAM, description="Makes the certificates of an aggregated API server."
    )
    added = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_init(added)
    _add_ca(added)
    _add_serving(added)
    _add_client(added)
    _add_bundle(added)
    return parser


def _add_init(added: _Parsers) -> None:
    parser = _add(added, "init", commands.init, "all at once: authority, serving pair, caBundle")
    _add_authority(parser)
    _add_service(parser)
    _add_making(parser, PAIR_DAYS)


def _add_ca(added: _Parsers) -> None:
    parser = _add(added, "ca", commands.ca, "an authority: ca.crt, ca.key")
    _add_authority(parser)
    _add_making(parser, AUTHORITY_DAYS)


def _add_serving(added: _Parsers) -> None:
    parser = _add(added, "serving", commands.serving, "a serving pair from ca.*: tls.crt, tls.key")
    _add_service(parser)
    _add_making(parser, PAIR_DAYS)


def _add_client(added: _Parsers) -> None:
    text = "a client pair from ca.*: client.crt, client.key"
    parser = _add(added, "client", commands.client, text)
    parser.add_argument("--user", required=True, help="the user's name (CN)")
    parser.add_argument("--group", action="append", default=[], help="a group (O); repeatable")
    parser.add_argument("--name", default="client", help="file name without ending (%(default)s)")
    _add_making(parser, PAIR_DAYS)


def _add_bundle(added: _Parsers) -> None:
    parser = _add(added, "bundle", commands.bundle, "print ca.crt as an APIService's caBundle")
    parser.add_argument(
        "--with",
        dest="others",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="one more authority's certificate, while one takes over from another; repeatable",
    )
    parser.add_argument("--patch", action="store_true", help="print it as ca-bundle.yaml holds it")


def _add(added: _Parsers, name: str, run: _Run, text: str) -> argparse.ArgumentParser:
    parser = added.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    parser.add_argument("--directory", type=Path, required=True, help="folder of the files")
    return parser


def _add_authority(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--authority", default=f"{_ADAPTER}-ca", help="the authority's name (%(default)s)"
    )


def _add_service(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--service", default=_ADAPTER, help="the Service's name (%(default)s)")
    parser.add_argument("--namespace", default=_ADAPTER, help="and its namespace (%(default)s)")
    parser.add_argument("--dns", action="append", default=[], help="one more DNS name; repeatable")
    parser.add_argument("--ip", action="append", default=[], help="one more address; repeatable")


def _add_making(parser: argparse.ArgumentParser, days: int) -> None:
    parser.add_argument(
        "--days", type=_days, default=days, help="valid for so many days (%(default)s)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_DAYS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days, 1 to {_MOST_DAYS}")
    return int(text)
