"""Settings from the command line, checked whole."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from adapter.errors import InputError, Problem
from adapter.flag_table import DESCRIPTION, FLAGS, PROG
from adapter.flags import build_parser, read_flags
from adapter.settings import (
    AuthenticationSettings,
    AuthorizationSettings,
    DiscoverySettings,
    PrometheusSettings,
    ReadingSettings,
    ServingSettings,
    Settings,
)

_PARTS = {
    "prometheus": PrometheusSettings,
    "discovery": DiscoverySettings,
    "reading": ReadingSettings,
    "serving": ServingSettings,
    "authentication": AuthenticationSettings,
    "authorization": AuthorizationSettings,
}


def parse(argv: Sequence[str]) -> Settings:
    """Give the settings that `argv` (without the program's name) decides.

    Raises InputError with every problem of the command line together; `--help` prints and exits.
    """
    return settled(*read_flags(FLAGS, build_parser(FLAGS, PROG, DESCRIPTION), argv))


def settled(values: Mapping[str, Any], given: frozenset[str]) -> Settings:
    """Give the settings that the values of all flags decide; `given` are the flags that were given.

    Raises InputError with everything that does not go together.
    """
    settings = _settings(values, given)
    if problems := [*_conflicts(settings)]:
        raise InputError(problems)
    return settings


def _settings(values: Mapping[str, Any], given: frozenset[str]) -> Settings:
    parts: dict[str, dict[str, Any]] = {"": {}, **{part: {} for part in _PARTS}}
    for flag in FLAGS:
        part, _, name = flag.into.rpartition(".")
        if name:
            parts[part][name] = values[flag.name]
    discovery = parts["discovery"]
    discovery["max_age"] = discovery["max_age"] or discovery["relist_interval"]
    return Settings(
        **parts[""],
        **{part: make(**parts[part]) for part, make in _PARTS.items()},
        prometheus_url_given="prometheus-url" in given,
        ignored=tuple(flag.name for flag in FLAGS if flag.name in given and not flag.served),
    )


def _conflicts(settings: Settings) -> Iterator[Problem]:
    prometheus, serving, reading = settings.prometheus, settings.serving, settings.reading
    if prometheus.auth_incluster and prometheus.auth_config:
        yield _problem(
            "--prometheus-auth-incluster and --prometheus-auth-config are both given",
            "give one of them",
        )
    if prometheus.force_get and prometheus.verb == "POST":
        yield _problem(
            "--prometheus-force-get and --prometheus-verb=POST are both given", "give one of them"
        )
    if not prometheus.timeout:
        yield _problem("--prometheus-timeout is 0", "give the longest time one call may take")
    if bool(prometheus.client_cert_file) != bool(prometheus.client_key_file):
        yield _half("--prometheus-client-tls-cert-file", "--prometheus-client-tls-key-file")
    if bool(serving.cert_file) != bool(serving.key_file):
        yield _half("--tls-cert-file", "--tls-private-key-file")
    if settings.discovery.max_age < settings.discovery.relist_interval:
        yield _problem(
            "--metrics-max-age is shorter than --metrics-relist-interval",
            "make it at least as long, or metrics flap in and out",
        )
    if reading.max_staleness < reading.freshness:
        yield _problem("--max-staleness is shorter than --freshness", "make it at least as long")
    yield from _url_problems(prometheus.url)


def _half(one: str, other: str) -> Problem:
    return _problem(f"only one of {one} and {other} is given", "give both or none")


def _url_problems(url: str) -> Iterator[Problem]:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        yield _problem(
            "--prometheus-url is no http or https address with a host",
            "write it as http://prometheus-operated.monitoring.svc:9090",
        )


def _problem(fault: str, cure: str) -> Problem:
    return Problem(file="command line", fault=fault, cure=cure)
