"""The rules of several files as those of one."""

from collections.abc import Iterator, Mapping

from adapter.errors import Problem
from adapter.rules.config import RulesFile


def merged(files: Mapping[str, RulesFile]) -> RulesFile:
    """Give the rules of `files`, by name and in order, as one after the other.

    There is one answer to what containers use and one Prometheus: the first file that says so
    counts, and a warning names each later one that says something else.
    """
    rules = list(files.values())
    clashes = [*_second_resource_rules(files), *_second_urls(files)]
    return RulesFile(
        rules=tuple(rule for one in rules for rule in one.rules),
        external_rules=tuple(rule for one in rules for rule in one.external_rules),
        resource_rules=next((one.resource_rules for one in rules if one.resource_rules), None),
        prometheus_url=next((one.prometheus_url for one in rules if one.prometheus_url), None),
        warnings=(*(warning for one in rules for warning in one.warnings), *clashes),
    )


def _second_resource_rules(files: Mapping[str, RulesFile]) -> Iterator[Problem]:
    first, *later = [name for name, one in files.items() if one.resource_rules] or [""]
    for name in later:
        yield Problem(
            file=name,
            key="resourceRules",
            fault=f"not served: those of {first} are",
            cure="keep them in one file",
        )


def _second_urls(files: Mapping[str, RulesFile]) -> Iterator[Problem]:
    told = {name: one.prometheus_url for name, one in files.items() if one.prometheus_url}
    first = next(iter(told), "")
    for name, url in told.items():
        if url != told[first]:
            yield Problem(
                file=name,
                key="prometheus",
                fault=f"another address than in {first}, which is the one asked",
                cure="give --prometheus-url",
            )
