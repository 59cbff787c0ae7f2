"""A small cluster and what is known of its GPUs, behind the seams of the API."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import httpx
from fastapi import FastAPI
from starlette.middleware import Middleware

from adapter.api.app import create_app
from adapter.api.health import Health
from adapter.api.values import Values
from adapter.engine.asking import Ask
from adapter.engine.board import Board
from adapter.engine.catalogue import Catalogue, Offer
from adapter.engine.labels import Binding
from adapter.engine.reading import Reading
from adapter.model.kinds import NAMESPACES, NODES, PODS, SERVICES, Kinds
from adapter.model.objects import ObjectRef, Resource
from adapter.model.selector import Selector
from adapter.rules.dcgm import builtin_rules
from adapter.rules.promql import Spread
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
class StillObjects:
    """Objects by kind, with their labels."""

    known: dict[str, dict[ObjectRef, Labels]]
    failure: Exception | None = None

    async def select(
        self, resource: Resource, namespace: str, selector: Selector
    ) -> list[ObjectRef]:
        """Give those that are selected, by namespace and name."""
        self._fail()
        found = [
            one
            for one, labels in self.known.get(resource.plural, {}).items()
            if selector.matches(labels) and namespace in {"", one.namespace}
        ]
        return sorted(found, key=lambda one: (one.namespace, one.name))

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
            values=values,
            catalogue=lambda: self.catalogue,
            health=health,
            telemetry=self.telemetry,
            version="0.1.0",
            middleware=self.middleware,
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
