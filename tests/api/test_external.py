"""external.metrics.k8s.io: routes, shapes, and what is answered when there is no value."""

from collections.abc import Mapping

import pytest

from adapter.engine.external import ExternalOffer, ExternalValue
from adapter.engine.external_metrics import ExternalCatalogue
from adapter.errors import InternalError, PrometheusDown, QueryRefused
from tests.api.world import World, client, message
from tests.engine.test_external import external_rule

pytestmark = pytest.mark.anyio

ROOT = "/apis/external.metrics.k8s.io/v1beta1"
PATH = f"{ROOT}/namespaces/shop/queue_lag"
BEGIN = "the server could not find the metric queue_lag for namespaces: "
OFFER = ExternalOffer(metric="queue_lag", rule=external_rule(), series="queue_lag")


def value(amount: float, labels: Mapping[str, str] | None) -> ExternalValue:
    """Give a value of a time with a fraction."""
    return ExternalValue(labels=labels, value=amount, timestamp=1_764_556_200.9)


def world(*values: ExternalValue, failure: Exception | None = None) -> World:
    """Give a world with one external metric."""
    made = World(externals=ExternalCatalogue([OFFER]))
    made.external_board.values = values
    made.external_board.failure = failure
    return made


async def test_the_answer_is_exactly_what_clients_know() -> None:
    answer = await world(value(12.5, {"__name__": "queue_lag", "name": "q1"})).get(PATH)
    assert answer.headers["content-type"] == "application/json"
    assert answer.text == (
        '{"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1",'
        '"metadata":{},"items":[{"metricName":"queue_lag","metricLabels":{"__name__":"queue_lag",'
        '"name":"q1"},"timestamp":"2025-12-01T02:30:00Z","value":"12500m"}]}\n'
    )


async def test_a_plain_number_has_null_for_labels() -> None:
    answer = await world(value(1000, None)).get(PATH)
    (item,) = answer.json()["items"]
    assert (item["metricLabels"], item["value"]) == (None, "1k")


async def test_no_value_is_an_empty_list() -> None:
    answer = await world().get(PATH)
    assert (answer.status_code, answer.json()["items"]) == (200, [])


async def test_the_board_is_asked_for_the_namespace_and_the_selector() -> None:
    one = world()
    await one.get(f"{PATH}?labelSelector=topic%3Dorders")
    (ask,) = one.external_board.asked
    assert (ask.offer, ask.namespace, str(ask.selector)) == (OFFER, "shop", "topic=orders")


async def test_an_unknown_metric_is_not_found() -> None:
    answer = await world().get(f"{ROOT}/namespaces/shop/other")
    assert answer.status_code == 404
    assert message(answer) == (
        "the server could not find the metric other for namespaces: no external rule offers a "
        "metric of this name, or Prometheus has no series for it"
    )


async def test_a_rule_that_is_not_discovered_is_named() -> None:
    one = World(externals=ExternalCatalogue([], [external_rule()]))
    answer = await one.get(PATH)
    assert message(answer).endswith("and discovery fails for external rule 1 (rules.yaml:3)")


async def test_before_the_first_discovery_nothing_is_denied() -> None:
    answer = await World(discovered=False).get(PATH)
    assert (answer.status_code, message(answer)) == (
        503,
        f"{BEGIN}Prometheus has not answered discovery yet",
    )


async def test_a_metric_that_is_withheld_says_why() -> None:
    withheld = ExternalOffer(
        metric="queue_lag", rule=external_rule(), series="a", withheld="two series"
    )
    answer = await World(externals=ExternalCatalogue([withheld])).get(PATH)
    assert answer.status_code == 500
    assert message(answer) == (
        f"{BEGIN}external rule 1 (rules.yaml:3) gives it no single meaning: two series"
    )


@pytest.mark.parametrize(
    ("failure", "code", "reason"),
    [
        (PrometheusDown("refused"), 503, "Prometheus gives no answer in namespace shop: refused"),
        (
            QueryRefused("bad_data: 1:5"),
            500,
            (
                "Prometheus refuses the query of external rule 1 (rules.yaml:3) in namespace shop: "
                "bad_data: 1:5"
            ),
        ),
        (InternalError("rule 1: no label"), 500, "rule 1: no label"),
    ],
)
async def test_what_the_board_says_is_told(failure: Exception, code: int, reason: str) -> None:
    answer = await world(failure=failure).get(PATH)
    assert (answer.status_code, message(answer)) == (code, BEGIN + reason)


@pytest.mark.parametrize("selector", ["a%3D%3D%3D", "a>1", "app.kubernetes.io/name=x", "a%20in"])
async def test_a_selector_that_cannot_be_asked_is_a_bad_request(selector: str) -> None:
    answer = await world().get(f"{PATH}?labelSelector={selector}")
    assert answer.status_code == 400
    assert message(answer).startswith("labelSelector: ")


@pytest.mark.parametrize(
    "path",
    [f"{ROOT}/queue_lag", f"{ROOT}/namespaces/shop", f"{PATH}/more", f"{ROOT}/namespaces/shop/"],
)
async def test_other_paths_lead_nowhere(path: str) -> None:
    answer = await world().get(path)
    assert (answer.status_code, message(answer)) == (
        404,
        "the server could not find the requested resource",
    )


@pytest.mark.parametrize("word", ["true", "1"])
async def test_changes_are_not_told(word: str) -> None:
    assert (await world().get(f"{PATH}?watch={word}")).status_code == 405
    assert (await world().get(f"{PATH}?watch=false")).status_code == 200


async def test_other_methods_are_refused() -> None:
    async with client(world()) as asking:
        assert (await asking.post(PATH)).status_code == 405
        assert (await asking.head(PATH)).status_code == 200


@pytest.mark.parametrize(
    ("accept", "code"),
    [
        ("application/json", 200),
        ("application/vnd.kubernetes.protobuf, */*", 200),
        ("application/vnd.kubernetes.protobuf", 406),
    ],
)
async def test_the_answer_is_json_for_whoever_reads_it(accept: str, code: int) -> None:
    assert (await world().get(PATH, accept=accept)).status_code == code


async def test_a_slow_answer_is_given_up_in_time() -> None:
    answer = await world(failure=TimeoutError()).get(f"{PATH}?timeout=3s")
    assert (answer.status_code, message(answer)) == (
        504,
        f"{BEGIN}no answer in namespace shop within 3 seconds",
    )


async def test_the_resource_list_has_each_metric_by_its_name() -> None:
    listed = (await world().get(ROOT)).json()
    assert listed == {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "external.metrics.k8s.io/v1beta1",
        "resources": [
            {
                "name": "queue_lag",
                "singularName": "",
                "namespaced": True,
                "kind": "ExternalMetricValueList",
                "verbs": ["get"],
            }
        ],
    }


async def test_without_rules_the_documents_are_answered_all_the_same() -> None:
    async with client(World()) as asking:
        listed = await asking.get(ROOT)
        group = await asking.get("/apis/external.metrics.k8s.io")
    assert [each["name"] for each in listed.json()["resources"]] == ["externalmetrics"]
    assert group.json()["preferredVersion"] == {
        "groupVersion": "external.metrics.k8s.io/v1beta1",
        "version": "v1beta1",
    }


async def test_a_name_that_no_path_can_carry_is_not_listed() -> None:
    odd = ExternalOffer(metric="a/b", rule=external_rule(), series="a")
    listed = (await World(externals=ExternalCatalogue([odd, OFFER])).get(ROOT)).json()
    assert [each["name"] for each in listed["resources"]] == ["queue_lag"]


async def test_the_aggregated_document_has_metrics_as_resources() -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    told = (await world().get("/apis", accept=accept)).json()
    (group,) = [each for each in told["items"] if each["metadata"]["name"] == ROOT.split("/")[2]]
    assert group["versions"] == [
        {
            "version": "v1beta1",
            "resources": [
                {
                    "resource": "queue_lag",
                    "responseKind": {
                        "group": "external.metrics.k8s.io",
                        "version": "v1beta1",
                        "kind": "ExternalMetricValueList",
                    },
                    "scope": "Namespaced",
                    "singularResource": "",
                    "verbs": ["get"],
                }
            ],
            "freshness": "Current",
        }
    ]
