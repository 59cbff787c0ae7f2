"""What pods and nodes use of cpu or memory, as the board reads it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adapter.engine.asking import unmade
from adapter.engine.causes import Cause, cause_of, words_of
from adapter.engine.labels import Binding
from adapter.engine.question import Alive, Answer, Evaluation, Scopes
from adapter.engine.reach import Reach, covered, reach_of
from adapter.errors import InternalError
from adapter.model.kinds import NAMESPACES, PODS, Kinds
from adapter.model.objects import ObjectRef, Resource, Sample
from adapter.rules.matchers import Matcher
from adapter.rules.promql import Spread, spread_of
from adapter.rules.resource_rules import ResourceRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """How one resource, cpu or memory, is read for pods or for nodes.

    `spread` tells how many objects one query may serve. Two meters are the same whatever else the
    cluster has in `kinds`.
    """

    rule: ResourceRule
    resource: Resource
    binding: Binding
    spread: Spread
    kinds: Kinds = field(compare=False, repr=False)

    @property
    def container_label(self) -> str:
        """Give the label that tells the parts of an object apart; nodes have none."""
        return self.rule.container_label if self.resource.namespaced else ""

    def render(self, matchers: Sequence[Matcher]) -> str:
        """Give the query that `matchers` limit; raises ValueError as the rule does."""
        return _render(self.rule, self.resource, matchers, self.kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What one object uses: cores or bytes by container; a node is one without a name.

    `timestamp` is the earliest of its samples, Unix seconds.
    """

    containers: Mapping[str, float]
    timestamp: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The outcome of one evaluation.

    `uses` are of finite, positive numbers or zeros. `dropped` has the objects whose every sample
    was left out, with the reason.
    """

    uses: Mapping[ObjectRef, Use]
    dropped: Mapping[ObjectRef, str]


@dataclass(frozen=True, slots=True)
class UsageAsk:
    """What one request wants: `names`, at least one; `namespace` is empty for nodes."""

    meter: Meter
    namespace: str
    names: tuple[str, ...]

    @property
    def question(self) -> "UsageQuestion":
        """Give the question that answers it and as many others as the rule allows."""
        return UsageQuestion(self.meter, reach_of(self.meter.spread, self.namespace, self.names))

    @property
    def scopes(self) -> frozenset[str]:
        """Give what a shared evaluation must cover to answer it; empty when it always does."""
        return covered(self.meter.spread, self.namespace, self.names)


@dataclass(frozen=True, slots=True)
class UsageQuestion:
    """What one evaluation says of the use of one resource."""

    meter: Meter
    reach: Reach

    @property
    def metric(self) -> str:
        """Give the resource's name and whose use it is: `cpu of pods`."""
        return f"{self.meter.rule.name} of {self.meter.resource.plural}"

    @property
    def source(self) -> str:
        """Give the rule with its place."""
        return str(self.meter.rule)

    def queries(self, scopes: Scopes) -> list[str]:
        """Give the only query; raises InternalError when the rule cannot be rendered."""
        rule = self.meter.rule
        try:
            return [self.meter.render(self.reach.limits(self.meter.binding, scopes))]
        except ValueError as error:
            raise unmade(f"{rule}: the query for {self.metric}", rule, error) from error

    def fold(self, evaluation: Evaluation) -> Answer[Usage]:
        """Give the use of each object, from samples that are of one that lives.

        Samples that name no object count for none. Those of a pod that name no container count
        only where no sample of the pod does: they are what its containers use together. Of several
        for one container the largest counts.
        """
        gathered = _Gathered()
        for sample in (sample for vector in evaluation.vectors for sample in vector):
            if ref := self._object_of(sample.labels):
                gathered.add(ref, self._part_of(sample.labels), sample, evaluation.alive)
        left_out = {cause.label: count for cause, count in gathered.counts.items()}
        return Answer(reading=gathered.usage(), left_out=left_out)

    def _object_of(self, labels: Mapping[str, str]) -> ObjectRef | None:
        binding = self.meter.binding
        name = labels.get(binding.object_label)
        if not name or (self.reach.names and name not in self.reach.names):
            return None
        if not binding.namespace_label:
            return ObjectRef("", name)
        home = self.reach.namespace or labels.get(binding.namespace_label)
        return ObjectRef(home, name) if home else None

    def _part_of(self, labels: Mapping[str, str]) -> str:
        return labels.get(self.meter.container_label, "") if self.meter.container_label else ""


def meter_of(rule: ResourceRule, resource: Resource, kinds: Kinds) -> Meter:
    """Give how `rule` reads the use of pods or nodes, `resource`.

    Raises InternalError when no label of the rule means them.
    """
    try:
        label = rule.label_of(resource, kinds)
        home = rule.label_of(NAMESPACES, kinds) if resource.namespaced else ""
    except ValueError as error:
        raise InternalError(str(error)) from error
    template = rule.container_query if resource.namespaced else rule.node_query
    kept = (label, rule.container_label) if resource.namespaced else (label,)
    return Meter(
        rule=rule,
        resource=resource,
        binding=Binding(label, home),
        spread=spread_of(
            template, lambda matchers: _render(rule, resource, matchers, kinds), kept, home
        ),
        kinds=kinds,
    )


def _render(
    rule: ResourceRule, resource: Resource, matchers: Sequence[Matcher], kinds: Kinds
) -> str:
    render = rule.render_containers if resource.qualified == PODS.qualified else rule.render_nodes
    return render(matchers, kinds)


@dataclass(slots=True, kw_only=True)
class _Gathered:
    parts: dict[ObjectRef, dict[str, float]] = field(default_factory=dict)
    times: dict[ObjectRef, float] = field(default_factory=dict)
    faults: dict[ObjectRef, Cause] = field(default_factory=dict)
    counts: Counter[Cause] = field(default_factory=Counter)

    def add(self, ref: ObjectRef, part: str, sample: Sample, alive: Alive) -> None:
        if fault := _fault(ref, sample, alive):
            self.counts[fault] += 1
            self.faults[ref] = min(fault, self.faults.get(ref, fault))
            return
        parts = self.parts.setdefault(ref, {})
        parts[part] = max(sample.value, parts.get(part, sample.value))
        self.times[ref] = min(sample.timestamp, self.times.get(ref, sample.timestamp))

    def usage(self) -> Usage:
        uses = {
            ref: Use(containers=_without_whole(parts), timestamp=self.times[ref])
            for ref, parts in self.parts.items()
        }
        faults = self.faults.items()
        dropped = {ref: words_of(cause) for ref, cause in faults if ref not in uses}
        return Usage(uses=uses, dropped=dropped)


def _fault(ref: ObjectRef, sample: Sample, alive: Alive) -> Cause | None:
    if ref.namespace and not alive(ref, sample.labels):
        return Cause.NOT_ALIVE
    return cause_of(sample.value) or (Cause.NEGATIVE if sample.value < 0 else None)


def _without_whole(parts: Mapping[str, float]) -> Mapping[str, float]:
    return {part: value for part, value in parts.items() if part or len(parts) == 1}
