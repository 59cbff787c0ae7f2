"""Files that others replace while the program runs."""

from pathlib import Path


class Changes:
    """Tells when any of `paths` was replaced or rewritten since it was last asked.

    Looks at time, size and inode, so that the swap of a mounted Secret's links is seen. A file
    that is missing for a moment counts as it was.
    """

    def __init__(self, *paths: Path) -> None:
        """Take the files as changed at the first question."""
        self._paths = paths
        self._seen: tuple[tuple[int, int, int], ...] | None = None

    def changed(self) -> bool:
        """Tell whether to read them again, once for each change."""
        try:
            now = tuple(_mark(path) for path in self._paths)
        except OSError:
            return False
        changed, self._seen = now != self._seen, now
        return changed

    def forget(self) -> None:
        """Take them as changed."""
        self._seen = None


def _mark(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino
