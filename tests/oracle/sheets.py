"""Many small tables in one DataFrame: each is a partition of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.oracle import kinds
from tests.oracle.generate import SIZES, Column, Table, values
from tests.oracle.names import HOSTILE_NAMES
from tests.oracle.sql import NUMBER

#: The column that tells the tables apart, and the one that their rows are grouped by.
PART = "which table"
GROUP = "group"
_GROUPS = ("north", "south", "it's", "", "\U0001f600", None)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Tables with the same columns; some have no row."""

    tables: Sequence[Table]

    @property
    def keys(self) -> list[str]:
        return [f"t{number}" for number in range(len(self.tables))]

    @property
    def together(self) -> Table:
        """All rows, each with the key of its table."""
        columns = [
            Column(
                column.name,
                column.kind,
                [value for one in self.tables for value in one.columns[place].values],
            )
            for place, column in enumerate(self.tables[0].columns)
        ]
        keys = [f"t{number}" for number, one in enumerate(self.tables) for _ in range(one.size)]
        return Table(len(keys), [*columns, Column(PART, "string", keys)])

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of each table."""
        return {
            key: [{**row, PART: key} for row in one.rows()]
            for key, one in zip(self.keys, self.tables, strict=True)
        }


def sheet(seed: int, count: int) -> Sheet:
    random = Random(seed)
    types = [kind for kind in kinds.ALL for _ in range(2)]
    names = random.sample(HOSTILE_NAMES, len(types))
    tables = []
    for number in range(count):
        # Some are very small: no row, one, two, three.
        size = number if number < 4 else random.choice(SIZES)
        columns = [Column(NUMBER, "int", range(size))]
        columns += [
            Column(name, kind, values(random, kind, size))
            for name, kind in zip(names, types, strict=True)
        ]
        columns.append(Column(GROUP, "string", [random.choice(_GROUPS) for _ in range(size)]))
        tables.append(Table(size, columns))
    return Sheet(tables)
