"""Debian's Prometheus, scraping what it is told to, on loopback."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from tests.cluster.ports import free_port
from tests.cluster.processes import Process, until

READY_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to scrape, and the labels that the target gives to its series."""

    address: str
    path: str = "/metrics"
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class PrometheusServer:
    """A Prometheus that lives as long as `async with` does; its data are in its folder.

    It can be stopped, killed and started again with the same port and data.
    """

    program: Path
    folder: Path
    targets: Sequence[Target] = ()
    scrape_interval: str = "1s"
    honor_labels: bool = False
    flags: Sequence[str] = ()
    process: Process = field(init=False)
    http: httpx.AsyncClient = field(init=False)
    port: int = field(init=False)

    async def __aenter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.http = httpx.AsyncClient(base_url=self.url, timeout=10, trust_env=False)
        self.process = Process(
            name="prometheus",
            command=self._command(),
            log=self.folder / "prometheus.log",
            ready=self._is_ready,
            ready_seconds=READY_SECONDS,
        )
        self._write_config()
        self.scrape(self.targets)
        await self.process.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self.process.stop()
        finally:
            await self.http.aclose()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def scrape(self, targets: Sequence[Target]) -> None:
        """Scrape these and nothing else from now on (noticed within a moment)."""
        groups = [
            {
                "targets": [target.address],
                "labels": {"__metrics_path__": target.path, **target.labels},
            }
            for target in targets
        ]
        path = self.folder / "targets.json"
        fresh = path.with_suffix(".tmp")
        fresh.write_text(json.dumps(groups))
        fresh.replace(path)

    async def query(self, expression: str) -> list[dict[str, Any]]:
        """The instant vector for an expression: `[{metric: {...}, value: [time, text]}]`."""
        answer = await self.http.get("/api/v1/query", params={"query": expression})
        answer.raise_for_status()
        result: list[dict[str, Any]] = answer.json()["data"]["result"]
        return result

    async def wait_for(self, expression: str, *, seconds: float = 15) -> list[dict[str, Any]]:
        """Wait until an expression gives something, and give that."""
        found: list[dict[str, Any]] = []

        async def gives_something() -> bool:
            found[:] = await self.query(expression)
            return bool(found)

        await until(gives_something, what=f"{expression} gives something", seconds=seconds)
        return found

    def _command(self) -> list[str | Path]:
        return [
            self.program,
            f"--config.file={self.folder / 'prometheus.json'}",
            f"--storage.tsdb.path={self.folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            *self.flags,
        ]

    def _write_config(self) -> None:
        """JSON, which is YAML."""
        job = {
            "job_name": "targets",
            "honor_labels": self.honor_labels,
            "file_sd_configs": [{"files": ["targets.json"], "refresh_interval": "1s"}],
        }
        intervals = {
            "scrape_interval": self.scrape_interval,
            "scrape_timeout": self.scrape_interval,
        }
        config = {"global": intervals, "scrape_configs": [job]}
        (self.folder / "prometheus.json").write_text(json.dumps(config, indent=1))

    async def _is_ready(self) -> bool:
        try:
            answer = await self.http.get("/-/ready")
        except httpx.TransportError:
            return False
        return answer.is_success
