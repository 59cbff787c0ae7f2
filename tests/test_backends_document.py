"""What docs/backends.md says can be typed, and is shown where it says so."""

import re
from pathlib import Path

from adapter.flag_table import FLAGS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "backends.md").read_text(encoding="utf-8")
DIFFERENCES = (ROOT / "tests/backends/test_differences.py").read_text(encoding="utf-8")
OURS = re.compile(r"--((?:prometheus|metrics|strict|freshness|max-staleness)[a-z-]*)")


def test_each_flag_that_it_names_is_one_of_ours() -> None:
    named = set(OURS.findall(TEXT))
    assert named
    assert named - {flag.name for flag in FLAGS} == set()


def test_each_row_of_differences_has_a_test() -> None:
    """Rows without the heading; the two tests on `nocache` stand for one row."""
    table = TEXT.partition("## What differs")[2].partition("The rest is the same")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    tests = re.findall(r"^async def (test_\w+)", DIFFERENCES, re.MULTILINE)
    assert len(tests) - 2 == len(rows)


def test_each_file_that_it_names_exists() -> None:
    named = set(re.findall(r"`(tests/[a-z_/.]+)`", TEXT))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
