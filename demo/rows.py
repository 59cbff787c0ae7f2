"""The story as rows of a table. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from demo.seen import Seen

HEAD = (
    "time",
    "load",
    "GPU use, %",
    "HPA",
    "replicas",
    "what happens",
)
WIDTHS = (5, 4, 42, 12, 8, 0)
QUIET_SECONDS = 5

Row = tuple[str, ...]


def row(seen: Seen, words: str, *, named: bool) -> Row:
    """The cells of one look, in the order of HEAD; a pod goes by the last part of its name."""
    pods = {name.rpartition("-")[2]: f"{value:.0f}" for name, value in seen.utilisation.items()}
    use = "  ".join(f"{pod} {value}" if named else value for pod, value in pods.items())
    return (
        f"{seen.second // 60}:{seen.second % 60:02d}",
        "on" if seen.load_on else "off",
        use or "-",
        f"{seen.current or '<unknown>'}/{seen.target}",
        f"{seen.replicas}/{seen.desired}",
        words,
    )


def words(before: Seen | None, now: Seen) -> str:
    """What has happened since the look before, nothing when it is only time that went by."""
    if before is None or before.desired in (0, now.desired):
        return _pods_came_or_went(before, now)
    return f"{before.desired} to {now.desired} replicas"


def _pods_came_or_went(before: Seen | None, now: Seen) -> str:
    if before is None or before.replicas == now.replicas:
        return ""
    run = "worker runs" if now.replicas == 1 else "workers run"
    return f"{now.replicas} {run}"


def plain(cells: Row) -> str:
    """A row as one line of text, columns under each other."""
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


@dataclass(slots=True, kw_only=True)
class Story:
    """The rows told so far: one for each thing that happened, and one a while when nothing does.

    `latest` is the moment's row, which may not have been worth keeping. `named` says whether pods
    are named, for which a narrow screen has no room.
    """

    named: bool = True
    kept: list[Row] = field(default_factory=list)
    latest: Row | None = None
    _before: Seen | None = None
    _kept_at: int = -QUIET_SECONDS

    def tell(self, seen: Seen, opening: str = "") -> Row | None:
        """Take a look, with the words that open an act; gives the row when it is worth keeping."""
        said = "; ".join(part for part in (opening, words(self._before, seen)) if part)
        self.latest = row(seen, said, named=self.named)
        self._before = seen
        if not said and seen.second - self._kept_at < QUIET_SECONDS:
            return None
        self._kept_at = seen.second
        return self.keep()

    def keep(self) -> Row | None:
        """Keep the moment's row, whatever it says; gives it unless it is kept already."""
        if self.latest is None or self.latest in self.kept[-1:]:
            return None
        self.kept.append(self.latest)
        return self.latest

    def rows(self, most: int) -> Sequence[Row]:
        """The last rows, so many at most, the moment's included."""
        moment = [self.latest] if self.latest and self.latest not in self.kept[-1:] else []
        return [*self.kept, *moment][-most:]
