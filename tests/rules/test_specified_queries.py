"""For generated rules and requests: the query asked is the one that the specification gives.

What is expected is put together here from the specification's words alone: one matcher for each
requirement of the selector by key, then the namespace's, then the objects'; the label of a kind is
the last override to it that the series carries, or the template's; the name is the expansion.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapter.engine.asking import Ask
from adapter.engine.catalogue import Offer, offers_of
from adapter.model.kinds import Kinds
from adapter.model.selector import parse
from adapter.rules.config import load
from adapter.rules.promql import Spread

_THOROUGH = settings(
    max_examples=200, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
_KINDS = Kinds()
# Word in the rule, plural in the path, whether objects live in namespaces.
_OBJECTS = (
    ("pod", "pods", True),
    ("service", "services", True),
    ("deployment", "deployments.apps", True),
    ("job", "jobs.batch", True),
    ("node", "nodes", False),
    ("persistentvolume", "persistentvolumes", False),
    ("namespace", "namespaces", False),
)
_WORDS = {"deployment": ("apps", "Deployments"), "job": ("batch", "jobs"), "pod": ("", "pods")}
_NAMES = ("a", "web-0", "train-1", "gpu-a.example", "0")
_SERIES = ("http_requests_total", "queue_length", "vllm:num_requests", "my_seconds_total")
# `matches`, `as`, and the name that the specification gives.
_NAMINGS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("", "", lambda series: series),
    ("^(.*)_total$", "", lambda series: series.removesuffix("_total")),
    (
        "^(.*)_total",
        "${1}_per_second",
        lambda series: f"{series.removesuffix('_total')}_per_second",
    ),
    ("e", "$0", lambda _: "e"),
    ("(?P<head>[a-z]+)[_:]", "x_${head}_$$", lambda series: f"x_{re.split('[_:]', series)[0]}_$"),
    ("", "constant", lambda _: "constant"),
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a template is filled with."""

    series: str
    matchers: str
    values: Mapping[str, str]
    label: str


# A query and what it becomes; LABEL is a label of the object asked for.
_QUERIES: tuple[tuple[str, Callable[[Asked], str]], ...] = (
    ("<<.Series>>{<<.LabelMatchers>>}", lambda one: f"{one.series}{{{one.matchers}}}"),
    (
        'sum(rate(<<.Series>>{<<.LabelMatchers>>,container!="POD"}[5m])) by (<<.GroupBy>>)',
        lambda one: (
            f'sum(rate({one.series}{{{one.matchers},container!="POD"}}[5m])) by ({one.label})'
        ),
    ),
    (
        "<<- /* all */ ->> max( <<- .Series ->> {<<.LabelMatchers>>}) by (<<index .GroupBySlice 0>>)",
        lambda one: f"max({one.series}{{{one.matchers}}}) by ({one.label})",
    ),
    (
        '<<.Series>>{<<range $k, $v := .LabelValuesByName>><<$k>>=~"<<$v>>",<<end>>}',
        lambda one: (
            one.series
            + "{"
            + "".join(f'{key}=~"{one.values[key]}",' for key in sorted(one.values))
            + "}"
        ),
    ),
    (
        (
            '<<if eq .GroupBy "pod">>avg<<else>>sum<<end>>(<<.Series>>{<<.LabelMatchers>>}) '
            "by (<<range $i, $l := .GroupBySlice>><<if $i>>,<<end>><<$l>><<end>>)"
        ),
        lambda one: (
            f"{'avg' if one.label == 'pod' else 'sum'}({one.series}{{{one.matchers}}}) "
            f"by ({one.label})"
        ),
    ),
    (
        '<<printf "%s{%s}" .Series .LabelMatchers>> * <<len .GroupBySlice>>',
        lambda one: f"{one.series}{{{one.matchers}}} * 1",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A file of one rule, the labels of its series, a request, and what follows."""

    text: str
    series: str
    labels: frozenset[str]
    metric: str
    resource: str
    namespace: str
    names: tuple[str, ...]
    selector: str
    query: str


@st.composite
def selectors(draw: st.DrawFn) -> tuple[str, list[tuple[str, str, str]]]:
    """Give a selector and, for each key, (key, matcher, value in LabelValuesByName)."""
    keys = draw(st.lists(st.sampled_from(["b", "a1", "Model", "x_y"]), unique=True, max_size=3))
    parts, matchers = [], []
    for key in keys:
        values = draw(st.lists(st.sampled_from(["v1", "v0", "x"]), unique=True, min_size=1))
        ordered = "|".join(sorted(values))
        forms = [
            (f"{key}={values[0]}", f'{key}="{values[0]}"', values[0]),
            (f"{key}!={values[0]}", f'{key}!="{values[0]}"', values[0]),
            (f"{key} in ({','.join(values)})", f'{key}=~"{ordered}"', ordered),
            (f"{key} notin ({','.join(values)})", f'{key}!~"{ordered}"', ordered),
            (key, f'{key}!=""', ""),
            (f"!{key}", f'{key}=""', ""),
        ]
        part, matcher, value = draw(st.sampled_from(forms))
        parts.append(part)
        matchers.append((key, matcher, value))
    return ",".join(parts), sorted(matchers)


@st.composite
def labelled(draw: st.DrawFn) -> tuple[dict[str, object], dict[str, str]]:
    """Give a section `resources` and the label of each word that the series carries."""
    words = [word for word, _, _ in _OBJECTS]
    if draw(st.booleans()):
        template = draw(st.sampled_from(["<<.Resource>>", "kube_<<.Resource>>"]))
        return {"template": template}, {
            word: template.replace("<<.Resource>>", word) for word in words
        }
    order = draw(st.permutations(words))
    overrides: dict[str, object] = {}
    labels: dict[str, str] = {}
    for word in order:
        for prefix in ("", "exported_")[: 2 if word == "pod" and draw(st.booleans()) else 1]:
            group, spelled = _WORDS.get(word, ("", word))
            overrides[f"{prefix}{word}"] = {"group": group, "resource": spelled}
            labels[word] = f"{prefix}{word}"
    return {"overrides": overrides}, labels


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Give a rule and a request that it can answer."""
    resources, label_of = draw(labelled())
    matches, expansion, name_of = draw(st.sampled_from(_NAMINGS))
    fitting = [series for series in _SERIES if re.search(matches, series)]
    series = draw(st.sampled_from(fitting))
    query, becomes = draw(st.sampled_from(_QUERIES))
    word, plural, namespaced = draw(st.sampled_from(_OBJECTS))
    names = draw(st.lists(st.sampled_from(_NAMES), unique=True, min_size=1, max_size=3))
    selector, requirements = draw(selectors())
    label = label_of[word]
    several = "|".join(name.replace(".", r"\\.") for name in names)
    matchers = [
        *(matcher for _, matcher, _ in requirements),
        *([f'{label_of["namespace"]}="ml"'] if namespaced else []),
        f'{label}="{names[0]}"' if len(names) == 1 else f'{label}=~"{several}"',
    ]
    values = {key: value for key, _, value in requirements} | {label: "|".join(names)}
    asked = Asked(
        series=series,
        matchers=",".join(matchers),
        values=values | ({label_of["namespace"]: "ml"} if namespaced else {}),
        label=label,
    )
    rule = {
        "seriesQuery": '{job!=""}',
        "seriesFilters": draw(st.sampled_from([[], [{"is": "[a-z]"}], [{"isNot": "^none"}]])),
        "resources": resources,
        "name": {"matches": matches, "as": expansion},
        "metricsQuery": query,
    }
    return Case(
        text=json.dumps({"rules": [rule]}),
        series=series,
        labels=frozenset(label_of.values()) | {"pod", "UUID", "job"},
        metric=name_of(series),
        resource=plural,
        namespace="ml" if namespaced else "",
        names=tuple(names),
        selector=selector,
        query=becomes(asked),
    )


def offered(case: Case) -> Offer:
    """Give the offer that the request finds."""
    (rule,) = load(case.text, "rules.yaml").rules
    offers = offers_of(rule, dict.fromkeys(case.labels, frozenset({case.series})), _KINDS)
    (found,) = [
        one
        for one in offers
        if (one.resource.qualified, one.metric) == (case.resource, case.metric)
    ]
    return replace(found, spread=Spread.REQUEST)


@given(cases())
@_THOROUGH
def test_a_request_for_objects_leads_to_the_specified_query(case: Case) -> None:
    ask = Ask(offered(case), case.namespace, case.names, parse(case.selector))
    assert ask.question.queries(None)[0] == case.query


@st.composite
def external_cases(draw: st.DrawFn) -> Case:
    """Give an external rule and a request; its queries are not grouped."""
    label = draw(st.sampled_from([None, "namespace", "exported_namespace"]))
    namespaced = draw(st.booleans()) if label else False
    resources: dict[str, object] = {"namespaced": namespaced}
    if label == "namespace" and draw(st.booleans()):
        resources["template"] = "<<.Resource>>"
    elif label:
        first = {"kube_ns": {"resource": "namespaces"}} if draw(st.booleans()) else {}
        resources["overrides"] = {**first, label: {"resource": "namespace"}}
    series = draw(st.sampled_from(_SERIES))
    selector, requirements = draw(selectors())
    home = [f'{label}="ml"'] if namespaced else []
    matchers = ",".join([*(matcher for _, matcher, _ in requirements), *home])
    return Case(
        text=json.dumps(
            {
                "externalRules": [
                    {
                        "seriesQuery": series,
                        "resources": resources,
                        "metricsQuery": 'sum(<<.Series>>{x="<<.GroupBy>>",<<.LabelMatchers>>}) by ()',
                    }
                ]
            }
        ),
        series=series,
        labels=frozenset(),
        metric=series,
        resource="",
        namespace="ml",
        names=(),
        selector=selector,
        query=f'sum({series}{{x="",{matchers}}}) by ()',
    )


@given(external_cases())
@_THOROUGH
def test_a_request_for_an_external_metric_leads_to_the_specified_query(case: Case) -> None:
    (rule,) = load(case.text, "rules.yaml").external_rules
    assert rule.metric_name(case.series) == case.metric
    matchers = rule.matchers(case.namespace, parse(case.selector), _KINDS)
    assert rule.render(case.series, matchers) == case.query
