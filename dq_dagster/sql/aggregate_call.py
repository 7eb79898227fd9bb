"""One call of an aggregate, taken apart so that it can be limited to some rows."""

from __future__ import annotations

from dataclasses import dataclass

from dq_dagster.sql.aggregates import BULKY, Role


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as it was written, and what it is."""

    text: str
    role: Role

    def sql(self, condition: str | None) -> str:
        if condition is None or self.role is not Role.VALUE:
            return self.text
        return f"if({condition}, {self.text}, NULL)"


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """A call: where it stands in the expression, and what it is made of.

    Rows are left out by making the aggregated values NULL, which every aggregate leaves out. The
    words ``FILTER (WHERE ...)`` would not do: Spark computes what several aggregates share before
    their filters, so that a filter does not keep a division by zero from raising.
    """

    text: str
    start: int
    function: str
    arguments: tuple[Argument, ...]
    distinct: bool = False
    condition: str | None = None
    # What the values are put in order by, where an order is written, and its direction.
    order: Argument | None = None
    direction: str = ""

    @property
    def stop(self) -> int:
        return self.start + len(self.text)

    def sql(self, where: str | None) -> str:
        """The call over the rows that pass ``where``, and its own filter if it has one."""
        condition = _both(where, self.condition)
        listed = ", ".join(argument.sql(condition) for argument in self.arguments)
        called = f"{self.function}({'DISTINCT ' if self.distinct else ''}{listed})"
        if self.order is None:
            return called
        return f"{called} WITHIN GROUP (ORDER BY {self.order.sql(condition)}{self.direction})"

    def distinct_values(self, where: str | None) -> str | None:
        """What is made distinct before it is aggregated, if anything is."""
        condition = _both(where, self.condition)
        values = ", ".join(argument.sql(condition) for argument in self.arguments)
        return values if self.distinct else None

    @property
    def is_bulky(self) -> bool:
        return self.function in BULKY


def _both(where: str | None, condition: str | None) -> str | None:
    """Rows that do not pass the first are not even asked the second."""
    if where is None or condition is None:
        only = where if condition is None else condition
        return None if only is None else f"({only})"
    return f"if(({where}), ({condition}), false)"
