"""Whether the result of a query can carry a label."""

import pytest

from adapter.rules.dropping import surely_drops
from adapter.rules.expressions import parse


@pytest.mark.parametrize(
    "query",
    [
        "sum(x)",
        "sum by (ns) (x)",
        "sum without (pod) (x)",
        "100 * sum(x)",
        "ceil(sum(rate(x[5m])))",
        "sum by (pod) (avg(x))",
        "sum(a) / sum(b)",
        "a / on (ns) b",
        "a / ignoring (pod) b",
        "max_over_time(sum(x)[5m:1m])",
        "histogram_quantile(0.9, sum by (le) (x))",
        "sum(a) or sum(b)",
        "sum(a) and b",
        "topk(1, sum(x))",
        "vector(1)",
        "clamp_max(sum(x), 5)",
    ],
)
def test_a_query_whose_result_cannot_carry_the_label(query: str) -> None:
    assert surely_drops(parse(query), "pod")


@pytest.mark.parametrize(
    "query",
    [
        "x",
        "sum by (pod) (x)",
        "sum without (gpu) (x)",
        "x * 2",
        "a / on (pod) b",
        "a / ignoring (ns) b",
        "a * on (ns) group_left (pod) b",
        "sum(a) * on () group_right b",
        "sum(a) or b",
        "b unless sum(a)",
        "topk(1, x)",
        'count_values("pod", x)',
        'label_replace(sum(x), "pod", "y", "", "")',
        "absent(x)",
        "histogram_quantile(0.9, sum by (le, pod) (x))",
        "a / scalar(sum(b))",
    ],
)
def test_a_query_whose_result_may_carry_it(query: str) -> None:
    assert not surely_drops(parse(query), "pod")
