"""Which columns rules are about, as far as they say so."""

from __future__ import annotations

from dataclasses import dataclass

from dq_dagster.errors import DqError
from dq_dagster.rules.base.rule import Rule
from dq_dagster.sql.expressions import columns_used


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """The columns that a rule names.

    It judges the ``judged`` ones; the ``others`` filter the rows, or divide them into groups. It
    ``may_be_any`` where the rule does not say which, as queries and functions do not.
    """

    judged: tuple[str, ...]
    others: tuple[str, ...] = ()
    may_be_any: bool = False

    @classmethod
    def of(cls, rule: Rule) -> NamedColumns:
        try:
            # The filter adds columns to every metric.
            metrics = rule.model_copy(update={"where": None}).metrics()
        except DqError:
            return cls((), may_be_any=True)
        found = [metric.columns for metric in metrics]
        judged = dict.fromkeys(name for names in found for name in names or ())
        filtering = () if rule.where is None else columns_used(rule.where)
        others = dict.fromkeys([*filtering, *rule.dimensions])
        return cls(
            tuple(judged),
            tuple(name for name in others if name not in judged),
            any(names is None for names in found),
        )

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.judged, *self.others)
