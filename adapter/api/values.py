"""Answers about values: which metric, which objects, what Prometheus says of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from adapter.api import reasons
from adapter.api.question import EVERY, Question
from adapter.api.refusing import in_time, refusing
from adapter.api.wire import Frame, MetricValueList
from adapter.engine.asking import Ask
from adapter.engine.catalogue import Catalogue, Offer
from adapter.engine.reading import Reading
from adapter.errors import ApiError, ClusterDown, InternalError, NotFound, ServiceUnavailable
from adapter.model.kinds import NAMESPACES, Kinds
from adapter.model.objects import ObjectRef, Resource
from adapter.model.quantity import quantity
from adapter.model.selector import Selector
from adapter.sources.errors import ConnectionLost


class Readings(Protocol):
    """Where values come from."""

    async def read(self, ask: Ask) -> Reading:
        """Give a reading young enough; raises PrometheusDown or QueryRefused."""
        ...


class LiveObjects(Protocol):
    """Which objects are there."""

    async def select(
        self, resource: Resource, namespace: str, selector: Selector
    ) -> list[ObjectRef]:
        """Give the live objects that are selected, in order; raises ClusterDown."""
        ...

    async def exists(self, resource: Resource, ref: ObjectRef) -> bool:
        """Tell whether the object lives; raises ClusterDown."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """What a question turned out to mean; it has no namespace left for cluster-scoped kinds."""

    question: Question
    offer: Offer

    def refuse(self, kind: type[ApiError], reason: str) -> ApiError:
        return self.question.refuse(kind, reason)


class Values:
    """Answers questions about values from what is in memory, and from Prometheus behind it."""

    def __init__(
        self,
        *,
        catalogue: Callable[[], Catalogue],
        board: Readings,
        objects: LiveObjects,
        kinds: Callable[[], Kinds],
        discovered: Callable[[], bool] = lambda: True,
    ) -> None:
        """Take the parts; `discovered` tells whether Prometheus has ever answered discovery."""
        self._catalogue = catalogue
        self._board = board
        self._objects = objects
        self._kinds = kinds
        self._discovered = discovered

    async def answer(self, question: Question) -> MetricValueList:
        """Give the list of values, in the order of the objects; it may be empty for `*`.

        Raises an ApiError whose message begins with the words clients know and goes on with the
        reason: NotFound, InternalError, ServiceUnavailable or DeadlineExceeded.
        """
        target = self._target(question)
        async with in_time(question):
            return await self._answer(target)

    async def _answer(self, target: _Target) -> MetricValueList:
        if target.question.name == EVERY:
            return await self._about_selected(target)
        return await self._about_named(target)

    def _target(self, question: Question) -> _Target:
        resource = self._kinds().find_qualified(question.word)
        if resource is None:
            raise question.refuse(NotFound, reasons.unknown_kind(question))
        if reason := _misplaced(question, resource):
            raise question.refuse(NotFound, reason)
        offer = self._catalogue().find(resource, question.metric)
        if offer is None:
            raise self._not_offered(question)
        if offer.withheld:
            raise question.refuse(InternalError, reasons.withheld(offer.rule, offer.withheld))
        home = question.namespace if resource.namespaced else ""
        return _Target(question=replace(question, namespace=home), offer=offer)

    def _not_offered(self, question: Question) -> ApiError:
        if not self._discovered():
            return question.refuse(ServiceUnavailable, reasons.undiscovered())
        reason = reasons.not_offered(question, self._catalogue())
        return question.refuse(NotFound, reason)

    async def _about_selected(self, target: _Target) -> MetricValueList:
        refs = await self._selected(target)
        if not refs:
            reason = reasons.none_selected(target.question, target.offer.resource)
            raise target.refuse(NotFound, reason)
        reading = await self._read(target, refs)
        values = list(_spelt(reading, refs))
        if not values and reading.unlabelled and not reading.dropped:
            raise target.refuse(InternalError, reasons.unlabelled(target.offer))
        return _frame(target, reading).around(values)

    async def _about_named(self, target: _Target) -> MetricValueList:
        question = target.question
        ref = ObjectRef(question.namespace, question.name)
        if not await self._lives(target, ref):
            raise target.refuse(NotFound, reasons.not_alive(question, target.offer.resource))
        reading = await self._read(target, [ref])
        values = list(_spelt(reading, [ref]))
        if not values:
            raise target.refuse(NotFound, _why_missing(target, reading, ref))
        return _frame(target, reading).around(values)

    async def _selected(self, target: _Target) -> list[ObjectRef]:
        question, resource = target.question, target.offer.resource
        try:
            return await self._objects.select(resource, question.namespace, question.objects)
        except ClusterDown as error:
            raise _unlisted(target, error) from error

    async def _lives(self, target: _Target, ref: ObjectRef) -> bool:
        try:
            return await self._objects.exists(target.offer.resource, ref)
        except ClusterDown:
            # Not known is not dead: kinds that we may not list, and any while the cluster is
            # silent, are answered by their series alone, as the incumbent answers always.
            return True

    async def _read(self, target: _Target, refs: list[ObjectRef]) -> Reading:
        question, offer = target.question, target.offer
        reading = await self._read_offer(question, offer, refs)
        for beside in offer.beside:
            if lacking := [ref for ref in refs if reading.lacks(ref)]:
                reading = reading.filled(await self._read_offer(question, beside, lacking))
        return reading

    async def _read_offer(self, question: Question, offer: Offer, refs: list[ObjectRef]) -> Reading:
        names = tuple(ref.name for ref in refs)
        with refusing(question, offer.rule):
            return await self._board.read(Ask(offer, question.namespace, names, question.series))


def _unlisted(target: _Target, error: ClusterDown) -> ApiError:
    # Addresses and the client library's own words are for the log.
    silent = isinstance(error, ConnectionLost)
    cause = "kube-apiserver does not answer" if silent else str(error)
    return target.refuse(InternalError, reasons.unlisted(target.question, cause))


def _misplaced(question: Question, resource: Resource) -> str | None:
    """Say why the path does not reach the kind, None when it does.

    Rights are given by namespace, so a namespaced path tells nothing of other namespaces and does
    not list what lives in none; one such object by its name is what the HPA asks for a node.
    """
    if not question.namespace:
        return reasons.needs_namespace(resource) if resource.namespaced else None
    if resource.namespaced:
        return None
    if question.name == EVERY:
        return reasons.outside(resource)
    if resource.qualified == NAMESPACES.qualified and question.name != question.namespace:
        return reasons.other_namespace(question)
    return None


def _spelt(reading: Reading, refs: Iterable[ObjectRef]) -> Iterator[tuple[ObjectRef, str]]:
    for ref in refs:
        value = reading.values.get(ref)
        if value is not None:
            yield ref, quantity(value)


def _why_missing(target: _Target, reading: Reading, ref: ObjectRef) -> str:
    cause = reading.dropped.get(ref)
    if cause is None:
        return reasons.no_sample(target.question, target.offer)
    return reasons.dropped(target.question, target.offer, cause)


def _frame(target: _Target, reading: Reading) -> Frame:
    return Frame(
        version=target.question.version,
        metric=target.question.metric,
        selector=target.question.series,
        resource=target.offer.resource,
        timestamp=reading.timestamp,
        window=reading.window,
    )
