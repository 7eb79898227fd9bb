"""Tables for the screen; in files and pipes, without anything that only a terminal understands."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from dq_dagster.judging.judgement import Status

# A file or a pipe has no width of its own.
_WIDE = 200
STYLES: Mapping[str, str] = {
    Status.OK.value: "green",
    Status.WARNING.value: "yellow",
    Status.ERROR.value: "bold red",
}


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """One line a row as far as it fits; a status has its colour, ``right`` columns are numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell), style=STYLES.get(cell, "")) for cell in row))
    width = None if sys.stdout.isatty() else _WIDE
    Console(file=sys.stdout, highlight=False, width=width).print(table)


def plain(text: str) -> str:
    """What a terminal would take for a command is escaped."""
    return text if text.isprintable() else repr(text)[1:-1]
