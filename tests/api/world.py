"""A small cluster and what is known of its GPUs, behind the seams of the API."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import httpx
from fastapi import FastAPI
from starlette.middleware import Middleware

from adapter.api.apis import Api, custom_api, external_api, usage_api
from adapter.api.app import create_app
from adapter.api.consumers import Consumers
from adapter.api.external import ExternalValues
from adapter.api.health import Health
from adapter.api.values import Values
from adapter.engine.asking import Ask
from adapter.engine.board import Board
from adapter.engine.catalogue import Catalogue, Offer
from adapter.engine.external import ExternalAsk, ExternalValue
from adapter.engine.external_metrics import ExternalCatalogue
from adapter.engine.labels import Binding
from adapter.engine.reading import Reading
from adapter.engine.usage import Usage, UsageAsk
from adapter.model.kinds import NAMESPACES, NODES, PODS, SERVICES, Kinds
from adapter.model.objects import ObjectRef, Resource
from adapter.model.selector import Selector
from adapter.rules.dcgm import builtin_rules
from adapter.rules.promql import Spread
from adapter.rules.resource_rules import ResourceRules
from adapter.telemetry import Telemetry

P1 = "/apis/custom.metrics.k8s.io/v1beta1"
P2 = "/apis/custom.metrics.k8s.io/v1beta2"
SERIES = "DCGM_FI_DEV_GPU_UTIL"
RULE = replace(builtin_rules()[0], number=1, file="rules.yaml", line=3)

Labels = Mapping[str, str]


def ref(name: str, namespace: str = "ml") -> ObjectRef:
    """Name an object, by default one in namespace ml."""
    return ObjectRef(namespace, name)


def offer(resource: Resource, metric: str = "gpu_util", window: int | None = None) -> Offer:
    """Offer `metric` on a kind."""
    namespace = "exported_namespace" if resource.namespaced else ""
    return Offer(
        metric=metric,
        resource=resource,
        rule=RULE,
        series=SERIES,
        bindings=(Binding(f"exported_{resource.singular}", namespace),),
        spread=Spread.CLUSTER,
        window=window,
    )


@dataclass
class StillBoard:
    """Gives one reading to everybody, or one error; remembers what was asked."""

    values: dict[ObjectRef, float] = field(default_factory=dict)
    dropped: dict[ObjectRef, str] = field(default_factory=dict)
    timestamp: float = 0.0
    window: int | None = None
    unlabelled: int = 0
    failure: Exception | None = None
    asked: list[Ask] = field(default_factory=list)

    async def read(self, ask: Ask) -> Reading:
        """Give the reading whatever is asked."""
        self.asked.append(ask)
        if self.failure:
            raise self.failure
        return Reading(
            values=self.values,
            dropped=self.dropped,
            timestamp=self.timestamp,
            window=self.window,
            samples=len(self.values),
            unlabelled=self.unlabelled,
        )


@dataclass
class StillExternals:
    """Gives one external reading to everybody, or one error; remembers what was asked."""

    values: tuple[ExternalValue, ...] = ()
    failure: Exception | None = None
    asked: list[ExternalAsk] = field(default_factory=list)

    async def read(self, ask: ExternalAsk) -> tuple[ExternalValue, ...]:
        """Give the reading whatever is asked."""
        self.asked.append(ask)
        if self.failure:
            raise self.failure
        return self.values


@dataclass
class StillUsage:
    """Gives what each resource is used by, or an error by namespace; remembers what was asked."""

    usages: dict[str, Usage] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)
    asked: list[UsageAsk] = field(default_factory=list)

    async def read(self, ask: UsageAsk) -> Usage:
        """Give the reading of the resource."""
        self.asked.append(ask)
        if ask.namespace in self.failures:
            raise self.failures[ask.namespace]
        return self.usages.get(ask.meter.rule.name, Usage(uses={}, dropped={}))


@dataclass
class StillObjects:
    """Objects by kind, with their labels."""

    known: dict[str, dict[ObjectRef, Labels]]
    failure: Exception | None = None

    async def select(
        self, resource: Resource, namespace: str, selector: Selector
    ) -> list[ObjectRef]:
        """Give those that are selected, by namespace and name."""
        return list(await self.labelled(resource, namespace, selector))

    async def labelled(
        self, resource: Resource, namespace: str, selector: Selector
    ) -> dict[ObjectRef, Labels]:
        """Give the same with their labels."""
        self._fail()
        known = self.known.get(resource.plural, {})
        return {
            one: known[one]
            for one in sorted(known, key=lambda one: (one.namespace, one.name))
            if selector.matches(known[one]) and namespace in {"", one.namespace}
        }

    async def exists(self, resource: Resource, ref: ObjectRef) -> bool:
        """Tell whether it is known."""
        self._fail()
        return ref in self.known.get(resource.plural, {})

    def _fail(self) -> None:
        if self.failure:
            raise self.failure


def _cluster() -> dict[str, dict[ObjectRef, Labels]]:
    return {
        "pods": {
            ref("llm-1"): {"app": "llm"},
            ref("llm-0"): {"app": "llm"},
            ref("web-0"): {"app": "web"},
            ref("llm-0", "other"): {"app": "llm"},
        },
        "services": {ref("llm"): {}},
        "nodes": {ref("gpu-a", ""): {"zone": "a"}, ref("gpu-b", ""): {"zone": "b"}},
        "namespaces": {ref("ml", ""): {}, ref("other", ""): {}},
    }


@dataclass
class World:
    """Everything behind the API; change it before asking."""

    board: StillBoard = field(default_factory=StillBoard)
    real_board: Board | None = None
    objects: StillObjects = field(default_factory=lambda: StillObjects(_cluster()))
    catalogue: Catalogue = field(
        default_factory=lambda: Catalogue(map(offer, (PODS, NODES, NAMESPACES, SERVICES)))
    )
    externals: ExternalCatalogue = field(default_factory=ExternalCatalogue)
    external_board: StillExternals = field(default_factory=StillExternals)
    resource_rules: ResourceRules | None = None
    usage_board: StillUsage = field(default_factory=StillUsage)
    kinds: Kinds = field(default_factory=Kinds)
    discovered: bool = True
    ready: bool = True
    telemetry: Telemetry = field(default_factory=Telemetry)
    middleware: list[Middleware] = field(default_factory=list)

    def app(self) -> FastAPI:
        """Give the application over this world."""
        values = Values(
            catalogue=lambda: self.catalogue,
            board=self.real_board or self.board,
            objects=self.objects,
            kinds=lambda: self.kinds,
            discovered=lambda: self.discovered,
        )
        health = Health(
            live={"loop": lambda: True},
            ready={"pods": lambda: self.ready, "shutdown": lambda: True},
        )
        return create_app(
            apis=[
                custom_api(values, lambda: self.catalogue),
                self._external(),
                usage_api(self._consumers(), lambda: self.resource_rules),
            ],
            health=health,
            telemetry=self.telemetry,
            version="0.1.0",
            middleware=self.middleware,
        )

    def _external(self) -> Api:
        values = ExternalValues(
            catalogue=lambda: self.externals,
            board=self.real_board or self.external_board,
            kinds=lambda: self.kinds,
            discovered=lambda: self.discovered,
        )
        return external_api(values, lambda: self.externals, lambda: bool(self.externals.offers))

    def _consumers(self) -> Consumers:
        return Consumers(
            rules=lambda: self.resource_rules,
            board=self.real_board or self.usage_board,
            objects=self.objects,
            kinds=lambda: self.kinds,
        )

    async def get(self, path: str, **headers: str) -> httpx.Response:
        """Ask once; underscores in the names of headers are dashes."""
        async with client(self) as asking:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return await asking.get(path, headers=named)


@asynccontextmanager
async def client(world: World) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client that reaches the application without a wire, and sends no Accept header."""
    transport = httpx.ASGITransport(world.app())
    async with httpx.AsyncClient(transport=transport, base_url="https://adapter") as asking:
        del asking.headers["accept"]
        yield asking


def message(response: httpx.Response) -> str:
    """Give the message of the Status, after a look that it is one."""
    body = response.json()
    assert (body["kind"], body["code"]) == ("Status", response.status_code)
    return str(body["message"])


def values_of(response: httpx.Response) -> dict[str, str]:
    """Give the values by the names of their objects."""
    assert response.status_code == 200, response.text
    return {item["describedObject"]["name"]: item["value"] for item in response.json()["items"]}
