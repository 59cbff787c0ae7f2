"""What a person sees: a live screen on a terminal, plain lines anywhere else."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.live import Live
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from demo.rows import HEAD, Row, Story, plain

ROOM_BELOW = 6
"""Lines of a terminal that the table leaves free, its head and frame included."""
PIPE_WIDTH = 120
WIDE = 100
"""Columns from which on a table has room for the names of pods."""

Say = Callable[[str], None]
Refresh = Callable[[Row | None], None]


def _console() -> Console:
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True, width=width)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Where the demo writes; nothing moves unless it is a terminal."""

    console: Console = field(default_factory=_console)

    @property
    def live(self) -> bool:
        """Whether lines may be drawn over."""
        return self.console.is_terminal and not self.console.is_dumb_terminal

    @property
    def wide(self) -> bool:
        """Whether a table has room for names."""
        return self.console.width >= WIDE

    def heading(self, text: str) -> None:
        """Open a part."""
        self.console.print(Text(f"\n{text}\n{'=' * len(text)}", style="bold"))

    def say(self, text: str) -> None:
        """Say sentences, wrapped between words."""
        self.console.print(text, soft_wrap=False)
        sys.stdout.flush()

    def lines(self, *lines: str) -> None:
        """Give lines to be copied: the terminal breaks them, we do not."""
        self.console.print("\n".join(lines))
        sys.stdout.flush()

    def typed(self, line: str, output: str) -> None:
        """Show a command as a person types it, and what it printed."""
        self.console.print(Text(f"\n$ {line}", style="bold cyan"))
        self.console.print(output.rstrip())

    def grid(self, head: Sequence[str], rows: Sequence[Row]) -> None:
        """Print a finished table."""
        self.console.print(_table(head, rows), soft_wrap=False)

    @contextmanager
    def status(self, text: str) -> Iterator[Say]:
        """One line that says how far something is, with the time it takes; gone afterwards.

        Elsewhere than on a terminal each saying is a line of its own.
        """
        if not self.live:
            yield lambda line: self.lines(f"... {line}")
            return
        line = TextColumn("{task.description}", table_column=Column(no_wrap=True))
        columns = (SpinnerColumn(), TimeElapsedColumn(), line)
        with Progress(*columns, console=self.console, transient=True) as progress:
            task = progress.add_task(text)
            yield lambda words: progress.update(task, description=words)

    @contextmanager
    def story(self, story: Story) -> Iterator[Refresh]:
        """The story's table: drawn anew for each look, or each row that is kept on a line."""
        if not self.live:
            self.lines(plain(HEAD))
            yield lambda kept: self.lines(plain(kept)) if kept else None
            return
        with Live(console=self.console, auto_refresh=False) as live:
            room = max(self.console.height - ROOM_BELOW, 4)
            yield lambda _: live.update(_table(HEAD, story.rows(room)), refresh=True)
            live.update(_table(HEAD, story.kept), refresh=True)


def _table(head: Sequence[str], rows: Sequence[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in head:
        table.add_column(name, no_wrap=name != head[-1])
    for cells in rows:
        table.add_row(*cells)
    return table
