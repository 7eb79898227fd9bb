"""An element of a contract on its way to a rule: its fields, and what there is to know about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from dq_dagster.metrics.conditions import quoted
from dq_dagster.sources.migration import MigrationEntry, Taken, Untranslatable, sentence
from dq_dagster.sources.yaml.text import number
from dq_dagster.sql.literals import text_literal


@dataclass(slots=True)
class Taking:
    """What becomes of one element: the fields of a rule, notes, and whether its meaning differs."""

    rule: str
    kind: str
    of: str
    place: str
    fields: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    differs: bool = False
    # Why there is no rule, although nothing is wrong with it.
    documentation: bool = False
    refused: str = ""
    # The type of the rule that it is a part of, where it is none of its own.
    part_of: str = ""

    def note(self, text: str) -> None:
        self.notes.append(text)

    def differ(self, text: str) -> None:
        self.notes.append(text)
        self.differs = True

    def refuse(self, reason: Untranslatable | str) -> Taking:
        self.refused = sentence(str(reason))
        return self

    def entry(self) -> MigrationEntry:
        """As it stands in the report, before anything became of it."""
        notes = (*self.notes, self.refused) if self.refused else tuple(self.notes)
        taken = (
            Taken.REFUSED
            if self.refused
            else Taken.NO_RULE
            if self.documentation
            else Taken.OTHERWISE
            if self.differs
            else Taken.AS_IT_IS
        )
        return MigrationEntry(
            self.rule, self.kind, self.of, self.place, taken, notes, becomes=self.part_of
        )


def column_sql(*path: str) -> str:
    """A column, or a field within one, as SQL; whatever its name, it is nothing but a name."""
    return ".".join(map(quoted, path))


def literal(value: Any) -> str:
    """A value of a contract as SQL."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | Decimal() | float():
            return number_text(value)
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return text_literal(value)
        case _:
            raise Untranslatable(f"{value!r} is no value that could be compared with.")


def number_text(value: Any) -> str:
    """A number as SQL; raises Untranslatable if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise Untranslatable(f"a number is needed, not {value!r}.")
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not exact.is_finite():
        raise Untranslatable(f"{value!r} is no number that anything could be compared with.")
    return f"{exact:f}"


def exactly(value: Any) -> Decimal:
    """A number with the digits that it is written with."""
    return Decimal(number_text(value))


def as_number(value: Decimal) -> Any:
    """The number as YAML would read it, so that equal rules are equal."""
    text = f"{value.normalize():f}"
    return number(text)


def flag(declared: Mapping[str, Any], key: str) -> bool:
    """A field that is true or false; raises Untranslatable if it is neither."""
    value = declared.get(key)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise Untranslatable(f"'{key}' is true or false, not {value!r}.")
