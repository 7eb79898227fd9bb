"""Data types as plain trees: what a schema looks like to those who know nothing of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dq_dagster.metrics.conditions import in_key, quoted
from dq_dagster.metrics.metric import Metric, RowMetric
from dq_dagster.metrics.states import Extreme, State

STRUCT, ARRAY, MAP = "struct", "array", "map"
ITEMS, KEYS, VALUES = "items", "keys", "values"
STRING = "string"

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A type: its name as Spark writes it, and for a nested one what it consists of.

    The parts are the fields of a struct, the ``items`` of an array, the ``keys`` and ``values``
    of a map.
    """

    kind: str
    parts: tuple[Field, ...] = ()

    @property
    def is_text(self) -> bool:
        return self.kind == STRING or self.kind.startswith(f"{STRING} collate ")

    @property
    def is_whole(self) -> bool:
        """Whether a few words say the type: nothing inside has a name or a demand."""
        if self.kind == STRUCT:
            return False
        return all(part.shape.is_whole and not part.demands for part in self.parts)

    def __str__(self) -> str:
        if self.kind == STRUCT:
            inner = ",".join(f"{part.name}:{part.shape}" for part in self.parts)
        else:
            inner = ",".join(str(part.shape) for part in self.parts)
        return f"{self.kind}<{inner}>" if self.parts or self.kind == STRUCT else self.kind


@dataclass(frozen=True, slots=True)
class Field:
    """A column, or a part of one, with what is known or demanded beside its type."""

    name: str
    shape: Shape
    meaning: str | None = None
    max_length: int | None = None

    @property
    def demands(self) -> bool:
        return self.meaning is not None or self.max_length is not None


def walk(fields: tuple[Field, ...], above: Path = ()) -> Iterator[tuple[Path, Field]]:
    """All fields at every depth, each with its path, those above before those below."""
    for field in fields:
        path = (*above, field.name)
        yield path, field
        yield from walk(field.shape.parts, path)


def meanings_by_path(fields: tuple[Field, ...]) -> dict[Path, str]:
    return {path: field.meaning for path, field in walk(fields) if field.meaning is not None}


def column_meanings(fields: tuple[Field, ...]) -> dict[str, str]:
    """The meaning of each column and of each field of a struct, by its dotted name."""
    found: dict[str, str] = {}
    for field in fields:
        if field.meaning is not None:
            found[field.name] = field.meaning
        if field.shape.kind == STRUCT:
            below = column_meanings(field.shape.parts)
            found |= {f"{field.name}.{name}": meaning for name, meaning in below.items()}
    return found


@dataclass(frozen=True, slots=True)
class ActualSchema(Metric):
    """The columns with their types, which are known without reading a row."""

    @property
    def name(self) -> str:
        return "schema"


@dataclass(frozen=True, slots=True)
class LongestText(RowMetric):
    """The length of the longest string of a column, or of a part of one."""

    path: Path
    kept_as: ClassVar[type[State] | None] = Extreme

    @property
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(self.path[0])

    @property
    def name(self) -> str:
        # Quoted where a dot is part of the name: the key must tell a.b from the field b of a.
        parts = [quoted(part) if "." in part else in_key(part) for part in self.path]
        return f"longest_text:{'.'.join(parts)}"

    def value(self, state: Extreme) -> int | None:
        return state.value if isinstance(state.value, int) else None
