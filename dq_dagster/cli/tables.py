"""Tables for the screen; in files and pipes, without anything that only a terminal understands."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dq_dagster.judging.judgement import Status

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# A file or a pipe has no width of its own.
_WIDE = 200
# Longer cells may be broken into lines, down to this width; all others stand in one.
_MAY_BREAK, _GAP = 24, 3
# What machines get is whole.
_LONGEST = 500
STYLES: Mapping[str, str] = {
    Status.OK.value: "green",
    Status.EMPTY.value: "dim",
    Status.WARNING.value: "yellow",
    Status.ERROR.value: "bold red",
    Status.NOT_COMPUTED.value: "dim",
}


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """A status has its colour, ``right`` columns are numbers.

    On a terminal that is too narrow, each row is a list of what it says.
    """
    from rich.console import Console
    from rich.text import Text

    tty = sys.stdout.isatty()
    # In pipes, columns have the same place whatever they say.
    kept = [n for n in range(len(columns)) if not tty or any(row[n] for row in rows)]
    columns = [columns[n] for n in kept]
    cells = [[Text(plain(row[n]), style=STYLES.get(row[n], "")) for n in kept] for row in rows]
    widths = [
        max([len(name), *(row[n].cell_len for row in cells)]) for n, name in enumerate(columns)
    ]
    width = None if tty else _WIDE
    console = Console(file=sys.stdout, highlight=False, markup=False, width=width)
    least = sum(min(one, _MAY_BREAK) + _GAP for one in widths) - _GAP
    if least <= console.width or not tty:
        _print_rows(console, columns, cells, widths, right)
    else:
        _print_lists(console, columns, cells)


def _print_rows(
    console: Console,
    columns: Sequence[str],
    cells: Sequence[Sequence[Text]],
    widths: Sequence[int],
    right: Sequence[str],
) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name, width in zip(columns, widths, strict=True):
        table.add_column(
            name,
            justify="right" if name in right else "left",
            overflow="fold",
            min_width=min(width, _MAY_BREAK),
        )
    for row in cells:
        table.add_row(*row)
    console.print(table)


def _print_lists(console: Console, columns: Sequence[str], cells: Sequence[Sequence[Text]]) -> None:
    from rich.text import Text

    longest = max(map(len, columns))
    for row in cells:
        for name, cell in zip(columns, row, strict=True):
            if cell:
                head = f"{name:{longest}}  "
                console.print(Text.assemble((head, "bold"), cell), overflow="fold")
        console.print()


def plain(text: str) -> str:
    """In one line and not too long; what a terminal would take for a command is escaped."""
    some = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return some if some.isprintable() else repr(some)[1:-1]
