"""Helm values: the address of Prometheus, joined as the chart joins it."""

import pytest

from adapter.rules.config import load
from tests.rules.loading import problems


@pytest.mark.parametrize(
    ("section", "url"),
    [
        ("{url: http://p.svc, port: 9090}", "http://p.svc:9090"),
        ('{url: http://p.svc, port: 9090, path: ""}', "http://p.svc:9090"),
        ("{url: https://p.svc, port: 443, path: /prom/}", "https://p.svc:443/prom/"),
        ("{url: http://p.svc/prom}", "http://p.svc/prom"),
        ("{url: http://p.svc:8481, port: 0}", "http://p.svc:8481"),
        ("{url: http://p.svc, port: }", "http://p.svc"),
        ('{url: "http://[::1]", port: "9090"}', "http://[::1]:9090"),
        ("{}", None),
        ("", None),
    ],
)
def test_the_address_is_joined_as_the_chart_does(section: str, url: str | None) -> None:
    assert load(f"prometheus: {section}", "values.yaml").prometheus_url == url


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("{port: 9090}", "1: prometheus: port and path without a url; add url: http://HOST"),
        ("{url: http://p, port: x}", "prometheus.port: not a port; write a number from 1 to"),
        ("{url: http://p, port: 65536}", "prometheus.port: not a port"),
        ("{url: http://p, port: -1}", "prometheus.port: not a port"),
        ("{url: http://p, prot: 1}", "prometheus.prot: unknown key; write port"),
        ("{url: p.svc, port: 9090}", "prometheus.url: not an http or https address"),
        ("{url: ftp://p}", "prometheus.url: not an http or https address"),
        ("{url: http://p:1, port: 2}", "prometheus.url: with port and path it is no address"),
        ("{url: 'http://{{ .Release.Name }}'}", "Helm's templates are not filled in here"),
        ("{url: [a]}", "prometheus.url: a list where a text belongs"),
    ],
)
def test_an_address_that_cannot_be_used_is_told(section: str, problem: str) -> None:
    (line,) = problems(f"prometheus: {section}")
    assert problem in line


def test_a_problem_with_an_address_does_not_tell_its_password() -> None:
    (line,) = problems("prometheus: {url: 'ftp://user:secret@p'}")
    assert "secret" not in line


def test_other_values_of_the_chart_are_not_read() -> None:
    loaded = load("replicas: 2\nextraArguments: [--v=9]\naffinity: {a: b}", "values.yaml")
    assert [warning.key for warning in loaded.warnings] == ["extraArguments"]


def test_a_value_that_the_chart_does_not_have_is_told() -> None:
    assert problems("prometheus: {}\nreplikas: 2") == [
        "rules.yaml:2: replikas: unknown key; remove it; known here: prometheus, rules"
    ]
