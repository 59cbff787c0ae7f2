"""What README says is so."""

import re
import tomllib
from pathlib import Path

from tests.flags_table import README, table, written

ROOT = Path(__file__).parent.parent


def test_the_table_of_flags_is_the_parsers_own() -> None:
    assert written(README.read_text(encoding="utf-8")) == table(), "run: make readme"


def test_every_make_target_in_the_readme_exists() -> None:
    targets = set(re.findall(r"`?make ([a-z][a-z0-9-]+)", README.read_text(encoding="utf-8")))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert {target for target in targets if f"\n{target}:" not in makefile} == set()


def test_every_file_that_the_readme_links_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_newest_heading_of_the_changelog_is_the_packages_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    headings = re.findall(
        r"^## \[?([0-9.]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert headings[:1] == [project["version"]]
