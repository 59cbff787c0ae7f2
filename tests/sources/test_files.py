"""Files that are replaced while the program runs."""

import os
from pathlib import Path

from adapter.sources.files import Changes


def test_a_change_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("1")
    changes = Changes(file)
    assert [changes.changed(), changes.changed()] == [True, False]
    file.write_text("22")
    assert [changes.changed(), changes.changed()] == [True, False]


def test_the_swap_of_a_mounted_secret_s_link_is_a_change(tmp_path: Path) -> None:
    for version in ("one", "two"):
        (tmp_path / version).write_text("x")
        os.utime(tmp_path / version, (0, 0))
    link = tmp_path / "token"
    link.symlink_to("one")
    changes = Changes(link)
    changes.changed()
    link.unlink()
    assert not changes.changed()
    link.symlink_to("two")
    assert changes.changed()
