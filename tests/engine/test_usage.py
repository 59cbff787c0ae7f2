"""What pods and nodes use: which queries are asked, and what samples come to."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from adapter.engine.question import Answer, Evaluation
from adapter.engine.usage import Meter, Usage, UsageAsk, Use, meter_of
from adapter.errors import InternalError
from adapter.model.kinds import BUILT_IN, NODES, PODS, Kinds
from adapter.model.objects import ObjectRef, Resource, Sample
from adapter.rules.promql import Spread
from adapter.rules.resource_rules import ResourceRule
from adapter.rules.rule import Override
from adapter.rules.template import parse
from tests.engine.parts import (
    FakePrometheus,
    ManualClock,
    everyone,
    pod_ref,
    running,
    sample,
)

CPU = "sum by (<<.GroupBy>>) (rate(cpu_seconds_total{<<.LabelMatchers>>}[1m]))"
NODE_CPU = "sum by (<<.GroupBy>>) (rate(node_cpu_seconds_total{<<.LabelMatchers>>}[1m]))"
LABELS = (("namespace", "", "namespace"), ("pod", "", "pod"), ("instance", "", "node"))


def use_rule(
    containers: str = CPU, *, name: str = "cpu", overrides: tuple[Override, ...] = LABELS
) -> ResourceRule:
    """Give a rule of cpu by `pod` and `container`, and of nodes by `instance`."""
    return ResourceRule(
        name=name,
        file="rules.yaml",
        line=2,
        overrides=overrides,
        container_query=parse(containers),
        node_query=parse(NODE_CPU),
        container_label="container",
    )


def meter(rule: ResourceRule | None = None, resource: Resource = PODS) -> Meter:
    """Give the meter of pods or nodes by a rule."""
    return meter_of(rule or use_rule(), resource, Kinds())


def queries(one: Meter, *names: str, namespace: str = "ml") -> list[str]:
    """Give what is asked when nobody else has asked."""
    return UsageAsk(one, namespace, names).question.queries(frozenset({namespace}))


def folded(
    *samples: Sample,
    of: Meter | None = None,
    namespace: str = "ml",
    names: tuple[str, ...] = ("llm-0",),
) -> Answer[Usage]:
    """Fold samples of one query."""
    question = UsageAsk(of or meter(), namespace, names).question
    return question.fold(Evaluation(vectors=[samples], sent=0.0, alive=everyone))


def use(
    value: float, container: str = "main", pod: str = "llm-0", timestamp: float = 10.0
) -> Sample:
    """Give a sample of a container."""
    return sample(value, {"pod": pod, "container": container}, timestamp)


def test_pods_of_a_namespace_are_asked_for_together() -> None:
    assert queries(meter(), "llm-0", "llm-1") == [
        'sum by (pod,container) (rate(cpu_seconds_total{namespace="ml",pod!=""}[1m]))'
    ]


def test_two_who_ask_about_a_namespace_share_the_question() -> None:
    one, other = (UsageAsk(meter(), "ml", (name,)) for name in ("llm-0", "web-0"))
    # Each meter has a rule of its own here, and rules are the same only as one object.
    assert one.question != other.question
    shared = meter()
    one, other = (UsageAsk(shared, "ml", (name,)) for name in ("llm-0", "web-0"))
    assert one.question == other.question


def test_a_meter_stays_the_same_when_the_cluster_gets_further_kinds() -> None:
    rule, further = use_rule(), replace(PODS, group="example.com", plural="gpus", singular="gpu")
    grown = Kinds([*BUILT_IN, further])
    assert meter_of(rule, PODS, Kinds()) == meter_of(rule, PODS, grown)


@pytest.mark.parametrize(
    ("names", "limit"), [(("llm-0",), 'pod="llm-0"'), (("llm-0", "llm-1"), 'pod=~"llm-0|llm-1"')]
)
def test_what_does_not_spread_is_asked_exactly_as_the_incumbent_asks(
    names: tuple[str, ...], limit: str
) -> None:
    one = meter(use_rule("topk(9, cpu{<<.LabelMatchers>>}) by (<<.GroupBy>>)"))
    assert queries(one, *names) == [f'topk(9, cpu{{namespace="ml",{limit}}}) by (pod,container)']


def test_a_query_that_keeps_the_namespace_too_serves_the_cluster() -> None:
    one = meter(use_rule("cpu_usage{<<.LabelMatchers>>}"))
    ask = UsageAsk(one, "ml", ("llm-0",))
    assert (one.spread, ask.scopes) == (Spread.CLUSTER, frozenset({"ml"}))
    assert ask.question.queries(frozenset({"ml", "dev"})) == [
        'cpu_usage{namespace=~"dev|ml",pod!=""}'
    ]


def test_a_query_that_loses_the_containers_is_asked_for_alone() -> None:
    one = meter(use_rule("sum by (pod) (cpu{<<.LabelMatchers>>})"))
    assert one.spread is Spread.REQUEST


def test_nodes_are_asked_for_by_their_label() -> None:
    ask = UsageAsk(meter(resource=NODES), "", ("gpu-a", "gpu-b"))
    assert ask.question.queries(ask.scopes) == [
        'sum by (instance) (rate(node_cpu_seconds_total{instance=~"gpu-a|gpu-b"}[1m]))'
    ]


def test_containers_are_told_apart() -> None:
    answer = folded(use(0.25), use(0.5, "proxy"))
    assert answer.reading.uses == {
        pod_ref("llm-0"): Use(containers={"main": 0.25, "proxy": 0.5}, timestamp=10.0)
    }


def test_a_pods_time_is_the_earliest_of_its_samples() -> None:
    """The table of the incumbent: 10, 10 and 270 ms."""
    answer = folded(use(1, timestamp=20), use(1, "proxy", timestamp=10), use(1, pod="b"))
    assert answer.reading.uses[pod_ref("llm-0")].timestamp == 10
    assert answer.reading.uses[pod_ref("b")].timestamp == 10


@pytest.mark.parametrize(
    ("value", "cause", "words"),
    [
        (math.nan, "nan", "its value is NaN"),
        (math.inf, "infinite", "its value is infinite"),
        (-math.inf, "infinite", "its value is infinite"),
        (-0.5, "negative", "its value is negative"),
        (9.3e15, "too_large", "its value is larger than a quantity can hold"),
    ],
)
def test_what_cannot_be_use_is_left_out_and_counted(value: float, cause: str, words: str) -> None:
    answer = folded(use(value), use(0.5, pod="b"))
    assert answer.left_out == {cause: 1}
    assert answer.reading.dropped == {pod_ref("llm-0"): words}
    assert list(answer.reading.uses) == [pod_ref("b")]


def test_a_pod_with_one_good_container_is_not_dropped() -> None:
    answer = folded(use(math.nan), use(0.5, "proxy"))
    assert answer.reading.uses[pod_ref("llm-0")].containers == {"proxy": 0.5}
    assert answer.reading.dropped == {}


def test_zero_is_use() -> None:
    assert folded(use(0.0)).reading.uses[pod_ref("llm-0")].containers == {"main": 0.0}


def test_the_whole_of_a_pod_counts_only_without_its_parts() -> None:
    """cAdvisor also tells of the pod's own control group, without a container."""
    whole = sample(0.8, {"pod": "llm-0"}, 10.0)
    assert folded(whole, use(0.25)).reading.uses[pod_ref("llm-0")].containers == {"main": 0.25}
    assert folded(whole).reading.uses[pod_ref("llm-0")].containers == {"": 0.8}


def test_of_several_for_one_container_the_largest_counts() -> None:
    copy = sample(0.75, {"pod": "llm-0", "container": "main", "replica": "b"}, 10.0)
    assert folded(copy, use(0.25)).reading.uses[pod_ref("llm-0")].containers == {"main": 0.75}


def test_what_names_no_object_counts_for_none() -> None:
    assert folded(sample(1.0, {"container": "main"})).reading.uses == {}


def test_a_pod_that_does_not_live_uses_nothing() -> None:
    def nobody(ref: ObjectRef, labels: Mapping[str, str]) -> bool:
        return False

    question = UsageAsk(meter(), "ml", ("llm-0",)).question
    answer = question.fold(Evaluation(vectors=[[use(1)]], sent=0.0, alive=nobody))
    assert (answer.reading.uses, answer.left_out) == ({}, {"not_alive": 1})


def test_a_node_has_one_part_whatever_its_samples_say() -> None:
    nodes = meter(resource=NODES)
    sampled = sample(1.5, {"instance": "gpu-a", "container": "x"}, 12.0)
    answer = folded(sampled, of=nodes, namespace="", names=("gpu-a",))
    assert answer.reading.uses == {ObjectRef("", "gpu-a"): Use(containers={"": 1.5}, timestamp=12)}


def test_whether_a_pod_lives_says_nothing_of_a_node() -> None:
    def nobody(ref: ObjectRef, labels: Mapping[str, str]) -> bool:
        return False

    question = UsageAsk(meter(resource=NODES), "", ("gpu-a",)).question
    vector = [sample(1.5, {"instance": "gpu-a"})]
    answer = question.fold(Evaluation(vectors=[vector], sent=0.0, alive=nobody))
    assert list(answer.reading.uses) == [ObjectRef("", "gpu-a")]


def test_samples_of_pods_that_were_not_asked_for_alone_are_left_aside() -> None:
    one = meter(use_rule("topk(9, cpu{<<.LabelMatchers>>}) by (<<.GroupBy>>)"))
    assert list(folded(use(1), use(1, pod="b"), of=one).reading.uses) == [pod_ref("llm-0")]


@pytest.mark.parametrize(
    ("lacking", "resource"), [("namespaces", PODS), ("pods", PODS), ("nodes", NODES)]
)
def test_a_rule_without_the_label_is_named(lacking: str, resource: Resource) -> None:
    kept = tuple(one for one in LABELS if f"{one[2]}s" != lacking)
    with pytest.raises(InternalError, match=f"resourceRules.cpu: no label means {lacking}"):
        meter(use_rule(overrides=kept), resource)


def test_a_rule_that_gives_no_query_is_named() -> None:
    with pytest.raises(
        InternalError, match=r"resourceRules\.cpu: the query for cpu of pods cannot"
    ):
        queries(meter(use_rule("<<- /* nothing */ ->>")), "llm-0")


@pytest.mark.anyio
async def test_use_is_read_from_the_board_as_everything_is() -> None:
    """Asked again within the freshness, by whomever, it costs no further query."""
    clock = ManualClock()
    prometheus, shared = FakePrometheus(clock, use(0.25), use(0.5, pod="llm-1")), meter()
    async with running(prometheus, clock) as board:
        first = await board.read(UsageAsk(shared, "ml", ("llm-0",)))
        assert await board.read(UsageAsk(shared, "ml", ("llm-1",))) is first
    assert len(prometheus.queries) == 1
    assert list(first.uses) == [pod_ref("llm-0"), pod_ref("llm-1")]
