"""The program's own metrics, in a registry of its own, and its log format."""

import json
import logging
import sys

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Telemetry:
    """What the program measures of itself; made once, handed to each part that measures."""

    def __init__(self) -> None:
        """Make every collector, in a registry that nothing else writes to."""
        self.registry = CollectorRegistry()
        prefix = "gpu_metrics_adapter"
        self.requests = Counter(
            f"{prefix}_requests", "Answers given.", ["code"], registry=self.registry
        )
        self.request_seconds = Histogram(
            f"{prefix}_request_duration_seconds",
            "Time from a request's first byte to its answer.",
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.queries = Counter(
            f"{prefix}_prometheus_requests",
            "Requests to Prometheus by path and outcome.",
            ["path", "outcome"],
            registry=self.registry,
        )
        self.partial_answers = Counter(
            f"{prefix}_prometheus_partial_answers",
            "Answers of Prometheus with warnings, or that say they are partial, by path.",
            ["path"],
            registry=self.registry,
        )
        self.query_seconds = Histogram(
            f"{prefix}_prometheus_request_duration_seconds",
            "Time Prometheus took to answer.",
            ["path"],
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.readings = Gauge(
            f"{prefix}_readings", "Readings kept for demand.", registry=self.registry
        )
        self.dropped = Counter(
            f"{prefix}_samples_dropped",
            "Samples left out before they became a value, by cause.",
            ["cause"],
            registry=self.registry,
        )
        self.pods = Gauge(f"{prefix}_pods", "Living pods known.", registry=self.registry)
        self.rule_failures = Counter(
            f"{prefix}_rule_discovery_failures",
            "Discovery passes in which a rule failed, by API group and rule number.",
            ["group", "rule"],
            registry=self.registry,
        )
        self.discovered = Gauge(
            f"{prefix}_discovery_last_success_timestamp_seconds",
            "When discovery last succeeded for at least one rule, Unix seconds, by API group.",
            ["group"],
            registry=self.registry,
        )
        self.metrics_offered = Gauge(
            f"{prefix}_metrics_offered",
            "Metrics offered, counted once for each resource, by API group.",
            ["group"],
            registry=self.registry,
        )
        self.config_good = Gauge(
            f"{prefix}_config_last_reload_successful",
            "Whether every file of rules is in use as it stands now, 1 or 0.",
            registry=self.registry,
        )
        self.config_good.set(1)
        self.config_reloaded = Gauge(
            f"{prefix}_config_last_reload_success_timestamp_seconds",
            "When all files of rules were last taken into use, Unix seconds.",
            registry=self.registry,
        )
        self.config_problems = Gauge(
            f"{prefix}_config_problems",
            "Problems for which a file of rules is refused, the rules before it serving on.",
            ["file"],
            registry=self.registry,
        )
        self.reviews = Counter(
            f"{prefix}_reviews",
            "TokenReviews and SubjectAccessReviews by kind and outcome.",
            ["kind", "outcome"],
            registry=self.registry,
        )


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, event, then the fields given as `extra`."""

    _STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

    def format(self, record: logging.LogRecord) -> str:
        """Give the line for `record`; a traceback, if any, is one string field."""
        fields = {key: value for key, value in vars(record).items() if key not in self._STANDARD}
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **fields,
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log_to_stderr(level: int) -> None:
    """Send the program's log to standard error as JSON lines, from `level` on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger("adapter")
    root.handlers[:] = [handler]
    root.setLevel(level)
    root.propagate = False
