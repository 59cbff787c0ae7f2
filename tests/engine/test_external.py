"""External metrics: which queries are asked, and what samples come to."""

import math

import pytest

from adapter.engine.external import ExternalAsk, ExternalOffer, ExternalQuestion, ExternalValue
from adapter.engine.question import Evaluation
from adapter.errors import InternalError
from adapter.model.kinds import Kinds
from adapter.model.objects import Sample
from adapter.model.selector import parse as parse_selector
from adapter.rules.external import ExternalRule
from adapter.rules.naming import parse_naming
from adapter.rules.rule import Override
from adapter.rules.template import parse
from tests.engine.parts import FakePrometheus, ManualClock, everyone, running, sample

PLAIN = "<<.Series>>{<<.LabelMatchers>>}"
HOME = (("namespace", "", "namespace"),)
KINDS = Kinds()


def external_rule(
    query: str = PLAIN,
    *,
    series_query: str = "queue_lag",
    number: int = 1,
    namespaced: bool = True,
    overrides: tuple[Override, ...] = HOME,
    matches: str = "",
    name: str = "",
) -> ExternalRule:
    """Give a rule whose metrics are called like their series unless `name` is given."""
    return ExternalRule(
        number=number,
        file="rules.yaml",
        line=3,
        series_query=series_query,
        overrides=overrides,
        naming=parse_naming(matches, name),
        metrics_query=parse(query),
        namespaced=namespaced,
    )


def offer(rule: ExternalRule | None = None) -> ExternalOffer:
    """Give the offer of queue_lag."""
    return ExternalOffer(metric="queue_lag", rule=rule or external_rule(), series="queue_lag")


def question(one: ExternalOffer, selector: str = "", namespace: str = "shop") -> ExternalQuestion:
    """Give the question of a request."""
    return ExternalAsk(one, namespace, parse_selector(selector), KINDS).question


def values(*samples: Sample, query: str = PLAIN) -> tuple[ExternalValue, ...]:
    """Fold samples of one query."""
    asked = question(offer(external_rule(query)))
    return asked.fold(Evaluation(vectors=[samples], sent=0.0, alive=everyone)).reading


@pytest.mark.parametrize(
    ("selector", "query"),
    [
        ("", 'queue_lag{namespace="shop"}'),
        ("topic=orders", 'queue_lag{topic="orders",namespace="shop"}'),
        ("z=1,a in (x,y)", 'queue_lag{a=~"x|y",z="1",namespace="shop"}'),
        ("!dead", 'queue_lag{dead="",namespace="shop"}'),
    ],
)
def test_the_selector_comes_first_and_then_the_namespace(selector: str, query: str) -> None:
    assert question(offer(), selector).queries(frozenset()) == [query]


def test_what_is_not_namespaced_has_no_matcher_for_the_namespace() -> None:
    one = offer(external_rule(namespaced=False))
    assert question(one, "topic=orders").queries(None) == ['queue_lag{topic="orders"}']
    assert question(one, namespace="shop") == question(one, namespace="ml")


def test_requests_with_the_same_matchers_share_a_question() -> None:
    one = offer()
    assert question(one, "a=1") == question(one, "a=1")
    assert question(one, "a=1") != question(one, "a=2")
    assert question(one) != question(one, namespace="ml")


def test_group_by_is_empty() -> None:
    one = offer(external_rule("sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"))
    assert question(one).queries(None) == ['sum(queue_lag{namespace="shop"}) by ()']


def test_a_namespaced_rule_without_the_label_is_named() -> None:
    with pytest.raises(InternalError, match=r"external rule 1: no label means namespaces"):
        question(offer(external_rule(overrides=())))


def test_a_rule_that_gives_no_query_is_named() -> None:
    with pytest.raises(InternalError, match=r"external rule 1: the query for queue_lag cannot"):
        question(offer(external_rule("<<- /* nothing */ ->>"))).queries(None)


def test_each_sample_is_a_value_with_all_its_labels_and_its_own_time() -> None:
    labels = {"__name__": "queue_lag", "topic": "orders"}
    assert values(sample(12.5, labels, 100.0), sample(0, {"topic": "b"}, 101.0)) == (
        ExternalValue(labels=labels, value=12.5, timestamp=100.0),
        ExternalValue(labels={"topic": "b"}, value=0, timestamp=101.0),
    )


@pytest.mark.parametrize(
    ("value", "cause"),
    [(math.nan, "nan"), (math.inf, "infinite"), (-math.inf, "infinite"), (-9.3e15, "too_large")],
)
def test_what_no_quantity_holds_is_left_out_and_counted(value: float, cause: str) -> None:
    samples = [sample(value, {"topic": "a"}), sample(-1, {"topic": "b"})]
    answer = question(offer()).fold(Evaluation(vectors=[samples], sent=0.0, alive=everyone))
    assert answer.left_out == {cause: 1}
    assert [one.value for one in answer.reading] == [-1]


@pytest.mark.parametrize("query", ["scalar(sum(<<.Series>>{<<.LabelMatchers>>}))", "42"])
def test_a_plain_number_is_asked_for_as_a_vector_and_has_no_labels(query: str) -> None:
    (asked,) = question(offer(external_rule(query))).queries(None)
    assert asked.startswith("vector(")
    assert values(sample(7, {}), query=query)[0].labels is None


def test_a_vector_without_labels_is_no_plain_number() -> None:
    assert values(sample(7, {}), query="sum(<<.Series>>)")[0].labels == {}


def test_a_query_that_is_not_understood_here_is_asked_as_it_is() -> None:
    """The backend may have functions that Prometheus has not."""
    asked = question(offer(external_rule("no_such(<<.Series>>)"))).queries(None)
    assert asked == ["no_such(queue_lag)"]


@pytest.mark.anyio
async def test_external_metrics_are_read_from_the_board_as_everything_is() -> None:
    clock, one = ManualClock(), offer()
    prometheus = FakePrometheus(clock, sample(90, {"topic": "orders"}))
    ask = ExternalAsk(one, "shop", parse_selector(""), KINDS)
    async with running(prometheus, clock) as board:
        first = await board.read(ask)
        assert await board.read(ask) is first
        prometheus.samples = []
        await clock.advance(6)
        assert await board.read(ask) == ()
    assert len(prometheus.queries) == 2
