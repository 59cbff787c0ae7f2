"""docs/check.md shows what a check prints, and names what there is."""

import re
from pathlib import Path

import pytest

from adapter.cli import main
from adapter.telemetry import Telemetry

TEXT = (Path(__file__).parents[2] / "docs/check.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    """The indented blocks, without their indentation."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", TEXT, re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE).strip("\n") for block in found]


def test_the_example_is_told_as_the_document_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, told = (next(one for one in blocks() if one.startswith(start)) for start in STARTS)
    (tmp_path / "rules.yaml").write_text(rules)
    monkeypatch.chdir(tmp_path)

    assert main(["check", "rules.yaml"]) == 2

    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == told.splitlines()


STARTS = ("rules:\n", "rules.yaml: 2 errors")


def test_every_metric_that_it_names_exists() -> None:
    named = set(re.findall(r"gpu_metrics_adapter_\w+", TEXT))
    assert named
    assert named <= {metric.name for metric in Telemetry().registry.collect()}
