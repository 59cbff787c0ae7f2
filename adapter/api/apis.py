"""The three APIs, each as a whole: what it lists, its routes, and its description."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute

from adapter.api.custom import Answers, custom_routes
from adapter.api.custom_description import describe_custom
from adapter.api.describing import Description
from adapter.api.external import ExternalValues
from adapter.api.external_description import describe_external
from adapter.api.groups import (
    V1BETA1,
    Catalogue,
    ExternalCatalogue,
    Group,
    custom_group,
    external_group,
    resource_group,
)
from adapter.api.usage import Finds, UsageValues
from adapter.api.usage_description import describe_usage
from adapter.rules.resource_rules import ResourceRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One API group. `descriptions` are by version.

    `wanted` tells whether there is anything to serve in it. Its documents are answered either
    way, as kube-apiserver takes any failure for an outage of the group; but it is not made known
    in OpenAPI, where it would hide what another server says of the same group.
    """

    group: Group
    routes: Sequence[BaseRoute]
    descriptions: Mapping[str, Description]
    wanted: Callable[[], bool]


def custom_api(values: Answers, catalogue: Callable[[], Catalogue]) -> Api:
    """Give custom.metrics.k8s.io, which is what this program is for and so always wanted."""
    group = custom_group(catalogue)
    return Api(
        group=group,
        routes=custom_routes(values),
        descriptions={version: describe_custom(version) for version in group.versions},
        wanted=lambda: True,
    )


def external_api(
    values: ExternalValues,
    catalogue: Callable[[], ExternalCatalogue],
    wanted: Callable[[], bool],
) -> Api:
    """Give external.metrics.k8s.io."""
    return Api(
        group=external_group(catalogue),
        routes=values.routes(),
        descriptions={V1BETA1: describe_external()},
        wanted=wanted,
    )


def usage_api(consumers: Finds, rules: Callable[[], ResourceRules | None]) -> Api:
    """Give metrics.k8s.io; `rules` gives those of the moment, None when there are none."""
    return Api(
        group=resource_group(),
        routes=UsageValues(consumers, rules).routes(),
        descriptions={V1BETA1: describe_usage()},
        wanted=lambda: rules() is not None,
    )
