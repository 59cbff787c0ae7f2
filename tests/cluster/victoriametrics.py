"""VictoriaMetrics, single node, in Prometheus's place."""

from dataclasses import dataclass
from pathlib import Path

from tests.cluster.prometheus import PrometheusServer


@dataclass(slots=True, kw_only=True)
class VictoriaMetricsServer(PrometheusServer):
    """Scrapes and answers as `PrometheusServer`, from the same configuration.

    `url` is as it comes: its queries show what is older than thirty seconds. `fresh_url` asks for
    what is newest.
    """

    @property
    def fresh_url(self) -> str:
        """Its address with the query parameter that shows the newest samples."""
        return f"{self.url}/?nocache=1"

    def _command(self) -> list[str | Path]:
        return [
            self.program,
            f"-promscrape.config={self.folder / 'prometheus.json'}",
            "-promscrape.config.strictParse=false",
            "-promscrape.fileSDCheckInterval=1s",
            f"-storageDataPath={self.folder / 'data'}",
            f"-httpListenAddr=127.0.0.1:{self.port}",
            *self.flags,
        ]
