"""What can be measured of a schema: its columns, and how long its texts are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dq_dagster.metrics.metric import Metric, RowMetric
from dq_dagster.metrics.naming import in_key, quoted
from dq_dagster.metrics.shape import Path
from dq_dagster.metrics.states import Extreme, State


@dataclass(frozen=True, slots=True)
class ActualSchema(Metric):
    """The columns with their types, which are known without a look at the rows."""

    @property
    def name(self) -> str:
        return "schema"


@dataclass(frozen=True, slots=True)
class LongestText(RowMetric):
    """The length of the longest string of a column, or of a part of one."""

    path: Path
    kept_as: ClassVar[type[State] | None] = Extreme

    @property
    def subject(self) -> str:
        return self.path[0]

    @property
    def name(self) -> str:
        # Quoted where a dot is part of the name: the key must tell a.b from the field b of a.
        parts = [quoted(part) if "." in part else in_key(part) for part in self.path]
        return f"longest_text:{'.'.join(parts)}"

    def value(self, state: Extreme) -> int | None:
        return state.value if isinstance(state.value, int) else None
