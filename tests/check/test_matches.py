"""`check --prometheus-url`: what rules match now, on a real Prometheus."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from adapter.cli import main
from tests.check.files import CLEAN, WORKLOAD, checked, told, write

pytestmark = [pytest.mark.anyio, pytest.mark.cluster]

Look = Callable[[str], Awaitable[dict[str, Any]]]
TEMPLATE = """
rules:
- seriesQuery: 'queue_length{namespace!=""}'
  resources: {template: "<<.Resource>>"}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""


@pytest.fixture
def look(prometheus_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Look:
    """Check a text against Prometheus, in a thread, so that scraping goes on."""

    async def run(text: str) -> dict[str, Any]:
        flag, files = f"--prometheus-url={prometheus_url}", write(tmp_path, rules=text)
        return await anyio.to_thread.run_sync(lambda: checked(capsys, flag, *files))

    return run


def rule(series: str, query: str, more: str = "") -> str:
    """One rule on the workload's labels."""
    return f"""
rules:
- seriesQuery: '{series}'
  resources: {WORKLOAD}
  metricsQuery: {query}
  {more}
"""


def faults(document: dict[str, Any]) -> list[str]:
    """The findings without their places."""
    return [line.partition(" ")[2] for line in told(document)]


async def test_a_clean_rule_is_shown_with_all_that_it_matches(look: Look) -> None:
    document = await look(CLEAN)

    [one] = document["rules"]
    matched = one["matched"]
    assert told(document) == []
    assert (matched["series"], matched["names"]) == (2, ["queue_length"])
    assert {"exported_pod", "exported_namespace", "pod", "instance"} <= set(matched["labels"])
    assert 0.9 < matched["interval"] < 1.1
    assert [
        (metric["metric"], metric["resource"], metric["labels"], metric["objects"])
        for metric in matched["metrics"]
    ] == [
        ("queue_length", "namespaces", ["exported_namespace"], 2),
        ("queue_length", "pods", ["exported_pod", "exported_namespace"], 2),
    ]


async def test_how_far_a_query_spreads_and_why_no_further(look: Look) -> None:
    [one] = (await look(CLEAN))["rules"]

    assert [(metric["spread"], metric["reason"]) for metric in one["matched"]["metrics"]] == [
        ("cluster", ""),
        ("namespace", "the result does not keep exported_namespace"),
    ]


async def test_labels_of_the_workload_that_are_there_and_unused(look: Look) -> None:
    document = await look(TEMPLATE)

    assert [line.partition(":")[0] for line in faults(document)] == ["resources", "resources"]
    assert [line.partition(": ")[2].partition(" ")[0] for line in faults(document)] == [
        "exported_namespace",
        "exported_pod",
    ]


async def test_a_label_that_no_series_carries_and_the_one_they_carry(look: Look) -> None:
    text = rule('DCGM_FI_DEV_GPU_UTIL{exported_pod!=""}', CLEAN.partition("metricsQuery: ")[2])
    document = await look(
        text.replace("{overrides: {", "{overrides: {hostname: {resource: node}, ")
    )

    cures = {one["fault"]: one["cure"] for one in document["findings"]}
    assert cures["no series carries hostname"] == (
        "they carry Hostname: write Hostname: {resource: node}"
    )


async def test_one_of_two_labels_for_a_kind_may_be_missing(look: Look) -> None:
    text = CLEAN.replace("{overrides: {", "{overrides: {pod_name: {resource: pod}, ")
    document = await look(text)

    assert [one["severity"] for one in document["findings"] if "pod_name" in one["key"]] == ["note"]


@pytest.mark.parametrize(
    ("series", "fault"),
    [
        ("nope", "there is no series nope now"),
        (
            'queue_length{exported_pod!="",site="a"}',
            'none of the series queue_length has site="a": they carry exported_namespace, ',
        ),
        ('{job="nope",exported_pod!=""}', 'of all series none has job="nope"'),
        ('queue_length{exported_namespace="ml",exported_pod="x"}', "none of the series"),
        ('queue_length{exported_namespace="web",instance!=""} ', None),
    ],
)
async def test_why_nothing_matches(look: Look, series: str, fault: str | None) -> None:
    document = await look(rule(series, "max(x{<<.LabelMatchers>>}) by (<<.GroupBy>>)"))

    nothing = [one["fault"] for one in document["findings"] if one["key"] == "seriesQuery"]
    assert [one.startswith(fault or "?") for one in nothing] == ([True] if fault else [])


async def test_several_series_of_one_object_are_told_with_what_becomes_of_them(look: Look) -> None:
    document = await look(
        rule('DCGM_FI_DEV_GPU_UTIL{exported_pod!=""}', "<<.Series>>{<<.LabelMatchers>>}")
    )

    [crowd] = [line for line in faults(document) if "series and is given" in line]
    assert crowd.endswith("GPU_UTIL on pods: llm-0 in ml has 2 series and is given their mean")


async def test_values_that_are_left_out_are_told_with_their_cause(look: Look) -> None:
    query = "max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
    nan = await look(rule('ratio{exported_pod!=""}', query))
    impossible = await look(rule('DCGM_FI_DEV_GPU_UTIL{exported_pod!=""}', query))

    assert faults(nan)[-1] == (
        "metricsQuery: ratio on pods: 1 of 2 samples are left out: its value is NaN"
    )
    assert "DCGM_FI_DEV_GPU_UTIL on pods: 1 of 2 samples are left out" in faults(impossible)[-1]


async def test_a_query_that_cannot_carry_its_objects_label(look: Look) -> None:
    query = 'label_replace(<<.Series>>{<<.LabelMatchers>>}, "exported_pod", "", "instance", ".*")'
    document = await look(rule('queue_length{exported_pod!=""}', query))

    assert "queue_length on pods: the result does not carry exported_pod" in " ".join(
        faults(document)
    )


@pytest.mark.parametrize(
    ("series", "query", "fault"),
    [
        ("queue_length", "rate(S[5m])", "rate takes queue_length for a counter, but it is a gauge"),
        ("jobs_total", "S", "jobs_total is a counter and is read as it stands: it only grows"),
        (
            "latency_seconds_count",
            "S",
            "latency_seconds_count is a counter and is read as it stands: it only grows",
        ),
        ("jobs_total", "rate(S[5m])", None),
        ("queue_length", "S", None),
    ],
)
async def test_counters_and_gauges_are_told_by_what_exporters_say(
    look: Look, series: str, query: str, fault: str | None
) -> None:
    inner = query.replace("S", "<<.Series>>{<<.LabelMatchers>>}")
    document = await look(rule(f'{series}{{exported_pod!=""}}', f"max({inner}) by (<<.GroupBy>>)"))

    assert faults(document) == ([f"metricsQuery: {fault}"] if fault else [])


async def test_a_window_shorter_than_two_scrapes(look: Look) -> None:
    query = "max(rate(<<.Series>>{<<.LabelMatchers>>}[1s])) by (<<.GroupBy>>)"
    document = await look(rule('jobs_total{exported_pod!=""}', query))

    assert "metricsQuery: a window of 1 s is shorter than two scrapes, which are 1 s apart" in (
        " ".join(faults(document))
    )


async def test_what_prometheus_refuses_is_an_error_in_its_own_words(look: Look) -> None:
    query = "max(no_such(<<.Series>>{<<.LabelMatchers>>})) by (<<.GroupBy>>)"
    document = await look(rule('queue_length{exported_pod!=""}', query))

    [line] = told(document, "error")
    assert 'parse error: unknown function with name "no_such"' in line


@pytest.mark.parametrize(
    ("naming", "fault"),
    [
        ('{as: "a/b"}', "every name has / in it"),
        ('{matches: "(x?)", as: "$1"}', "it gives no name for queue_length"),
        ("{matches: ^nope$}", "the series queue_length are found and none of them is taken"),
    ],
)
async def test_names_that_no_hpa_takes_and_names_that_come_to_nothing(
    look: Look, naming: str, fault: str
) -> None:
    query = "max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
    document = await look(rule('queue_length{exported_pod!=""}', query, f"name: {naming}"))

    assert [line.partition(": ")[2] for line in faults(document)] == [fault]


async def test_several_series_under_one_constant_name_are_withheld(look: Look) -> None:
    query = "max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
    series = '{__name__=~"queue_length|ratio",exported_pod!=""}'
    document = await look(rule(series, query, "name: {as: one}"))

    assert faults(document) == [
        f"name.as: one on {kind} is withheld: the series queue_length, ratio would all be named so"
        for kind in ("namespaces", "pods")
    ]


async def test_a_label_of_nodes_that_has_the_exporters_pod(look: Look) -> None:
    text = """
rules:
- seriesQuery: 'DCGM_FI_DEV_GPU_UTIL{Hostname!=""}'
  resources: {overrides: {Hostname: {resource: node}}}
  metricsQuery: <<.Series>>{<<.LabelMatchers>>}
"""
    lines = faults(await look(text))

    assert (
        "metricsQuery: DCGM_FI_DEV_GPU_UTIL on nodes: Hostname is exporter-a, the name of a pod,"
        " not of a node"
    ) in lines


async def test_a_query_that_does_not_spread_is_looked_at_for_one_object(look: Look) -> None:
    query = 'topk(5, <<.Series>>{pod="exporter-a",<<.LabelMatchers>>})'
    document = await look(rule('queue_length{exported_pod!=""}', query))

    [one] = document["rules"]
    assert [(metric["spread"], metric["objects"]) for metric in one["matched"]["metrics"]] == [
        ("request", 1),
        ("request", 1),
    ]
    assert one["matched"]["metrics"][1]["reason"] == (
        'it is not certain which labels topk(5, queue_length{pod="exporter-a"}) keeps'
    )


async def test_two_rules_for_one_metric_are_told_with_both_numbers(look: Look) -> None:
    document = await look(CLEAN + CLEAN.replace("rules:\n", ""))

    collisions = [one for one in document["findings"] if one["key"] == "name"]
    assert {one["rule"] for one in collisions} == {2}
    assert all("in place of" in one["fault"] and "rule 1" in one["fault"] for one in collisions)


async def test_the_charts_default_rules_are_shown_though_they_stand_in_no_file(
    prometheus_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [file] = write(tmp_path, values="rules: {default: true}\n")
    argv = ["check", f"--prometheus-url={prometheus_url}", file]
    await anyio.to_thread.run_sync(main, argv)

    out = capsys.readouterr().out
    assert "\nthe chart's default rules: " in out
    assert re.search(r"5 +\d+ every 1 s +jobs +", out), out


async def test_external_rules_are_looked_at(look: Look) -> None:
    text = """
externalRules:
- seriesQuery: jobs_total
  resources: {namespaced: false}
  metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>}[5m]))
- seriesQuery: queue_length
  resources: {overrides: {space: {resource: namespace}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>})
"""
    document = await look(text)

    [one, _] = document["rules"]
    assert [metric["objects"] for metric in one["matched"]["metrics"]] == [1]
    [line] = faults(document)
    assert line.startswith("externalRules.resources: no series carries space, the namespace")


async def test_resource_rules_are_looked_at(look: Look) -> None:
    part = """
    containerQuery: sum(queue_length{<<.LabelMatchers>>}) by (<<.GroupBy>>)
    nodeQuery: sum(nope{<<.LabelMatchers>>}) by (<<.GroupBy>>)
    containerLabel: container
    resources:
      overrides:
        exported_pod: {resource: pod}
        exported_namespace: {resource: namespace}
        instance: {resource: node}
"""
    document = await look(f"resourceRules:\n  cpu:{part}  memory:{part}")

    assert [
        [(metric["resource"], metric["objects"]) for metric in one["matched"]["metrics"]]
        for one in document["rules"]
    ] == [[("pods", 1), ("nodes", 0)]] * 2
    assert faults(document) == [
        f"resourceRules.{name}: {name} of nodes: the query gives nothing now"
        for name in ("cpu", "memory")
    ]
