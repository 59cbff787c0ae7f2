"""The servers that take Prometheus's place, side by side, scraping the same pages."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapter.settings import PrometheusSettings
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry
from tests.cluster.binaries import (
    PROMETHEUS3,
    VICTORIA,
    ready_backend_program,
    ready_prometheus_program,
)
from tests.cluster.place import Place
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.victoriametrics import VictoriaMetricsServer

PROMETHEUS, VICTORIAMETRICS, PROMETHEUS_3 = "prometheus", "victoriametrics", "prometheus3"
BY_DEFAULT = f"{PROMETHEUS} {VICTORIAMETRICS}"
VARIABLE = "GMA_BACKENDS"
"""Names the backends to test, separated by spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """One of the servers; `url` shows what is newest, as a user would write it."""

    name: str
    server: PrometheusServer
    url: str

    def ask(self, **settings: object) -> Prometheus:
        """Give the adapter's own client; its caller closes it."""
        given = PrometheusSettings(**{"url": self.url, **settings})  # type: ignore[arg-type]  # each test names its own
        return Prometheus(given, Telemetry())


def names(environment: Mapping[str, str]) -> list[str]:
    """Give the names of the backends to test."""
    return (environment.get(VARIABLE) or BY_DEFAULT).split()


def server(name: str, folder: Path, targets: Sequence[Target]) -> PrometheusServer:
    """Make a server that is not started yet; raises MissingToolError when its program is not here."""
    place = Place.here()
    if name == VICTORIAMETRICS:
        program = ready_backend_program(VICTORIA, place)
        return VictoriaMetricsServer(program=program, folder=folder, targets=targets)
    if name == PROMETHEUS_3:
        program = ready_backend_program(PROMETHEUS3, place)
    else:
        program = ready_prometheus_program(place)
    return PrometheusServer(program=program, folder=folder, targets=targets)


def backend(name: str, running: PrometheusServer) -> Backend:
    """Take a running server as a backend."""
    fresh = isinstance(running, VictoriaMetricsServer)
    return Backend(
        name=name, server=running, url=f"{running.url}/?nocache=1" if fresh else running.url
    )


@dataclass(slots=True, kw_only=True)
class CutOffServer(PrometheusServer):
    """A Prometheus that shall read from a remote store too, which is not there."""

    def _write_config(self) -> None:
        # Not by super(): a class with slots is another than the one that its methods know.
        PrometheusServer._write_config(self)
        file = self.folder / "prometheus.json"
        remote = {"url": "http://127.0.0.1:1/read", "read_recent": True}
        config = json.loads(file.read_text()) | {"remote_read": [remote]}
        file.write_text(json.dumps(config))
