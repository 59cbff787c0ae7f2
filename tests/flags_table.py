"""The README's table of flags, made from the table that the parser uses.

`python -m tests.flags_table` writes it between the two marks in README.md.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from adapter.flag_table import FLAGS
from adapter.flags import Flag

README = Path(__file__).parent.parent / "README.md"
_MARKED = re.compile(r"(?<=<!-- flags -->\n).*(?=<!-- end of flags -->)", re.DOTALL)


def table() -> str:
    """Give the flags that have an effect as Markdown, group by group, then the names without."""
    served = [flag for flag in FLAGS if flag.served]
    ignored = ", ".join(f"`--{flag.name}`" for flag in FLAGS if not flag.served)
    rows = "\n".join(_rows(served))
    return f"{rows}\n\nAccepted without effect, so that existing manifests start: {ignored}.\n"


def written(readme: str) -> str:
    """Give the part of `readme` between the marks."""
    found = _MARKED.search(readme)
    return found.group() if found else ""


def _rows(flags: list[Flag]) -> Iterator[str]:
    yield "| flag | default | what it decides |"
    yield "|---|---|---|"
    for flag in flags:
        default = f"`{flag.default}`" if flag.default else ""
        yield f"| `--{flag.name}` | {default} | {flag.help} |"


if __name__ == "__main__":
    README.write_text(_MARKED.sub(lambda _: table(), README.read_text(encoding="utf-8")))
