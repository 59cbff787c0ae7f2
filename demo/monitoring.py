"""GPUs, their exporter and the Prometheus that scrapes it, for as long as a part lasts."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from tests.cluster.exporter import Bindings, Exporter, Load
from tests.cluster.fleet import Fleet
from tests.cluster.prometheus import PrometheusServer, Target
from tests.cluster.textserver import TextServer


@asynccontextmanager
async def monitored(
    *, fleet: Fleet, load: Load, program: Path, folder: Path, live: Bindings = dict
) -> AsyncIterator[PrometheusServer]:
    """A Prometheus with a second's look at each GPU of the fleet."""
    async with TextServer() as server:
        exporter = Exporter(server=server, fleet=fleet, load=load, live=live)
        targets = [_with_node(target) for target in exporter.targets()]
        async with PrometheusServer(program=program, folder=folder, targets=targets) as prometheus:
            yield prometheus


def _with_node(target: Target) -> Target:
    """The target as relabelling makes it where rules speak of a label `node`."""
    node = target.path.split("/")[1]
    labels: Mapping[str, str] = {**target.labels, "node": node}
    return replace(target, labels=labels)
