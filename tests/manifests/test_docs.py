"""What the documents tell people to type can be typed."""

import re
import shlex
from pathlib import Path

import pytest

from certs.cli import build_parser
from tests.manifests.documents import RAY, ROOT

DOCUMENTS = [
    *(ROOT / "docs" / f"{name}.md" for name in ("install", "certificates", "other-groups")),
    RAY / "README.md",
]
COMMAND = re.compile(r"^ +gpu-metrics-adapter-certs (.+?)( > .+)?$", re.MULTILINE)
PLACE = re.compile(r"manifests/[a-z/0-9.-]+[a-z]")
MADE_BY_READERS = ("manifests/overlays/default/certs", "manifests/overlays/mine")

commands = sorted(
    {found[1] for document in DOCUMENTS for found in COMMAND.finditer(document.read_text())}
)


@pytest.mark.parametrize("command", commands)
def test_each_command_is_one_that_the_program_takes(command: str) -> None:
    assert callable(build_parser().parse_args(shlex.split(command)).run)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_place_that_a_document_names_exists(document: Path) -> None:
    named = set(PLACE.findall(document.read_text()))
    assert named
    for place in named:
        assert place.startswith(MADE_BY_READERS) or (ROOT / place).exists(), place
