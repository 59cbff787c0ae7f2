"""Why there is no value, in words for people: one line, stable, without addresses or times.

A user reads them in `kubectl describe hpa`, behind the words that say what was not found.
"""

from collections.abc import Iterable

from adapter.api.question import Question
from adapter.engine.catalogue import Catalogue, Offer
from adapter.model.kinds import PODS
from adapter.model.objects import Resource
from adapter.rules.rule import Rule


def unknown_kind(question: Question) -> str:
    """Say that the word in the path means no kind."""
    return f"the cluster has no kind named {question.word}"


def not_offered(question: Question, catalogue: Catalogue) -> str:
    """Say that no rule gives the metric, or on which kinds it is offered instead."""
    kinds = [o.resource.qualified for o in catalogue.offers if o.metric == question.metric]
    if kinds:
        return f"it is offered for {_several(kinds)} only"
    told = f"no rule offers a metric of this name{question.place}"
    if not catalogue.failed:
        return f"{told}, or Prometheus has no series for it"
    return f"{told}, and discovery fails for {_several(map(rule_place, catalogue.failed))}"


def undiscovered() -> str:
    """Say that nothing is known yet, so that nothing can be denied either."""
    return "Prometheus has not answered discovery yet"


def needs_namespace(resource: Resource) -> str:
    """Say that objects of this kind are asked for in their namespace."""
    return f"{resource.plural} live in namespaces, ask namespaces/NAMESPACE/{resource.plural}"


def outside(resource: Resource) -> str:
    """Say that a namespaced path reaches one object of a cluster-scoped kind, by its name."""
    return f"{resource.plural} live in no namespace, ask for one by name or without a namespace"


def other_namespace(question: Question) -> str:
    """Say that a path in one namespace does not reach another."""
    return f"a path{question.place} tells of that namespace only"


def none_selected(question: Question, resource: Resource) -> str:
    """Say that no object is there to have a value."""
    live = "live " if resource == PODS else ""
    told = f"no {live}{resource.singular}{question.place}"
    return f"{told} matches {question.objects}" if question.objects else f"there is {told}"


def not_alive(question: Question, resource: Resource) -> str:
    """Say that the object named is not there."""
    ended = " or has ended" if resource == PODS else ""
    return f"{resource.singular} {question.name}{question.place} does not exist{ended}"


def no_sample(question: Question, offer: Offer) -> str:
    """Say that Prometheus has nothing about an object that is there."""
    asked = f" with {question.series}" if question.series else ""
    found = f"Prometheus has no sample of {offer.series}{asked}"
    return f"{found} for {offer.resource.singular} {question.name}{question.place}"


def dropped(question: Question, offer: Offer, cause: str) -> str:
    """Say why the sample that is there is not a value."""
    whose = f"{offer.resource.singular} {question.name}{question.place}"
    return f"the sample of {offer.series} for {whose} is left out: {cause}"


def unlabelled(offer: Offer) -> str:
    """Say that the query lost the label that tells the objects apart, and how to keep it."""
    labels = _several(binding.object_label for binding in offer.bindings)
    place = rule_place(offer.rule)
    return f"the answer to {place} lacks label {labels}, aggregate by (<<.GroupBy>>) to keep it"


def unlisted(question: Question, cause: str) -> str:
    """Say that the API server does not tell which objects there are."""
    return f"unable to list matching resources{question.place}: {cause}"


def refused(question: Question, offer: Offer, cause: str) -> str:
    """Give Prometheus's own words about a query that it does not accept."""
    return f"Prometheus refuses the query of {rule_place(offer.rule)}{question.place}: {cause}"


def silent(question: Question, cause: str) -> str:
    """Say that Prometheus does not answer."""
    return f"Prometheus gives no answer{question.place}: {cause}"


def late(question: Question) -> str:
    """Say that the deadline passed."""
    return f"no answer{question.place} within {question.deadline:g} seconds"


def rule_place(rule: Rule) -> str:
    """Say which rule it is and where it stands."""
    line = f":{rule.line}" if rule.line else ""
    return f"rule {rule.number} ({rule.file}{line})"


def _several(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))
