"""Why there is no value, in words for people: one line, stable, without addresses or times.

A user reads them in `kubectl describe hpa`, behind the words that say what was not found.
"""

from collections.abc import Iterable
from typing import Protocol

from adapter.api.question import Question
from adapter.engine.catalogue import Catalogue, Offer
from adapter.model.kinds import PODS
from adapter.model.objects import Resource


class Placed(Protocol):
    """A question of any kind."""

    @property
    def place(self) -> str:
        """Give ` in namespace NS`, nothing for what has none."""
        ...

    @property
    def deadline(self) -> float:
        """Give the seconds that there were."""
        ...


def unknown_kind(question: Question) -> str:
    """Say that the word in the path means no kind."""
    return f"the cluster has no kind named {question.word}"


def not_offered(question: Question, catalogue: Catalogue) -> str:
    """Say that no rule gives the metric, or on which kinds it is offered instead."""
    kinds = [o.resource.qualified for o in catalogue.offers if o.metric == question.metric]
    if kinds:
        return f"it is offered for {_several(kinds)} only"
    return _unknown(f"no rule offers a metric of this name{question.place}", catalogue.failed)


def no_external_rule(failed: Iterable[object]) -> str:
    """Say that no external rule gives the metric; `failed` are those that are not discovered."""
    return _unknown("no external rule offers a metric of this name", failed)


def withheld(rule: object, cause: str) -> str:
    """Say why a metric that a rule gives is not served."""
    return f"{rule_place(rule)} gives it no single meaning: {cause}"


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


def no_use(resources: Iterable[str]) -> str:
    """Say that Prometheus has nothing about the use of an object that is there."""
    return f"Prometheus has no sample of its {' and '.join(resources)}"


def use_dropped(resource: str, cause: str) -> str:
    """Say why the sample that is there does not count as use."""
    return f"the sample of its {resource} is left out: {cause}"


def no_resource_rules() -> str:
    """Say that nobody said how use is asked for."""
    return "the rules have no resourceRules"


def half_resource_rules(lacking: str) -> str:
    """Say that one of the two rules is not there."""
    return f"resourceRules has no rule for {lacking}, and an answer needs both"


def unlabelled(offer: Offer) -> str:
    """Say that the query lost the label that tells the objects apart, and how to keep it."""
    labels = _several(binding.object_label for binding in offer.bindings)
    place = rule_place(offer.rule)
    return f"the answer to {place} lacks label {labels}, aggregate by (<<.GroupBy>>) to keep it"


def unlisted(question: Placed, cause: str) -> str:
    """Say that the API server does not tell which objects there are."""
    return f"unable to list matching resources{question.place}: {cause}"


def refused(question: Placed, rule: object, cause: str) -> str:
    """Give Prometheus's own words about a query that it does not accept."""
    return f"Prometheus refuses the query of {rule_place(rule)}{question.place}: {cause}"


def silent(question: Placed, cause: str) -> str:
    """Say that Prometheus does not answer."""
    return f"Prometheus gives no answer{question.place}: {cause}"


def late(question: Placed) -> str:
    """Say that the deadline passed."""
    return f"no answer{question.place} within {question.deadline:g} seconds"


def rule_place(rule: object) -> str:
    """Say which rule it is and where it stands; `rule` reads `PLACE: NAME` as text."""
    place, _, name = str(rule).rpartition(": ")
    return f"{name} ({place})"


def _unknown(told: str, failed: Iterable[object]) -> str:
    places = _several(map(rule_place, failed))
    if not places:
        return f"{told}, or Prometheus has no series for it"
    return f"{told}, and discovery fails for {places}"


def _several(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))
