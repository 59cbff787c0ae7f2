"""Which pods or nodes there are, and what they use of cpu and memory."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from adapter.api import reasons
from adapter.api.groups import Remembered
from adapter.api.refusing import in_time, refusing
from adapter.api.usage_question import UsageQuestion
from adapter.api.usage_wire import Amounts, Consumer
from adapter.engine.usage import Meter, Usage, UsageAsk, Use, meter_of
from adapter.errors import ApiError, ClusterDown, InternalError, NotFound
from adapter.model.kinds import NODES, PODS, Kinds
from adapter.model.objects import ObjectRef, Resource
from adapter.model.selector import Selector
from adapter.rules.resource_rules import ResourceRules

Labels = Mapping[str, str]
Known = Mapping[ObjectRef, Labels]
Meters = Sequence[Meter]


class Readings(Protocol):
    """Where values come from."""

    async def read(self, ask: UsageAsk) -> Usage:
        """Give a usage young enough; raises PrometheusDown or QueryRefused."""
        ...


class LabelledObjects(Protocol):
    """Which objects are there, with which labels."""

    async def labelled(self, resource: Resource, namespace: str, selector: Selector) -> Known:
        """Give the live objects that are selected, in order; raises ClusterDown."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """The objects of one namespace, and what was read of them, by the name of the resource."""

    names: tuple[str, ...]
    namespace: str
    usages: Mapping[str, Usage]

    def uses(self, ref: ObjectRef) -> dict[str, Use]:
        found = {name: usage.uses.get(ref) for name, usage in self.usages.items()}
        return {name: use for name, use in found.items() if use}


class Consumers:
    """Finds consumers; what they use is read from the board, both resources side by side."""

    def __init__(
        self,
        *,
        rules: Callable[[], ResourceRules | None],
        board: Readings,
        objects: LabelledObjects,
        kinds: Callable[[], Kinds],
    ) -> None:
        """Take the parts; `rules` and `kinds` are asked anew each time."""
        self._board = board
        self._objects = objects
        self._meters = Remembered(lambda: (rules(), kinds()), lambda given: _all_meters(*given))

    async def find(self, question: UsageQuestion) -> list[Consumer]:
        """Give the objects asked for that have both cpu and memory, by namespace and name.

        A namespace that cannot be read is left out of a list while another can. One object that
        is asked for by its name is there, or else NotFound is raised. Raises further ApiErrors:
        InternalError, ServiceUnavailable, DeadlineExceeded.
        """
        meters = self._meters()[question.resource.plural]
        if isinstance(meters, ApiError):
            raise question.refuse(type(meters), meters.message)
        async with in_time(question):
            known = await self._known(question)
            shares = await self._shares(question, meters, known)
        found = [one for share in shares for one in _consumers(share, known)]
        if question.name and not found:
            raise _missing(question, shares)
        return found

    async def _known(self, question: UsageQuestion) -> Known:
        try:
            known = await self._objects.labelled(
                question.resource, question.namespace, question.objects
            )
        except ClusterDown as error:
            reason = reasons.unlisted(question, str(error))
            raise question.refuse(InternalError, reason) from error
        return {ref: labels for ref, labels in known.items() if question.selects(ref)}

    async def _shares(
        self, question: UsageQuestion, meters: Meters, known: Known
    ) -> Sequence[_Share]:
        spaces = groupby(known, key=lambda ref: ref.namespace)
        reads = [
            self._share(question, meters, namespace, tuple(ref.name for ref in refs))
            for namespace, refs in spaces
        ]
        results = await asyncio.gather(*reads)
        shares = [result for result in results if isinstance(result, _Share)]
        if results and not shares:
            raise next(result for result in results if isinstance(result, ApiError))
        return shares

    async def _share(
        self, question: UsageQuestion, meters: Meters, namespace: str, names: tuple[str, ...]
    ) -> _Share | ApiError:
        reads = [self._read(question, UsageAsk(meter, namespace, names)) for meter in meters]
        try:
            usages = await asyncio.gather(*reads)
        except ApiError as error:
            return error
        by_name = {meter.rule.name: usage for meter, usage in zip(meters, usages, strict=True)}
        return _Share(names=names, namespace=namespace, usages=by_name)

    async def _read(self, question: UsageQuestion, ask: UsageAsk) -> Usage:
        with refusing(question, ask.meter.rule):
            return await self._board.read(ask)


def _consumers(share: _Share, known: Known) -> Iterator[Consumer]:
    for name in share.names:
        ref = ObjectRef(share.namespace, name)
        uses = share.uses(ref)
        if len(uses) == len(share.usages):
            yield Consumer(
                ref=ref,
                labels=known[ref],
                timestamp=min(use.timestamp for use in uses.values()),
                parts=_parts(uses),
            )


def _parts(uses: Mapping[str, Use]) -> Mapping[str, Amounts]:
    names = {part for use in uses.values() for part in use.containers}
    return {
        part: {name: use.containers[part] for name, use in uses.items() if part in use.containers}
        for part in names
    }


def _missing(question: UsageQuestion, shares: Sequence[_Share]) -> ApiError:
    if not shares:
        return question.unknown()
    ref = ObjectRef(question.namespace, question.name)
    for name, usage in shares[0].usages.items():
        if cause := usage.dropped.get(ref):
            return question.refuse(NotFound, reasons.use_dropped(name, cause))
    read = shares[0].uses(ref)
    lacking = [name for name in shares[0].usages if name not in read]
    return question.refuse(NotFound, reasons.no_use(lacking))


def _all_meters(rules: ResourceRules | None, kinds: Kinds) -> Mapping[str, Meters | ApiError]:
    return {kind.plural: _meters(rules, kind, kinds) for kind in (PODS, NODES)}


def _meters(rules: ResourceRules | None, kind: Resource, kinds: Kinds) -> Meters | ApiError:
    if rules is None:
        return NotFound(reasons.no_resource_rules())
    if rules.cpu is None or rules.memory is None:
        return InternalError(reasons.half_resource_rules("memory" if rules.cpu else "cpu"))
    try:
        return [meter_of(rule, kind, kinds) for rule in (rules.cpu, rules.memory)]
    except InternalError as error:
        return error
