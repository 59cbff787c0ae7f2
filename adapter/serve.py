"""The composition root: makes each part, hands it what it needs, runs all, stops in reverse."""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import uvicorn
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from adapter.api.apis import Api, custom_api, external_api, usage_api
from adapter.api.app import create_app
from adapter.api.consumers import Consumers
from adapter.api.external import ExternalValues
from adapter.api.gate import Gate
from adapter.api.health import Check, Health, Note
from adapter.api.server import http_server, listening
from adapter.api.values import Values
from adapter.engine.board import Board
from adapter.engine.catalogue import Catalogue, Offer
from adapter.engine.clock import SystemClock
from adapter.engine.discovery import Discovery
from adapter.engine.external import ExternalOffer
from adapter.engine.external_metrics import ExternalCatalogue, ExternalMetrics
from adapter.engine.life import Life
from adapter.engine.object_metrics import ObjectMetrics
from adapter.engine.reload import Reload
from adapter.model.identity import FrontProxy
from adapter.rules.config import RulesFile
from adapter.rules.external import ExternalRule
from adapter.rules.rule import Rule
from adapter.security.authentication import Authenticator
from adapter.security.authorization import Authorizer, at_its_scope
from adapter.security.front_proxy import front_proxy_of
from adapter.security.tls import ServingCertificate
from adapter.settings import AuthenticationSettings, Settings
from adapter.sources.front_proxy import FrontProxyWatch
from adapter.sources.kinds import KindsRefresh
from adapter.sources.kube import KubeApi
from adapter.sources.objects import Objects
from adapter.sources.pods import PodWatch
from adapter.sources.prometheus import Prometheus
from adapter.sources.reviews import Reviews
from adapter.sources.rule_files import RuleFiles
from adapter.telemetry import Telemetry

NAME = "gpu-metrics-adapter"
_PAUSE_AFTER_FAULT = 1.0
_KINDS_EVERY = 60.0
_log = logging.getLogger(__name__)

Loop = Callable[[], Awaitable[None]]


async def serve(settings: Settings, rules: RulesFile, files: RuleFiles | None = None) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight.

    `rules` are served first, then whatever `files` turn into; without any they stay. Raises
    InputError when a file or address that the settings name cannot be used.
    """
    async with AsyncExitStack() as stack:
        server = await _compose(stack, _with_url(settings, rules), rules, files)
        sockets = [listening(settings.serving)]
        with _stopping() as stop:
            async with asyncio.TaskGroup() as tasks:
                running = [tasks.create_task(_kept_up(n, run)) for n, run in server.loops.items()]
                serving = tasks.create_task(server.http.serve(sockets))
                _log.info("serving", extra={"port": sockets[0].getsockname()[1]})
                await stop.wait()
                server.stopping.set()
                _log.info("stopping", extra={"delay": settings.serving.shutdown_delay})
                await asyncio.sleep(settings.serving.shutdown_delay)
                server.http.should_exit = True
                await serving
                for task in running:
                    task.cancel()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Composed:
    http: uvicorn.Server
    loops: Mapping[str, Loop]
    stopping: asyncio.Event


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    pods: PodWatch
    kinds: KindsRefresh
    objects: Objects
    proxies: FrontProxyWatch
    tokens: Reviews
    access: Reviews


@dataclass(slots=True, kw_only=True)
class _Engine:
    discovery: Discovery[Rule, Offer, Catalogue]
    externals: Discovery[ExternalRule, ExternalOffer, ExternalCatalogue]
    board: Board
    rules: RulesFile

    def use(self, rules: RulesFile) -> None:
        self.rules = rules
        self.discovery.use(rules.rules)
        self.externals.use(rules.external_rules)


async def _compose(
    stack: AsyncExitStack, settings: Settings, rules: RulesFile, files: RuleFiles | None
) -> _Composed:
    telemetry, stopping = Telemetry(), asyncio.Event()
    cluster = await _cluster(stack, settings, telemetry)
    believed = _believed(settings.authentication, cluster.proxies)
    certificate = ServingCertificate(settings.serving, believed)
    engine = _engine(stack, settings, rules, cluster, telemetry)
    reload = Reload(files, engine.use, telemetry, SystemClock()) if files else None
    checks: dict[str, Check] = {
        "serving-certificate": lambda: certificate.loaded,
        "requestheader": lambda: _proxies_known(settings.authentication, cluster.proxies),
        "pods": lambda: cluster.pods.inventory.synced,
        "discovery": lambda: engine.discovery.settled and engine.externals.settled,
        # A file that is refused harms nothing that is served: told in a note, never unready.
        "config": lambda: True,
        "shutdown": lambda: not stopping.is_set(),
    }
    gate = Middleware(
        Gate,
        Authenticator(believed, cluster.tokens, ttl=settings.authentication.token_ttl),
        Authorizer(cluster.access, settings.authorization),
        settings.authorization.always_allow_paths,
        scoped=lambda access: at_its_scope(access, cluster.kinds.current),
    )
    notes: dict[str, Note] = {"config": lambda: reload.refused} if reload else {}
    app = _app(cluster, engine, telemetry, Health(live={}, ready=checks, notes=notes), gate)
    loops = {
        "kinds": cluster.kinds.run,
        "pods": cluster.pods.run,
        "discovery": engine.discovery.run,
        "external-discovery": engine.externals.run,
        "board": engine.board.run,
        **({"config": reload.run} if reload else {}),
        **({} if settings.authentication.skip_lookup else {"front-proxy": cluster.proxies.run}),
    }
    return _Composed(http=http_server(app, certificate), loops=loops, stopping=stopping)


async def _cluster(stack: AsyncExitStack, settings: Settings, telemetry: Telemetry) -> _Cluster:
    common = settings.lister_kubeconfig
    lister = await _connected(stack, common)
    judge = await _connected(stack, settings.authentication.kubeconfig or common)
    arbiter = await _connected(stack, settings.authorization.kubeconfig or common)
    pods = PodWatch(lister, telemetry)
    return _Cluster(
        pods=pods,
        kinds=KindsRefresh(lister, _KINDS_EVERY),
        objects=Objects(lister, pods.inventory),
        proxies=FrontProxyWatch(judge),
        tokens=Reviews(judge, telemetry),
        access=Reviews(arbiter, telemetry),
    )


async def _connected(stack: AsyncExitStack, kubeconfig: Path | None) -> KubeApi:
    api = await KubeApi.connect(kubeconfig)
    stack.push_async_callback(api.aclose)
    return api


def _engine(
    stack: AsyncExitStack,
    settings: Settings,
    rules: RulesFile,
    cluster: _Cluster,
    telemetry: Telemetry,
) -> _Engine:
    prometheus, clock = Prometheus(settings.prometheus, telemetry), SystemClock()
    stack.push_async_callback(prometheus.aclose)
    inventory = cluster.pods.inventory
    life = Life(
        pod=inventory.get,
        node_names=lambda: inventory.node_names,
        synced=lambda: inventory.synced,
    )
    parts = (lambda: cluster.kinds.current, settings.discovery, telemetry, clock)
    return _Engine(
        discovery=Discovery(ObjectMetrics(), rules.rules, prometheus, *parts),
        externals=Discovery(ExternalMetrics(), rules.external_rules, prometheus, *parts),
        board=Board(
            prometheus, settings.reading, telemetry, clock, life.alive, is_exporter=life.is_exporter
        ),
        rules=rules,
    )


def _app(
    cluster: _Cluster, engine: _Engine, telemetry: Telemetry, health: Health, gate: Middleware
) -> ASGIApp:
    return create_app(
        apis=[_custom(cluster, engine), _external(cluster, engine), _usage(cluster, engine)],
        health=health,
        telemetry=telemetry,
        version=version(NAME),
        middleware=[gate],
    )


def _custom(cluster: _Cluster, engine: _Engine) -> Api:
    values = Values(
        catalogue=lambda: engine.discovery.catalogue,
        board=engine.board,
        objects=cluster.objects,
        kinds=lambda: cluster.kinds.current,
        discovered=lambda: engine.discovery.succeeded,
    )
    return custom_api(values, lambda: engine.discovery.catalogue)


def _external(cluster: _Cluster, engine: _Engine) -> Api:
    values = ExternalValues(
        catalogue=lambda: engine.externals.catalogue,
        board=engine.board,
        kinds=lambda: cluster.kinds.current,
        discovered=lambda: engine.externals.succeeded,
    )
    return external_api(
        values, lambda: engine.externals.catalogue, lambda: bool(engine.rules.external_rules)
    )


def _usage(cluster: _Cluster, engine: _Engine) -> Api:
    consumers = Consumers(
        rules=lambda: engine.rules.resource_rules,
        board=engine.board,
        objects=cluster.objects,
        kinds=lambda: cluster.kinds.current,
    )
    return usage_api(consumers, lambda: engine.rules.resource_rules)


def _believed(
    settings: AuthenticationSettings, proxies: FrontProxyWatch
) -> Callable[[], FrontProxy | None]:
    """Give whose word counts: the flags' when they name an authority, else the cluster's."""
    told = front_proxy_of(settings)
    return (lambda: proxies.current) if told is None else (lambda: told)


def _proxies_known(settings: AuthenticationSettings, proxies: FrontProxyWatch) -> bool:
    told = settings.requestheader_ca_file is not None or settings.skip_lookup
    return told or settings.tolerate_lookup_failure or proxies.read


def _with_url(settings: Settings, rules: RulesFile) -> Settings:
    """Take Prometheus's address from Helm values, unless a flag gives one."""
    if settings.prometheus_url_given or rules.prometheus_url is None:
        return settings
    return replace(settings, prometheus=replace(settings.prometheus, url=rules.prometheus_url))


@contextmanager
def _stopping() -> Iterator[asyncio.Event]:
    """Give an event that SIGTERM and SIGINT set; a second signal ends the process at once."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def ask() -> None:
        if stop.is_set():
            os._exit(1)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ask)
    try:
        yield stop
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _kept_up(name: str, run: Loop) -> None:
    """Run a loop for ever: a fault that nobody foresaw is logged, and it starts again."""
    while True:
        try:
            await run()
        except Exception:  # noqa: BLE001  (nothing else stops working)
            _log.exception("loop failed", extra={"loop": name})
        await asyncio.sleep(_PAUSE_AFTER_FAULT)
