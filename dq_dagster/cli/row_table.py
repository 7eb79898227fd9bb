"""Rows that break rules, for the screen: a table, or one row below the other if it is too wide."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from dq_dagster.judging.wording import plural

if TYPE_CHECKING:
    from dq_dagster.evaluation.faults import FoundRows
    from dq_dagster.spark.passes.rows import ShownRow, ShownRows

# On a terminal, a longer value of a table is cut; in files and pipes, none is.
_WIDEST = 40
_GAP = "  "
_BREAKS, _PARTITION = "(breaks)", "(partition)"
_NULL, _MASK = "NULL", "***"


def as_json(found: FoundRows, asset: str) -> str:
    """A document that has a line for each row."""
    about = {
        "asset": asset,
        "more": found.shown.more,
        "not_judged": {name: str(why) for name, why in found.failures.items()},
    }
    head = json.dumps(about, indent=2, ensure_ascii=False).removesuffix("\n}")
    names = [json.dumps(name, ensure_ascii=False) for name in _distinct(found.shown.columns)]
    rows = ",".join(f"\n    {_record(row, names)}" for row in found.shown.rows)
    end = "\n  ]\n}" if rows else "]\n}"
    return f'{head},\n  "rows": [{rows}{end}'


def _record(row: ShownRow, names: Sequence[str]) -> str:
    faults = json.dumps(list(row.faults), ensure_ascii=False)
    # As Spark wrote them: Python would take numbers of many digits for others.
    values = ", ".join(f"{name}: {value}" for name, value in zip(names, row.values, strict=True))
    partition = json.dumps(row.partition, ensure_ascii=False)
    return f'{{"partition": {partition}, "faults": {faults}, "row": {{{values}}}}}'


def _distinct(names: Sequence[str]) -> list[str]:
    """A name that occurs again gets a number, so that no value is lost."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def print_rows(shown: ShownRows, asset: str) -> None:
    """As wide as the terminal is, if there is one."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    text = as_text(shown, asset, width=width)
    # https://no-color.org: whatever its value, the variable means no colour.
    click.echo(click.unstyle(text) if os.environ.get("NO_COLOR") else text)


def as_text(shown: ShownRows, asset: str, *, width: int | None) -> str:
    """The rows, and what they come to; without a width, as wide as they are."""
    lines = [*_lines(shown, width), ""] if shown.rows else []
    return "\n".join([*lines, f"{asset}: {_headline(shown)}"])


def _headline(shown: ShownRows) -> str:
    count = len(shown.rows)
    if not count:
        return "no row breaks these rules."
    if shown.more:
        return f"{plural(count, 'row')} of those that break rules; --limit shows more."
    return f"{plural(count, 'row')} {'breaks' if count == 1 else 'break'} rules."


def _lines(shown: ShownRows, width: int | None) -> Iterator[str]:
    divided = any(row.partition is not None for row in shown.rows)
    names = [*([_PARTITION] if divided else []), *_distinct(shown.columns), _BREAKS]
    headers = list(map(_plain, names))
    rows = [_cells(row, shown, divided=divided) for row in shown.rows]
    faulty = [_places(row, names) for row in shown.rows]
    widths = [max(map(_size, column)) for column in zip(headers, *rows, strict=True)]
    if width is not None:
        # Which rules are broken is not cut.
        widths = [*(min(size, _WIDEST) for size in widths[:-1]), widths[-1]]
    if width is not None and sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        for number, (row, places) in enumerate(zip(rows, faulty, strict=True)):
            yield f"{'' if number == 0 else chr(10)}row {number + 1} breaks {row[-1]}"
            yield from _block(headers[:-1], row, places, width)
        return
    yield _GAP.join(map(_sized, headers, widths)).rstrip()
    yield _GAP.join("-" * size for size in widths)
    for row, places in zip(rows, faulty, strict=True):
        # Coloured last: colours take no place.
        cells = [_marked(text, n in places) for n, text in enumerate(map(_sized, row, widths))]
        yield _GAP.join(cells).rstrip()


def _cells(row: ShownRow, shown: ShownRows, *, divided: bool) -> list[str]:
    values = [
        _value(value, quoted=is_text)
        for value, is_text in zip(row.values, shown.texts, strict=True)
    ]
    partition = [_plain(row.partition or "")] if divided else []
    return [*partition, *values, ", ".join(map(_fault, row.faults))]


def _block(
    headers: Sequence[str], row: Sequence[str], places: set[int], width: int
) -> Iterator[str]:
    """A line for each column; those at fault are marked."""
    longest = min(max(map(_size, headers), default=0), _WIDEST, width // 2)
    for place, (header, text) in enumerate(zip(headers, row, strict=False)):
        at_fault = place in places
        line = f"{'!' if at_fault else ' '} {_sized(header, longest)}{_GAP}{text}"
        yield _marked(_sized(line, width).rstrip(), at_fault)


def _marked(text: str, at_fault: bool) -> str:  # noqa: FBT001 (of a text)
    return click.style(text, fg="red") if at_fault else text


def _places(row: ShownRow, names: Sequence[str]) -> set[int]:
    """Where the columns at fault are; of a field of a column, the column."""
    faulty = [name.lower() for fault in row.faults for name in fault["columns"]]
    faulty += [name.split(".")[0] for name in faulty]
    return {place for place, name in enumerate(names) if name.lower() in set(faulty)}


def _fault(entry: Mapping[str, Any]) -> str:
    """Such as "given (email)"; a name that is made of its columns says so already."""
    columns = (
        [] if entry["rule"] == "_".join([entry["type"], *entry["columns"]]) else entry["columns"]
    )
    details = [*columns, *(["warning"] if entry["severity"] != "error" else [])]
    name = _plain(entry["rule"])
    return f"{name} ({', '.join(map(_plain, details))})" if details else name


def _value(value: str | None, *, quoted: bool) -> str:
    """A value as people see it: between quotes where it could be taken for something else."""
    if value is None:
        return _NULL
    from dq_dagster.spark.passes.rows import LONGEST

    text = value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
    doubtful = text != text.strip() or text in {"", _NULL, _MASK} or not text.isprintable()
    return repr(text) if quoted and doubtful else _plain(text)


def _plain(text: str) -> str:
    """What a terminal would take for a command is escaped."""
    return text if text.isprintable() else repr(text)[1:-1]


def _size(text: str) -> int:
    """How many places of a terminal it takes: some letters take two, some none."""
    from rich.cells import cell_len

    return cell_len(text)


def _sized(text: str, size: int) -> str:
    """Just so many places, with an ellipsis where something is cut."""
    from rich.cells import set_cell_size

    if _size(text) <= size:
        return set_cell_size(text, size)
    return set_cell_size(f"{set_cell_size(text, size - 1).rstrip()}…", size)
