"""Files of rules for checks, and what a check prints of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapter.cli import main

WORKLOAD = "{overrides: {exported_pod: {resource: pod}, exported_namespace: {resource: namespace}}}"
CLEAN = """
rules:
- seriesQuery: queue_length{exported_pod!=""}
  resources: WORKLOAD
  metricsQuery: max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
""".replace("WORKLOAD", WORKLOAD)
DOUBTFUL = CLEAN.replace("max(", "(").replace(" by (<<.GroupBy>>)", "")
BAD = "rules:\n- seriesQuery: up\n"


def write(folder: Path, **texts: str) -> list[str]:
    """Write files NAME.yaml and give their paths."""
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)
    return [str(folder / f"{name}.yaml") for name in texts]


def checked(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    """Run a check and give its JSON."""
    main(["check", "--output=json", *argv])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def told(document: dict[str, Any], *severities: str) -> list[str]:
    """Give the findings as `LINE/RULE KEY: FAULT`, of all weights unless some are named."""
    return [
        f"{one['line']}/{one['rule']} {one['key']}: {one['fault']}"
        for one in document["findings"]
        if not severities or one["severity"] in severities
    ]
