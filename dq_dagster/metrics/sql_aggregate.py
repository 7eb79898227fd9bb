"""Metrics that users write as SQL over aggregates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dq_dagster.errors import Misfit
from dq_dagster.metrics.metric import Burden, RowMetric
from dq_dagster.metrics.states import Opaque
from dq_dagster.sql.expressions import aggregate_calls, aggregate_columns_used

_TRUTH = frozenset({"boolean", "void"})


@dataclass(frozen=True, slots=True)
class SqlAggregate(RowMetric):
    """The value of an expression over aggregates, such as ``sum(amount) / count(*)``."""

    sql: str
    mergeable: ClassVar[bool] = False
    slots: ClassVar[int] = 2

    @property
    def name(self) -> str:
        return f"sql:{self.sql}"

    @property
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(*aggregate_columns_used(self.sql))

    @property
    def burdens(self) -> frozenset[Burden]:
        calls = aggregate_calls(self.sql)
        distinct = {call.distinct_values(self.where) for call in calls}
        bulky = {call.sql(self.where) for call in calls if call.is_bulky}
        return frozenset(
            [
                *(Burden(f"DISTINCT {values}") for values in distinct if values),
                *(Burden(text, may_share=True) for text in bulky),
            ]
        )

    def value(self, state: Opaque) -> Any:
        return state.value


@dataclass(frozen=True, slots=True)
class SqlCondition(SqlAggregate):
    """Whether an expression over aggregates is true; None where Spark does not know (NULL).

    The aggregates in it are metrics of their own, so that it takes nothing but their results.
    """

    slots: ClassVar[int] = 0

    @property
    def name(self) -> str:
        return f"holds:{self.sql}"

    def value(self, state: Opaque) -> bool | None:
        if state.kind not in _TRUTH:
            raise Misfit.not_a_condition(self.sql, state.kind)
        answer: bool | None = state.value
        return answer
