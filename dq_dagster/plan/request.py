"""Check requests: which rules are judged on which slices.

A rule says by its ``scope`` what it is meant for; a run may ask for less, or for one partition
only. The request carries that, and the rule stays as it was declared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from dq_dagster.judging.typical import Lookback
from dq_dagster.metrics.measured import BY_PARTITION, UNDIVIDED, WHOLE, Cut, Slice
from dq_dagster.metrics.metric import Metric, RecordCount
from dq_dagster.rules.base.rule import Rule


@dataclass(frozen=True, slots=True)
class RequestedRule:
    """A rule, what it is judged on, and what has to be measured for that.

    ``metrics`` are those that the rule names, ``rows`` counts the rows of each group where it is
    broken down by ``dimensions``; ``needs`` are all of them. ``lookback`` says which past it is
    judged by, if any.
    """

    rule: Rule
    on_partitions: bool
    on_whole: bool
    metrics: tuple[Metric, ...]
    dimensions: tuple[str, ...]
    rows: RecordCount | None
    needs: tuple[Metric, ...]
    lookback: Lookback | None

    @classmethod
    def of(cls, rule: Rule, *, on_partitions: bool, on_whole: bool) -> RequestedRule:
        metrics = rule.metrics()
        rows = RecordCount(where=rule.where) if rule.dimensions else None
        return cls(
            rule,
            on_partitions,
            on_whole,
            metrics,
            tuple(rule.dimensions),
            rows,
            metrics if rows is None else (*metrics, rows),
            rule.lookback,
        )

    @property
    def reads_log(self) -> bool:
        """Whether it is about what the event log holds, rather than about the data alone."""
        return any(metric.from_log for metric in self.metrics)

    def cuts(self) -> list[Cut]:
        """How the rows are divided for it: by partition or not at all, and then by group."""
        base = [BY_PARTITION] * self.on_partitions + [UNDIVIDED] * self.on_whole
        return [*base, *(Cut(cut.partitioned, name) for cut in base for name in self.dimensions)]

    def slices(self, partitions: Iterable[str]) -> list[Slice]:
        """What it is judged on, without the groups."""
        single = map(Slice, partitions) if self.on_partitions else ()
        return [*single, *([WHOLE] if self.on_whole else [])]

    def keys(self, partitions: Iterable[str]) -> list[str | None]:
        """The same as partition keys, None for the whole dataset."""
        return [part.partition for part in self.slices(partitions)]


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Rules and slices. ``partitions`` are those to judge, None for all that have rows.

    ``partitioned`` says that rows belong to partitions, also where only the whole is judged.
    """

    rules: tuple[RequestedRule, ...]
    partitions: tuple[str, ...] | None = None
    partitioned: bool = False

    @classmethod
    def of(
        cls,
        rules: Iterable[Rule],
        *,
        partitioned: bool = False,
        partitions: Sequence[str] | None = None,
    ) -> CheckRequest:
        """Each rule by its own scope; without partitions, on all rows together."""
        requested = tuple(
            RequestedRule.of(
                rule,
                on_partitions=partitioned and rule.scope != "whole_dataset",
                on_whole=not partitioned or rule.scope != "partitions",
            )
            for rule in rules
        )
        return cls(requested, None if partitions is None else tuple(partitions), partitioned)

    @property
    def on_partitions(self) -> bool:
        """Whether any rule is judged on single partitions."""
        return any(one.on_partitions for one in self.rules)

    @property
    def on_whole(self) -> bool:
        return any(one.on_whole for one in self.rules)

    def only(self, rules: Iterable[RequestedRule]) -> CheckRequest:
        return replace(self, rules=tuple(rules))

    def of_partitions(self) -> CheckRequest:
        """What is requested of single partitions."""
        return self.only(replace(r, on_whole=False) for r in self.rules if r.on_partitions)

    def of_whole(self) -> CheckRequest:
        """What is requested of the whole dataset."""
        return self.only(replace(r, on_partitions=False) for r in self.rules if r.on_whole)

    def without(self, slices: Collection[str | None]) -> CheckRequest:
        """The same but for these partitions and, where None is among them, the whole dataset."""
        rest = self.of_partitions() if None in slices else self
        kept = None if self.partitions is None else [k for k in self.partitions if k not in slices]
        return replace(rest, partitions=None if kept is None else tuple(kept))

    def keys(self) -> list[str | None]:
        """The slices that any rule is judged on: partition keys, None for the whole dataset."""
        single = (self.partitions or ()) if self.on_partitions else ()
        return [*single, *([None] if self.on_whole else [])]
