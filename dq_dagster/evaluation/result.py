"""The outcomes of one evaluation, readable as text, as HTML in notebooks, and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dq_dagster.evaluation.html import COLOURS, html_of_all
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.judgement import Status, worst
from dq_dagster.judging.wording import plural
from dq_dagster.metrics.conditions import sample_words
from dq_dagster.plan.plan import Plan

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLOURS", "Evaluation"]


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation:
    """What the rules said about the data, in the order of the rules."""

    outcomes: tuple[Outcome, ...]
    plan: Plan

    @property
    def status(self) -> Status:
        """The worst status of all outcomes."""
        return worst(outcome.status for outcome in self.outcomes)

    @property
    def ok(self) -> bool:
        """Whether no rule gave a Warning or an Error."""
        return all(outcome.ok for outcome in self.outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def __getitem__(self, rule: str | tuple[str, str | None]) -> Outcome:
        """The outcome of the rule of that name; of a partition with ``evaluation[rule, key]``."""
        name, partition = rule if isinstance(rule, tuple) else (rule, None)
        mine = [outcome for outcome in self.outcomes if outcome.rule.name == name]
        if not mine:
            names = list(dict.fromkeys(outcome.rule.name for outcome in self.outcomes))
            raise KeyError(f"No rule named {name!r}; there are {names}.")
        for outcome in mine:
            if outcome.partition == partition:
                return outcome
        keys = [outcome.partition for outcome in mine]
        raise KeyError(f"Rule {name!r} has no outcome for partition {partition!r}, but for {keys}.")

    def to_pandas(self) -> pd.DataFrame:
        """One row an outcome."""
        import pandas as pd

        columns = ["rule", "type", "partition", "status", "observed", "message", "bounds",
                   "rows", "failed_rows", "details"]  # fmt: skip
        return pd.DataFrame([_record(outcome) for outcome in self.outcomes], columns=columns)

    def __repr__(self) -> str:
        rows = [(o.status.value, o.rule.name, o.message) for o in self.outcomes]
        widths = [max((len(row[n]) for row in rows), default=0) for n in (0, 1)]
        margin = " " * (sum(widths) + 4)
        lines = [
            f"{status:<{widths[0]}}  {name:<{widths[1]}}  {text}"
            + (f"\n{margin}values: {sample_words(one.samples)}" if one.samples else "")
            for (status, name, text), one in zip(rows, self.outcomes, strict=True)
        ]
        return "\n".join([self.headline(), *lines])

    def _repr_html_(self) -> str:
        return html_of_all(self.headline(), self.outcomes)

    def headline(self) -> str:
        """Such as "4 outcomes: 1 Error, 3 Ok"."""
        counts = Counter(outcome.status for outcome in self.outcomes)
        order = (Status.ERROR, Status.WARNING, Status.EMPTY, Status.OK)
        parts = [f"{counts[status]} {status}" for status in order if counts[status]]
        return f"{plural(len(self.outcomes), 'outcome')}: {', '.join(parts) or 'none'}"


def _record(outcome: Outcome) -> dict[str, Any]:
    return {
        "rule": outcome.rule.name,
        "type": outcome.rule.type,
        "partition": outcome.partition,
        "status": outcome.status.value,
        "observed": outcome.observed,
        "message": outcome.message,
        "bounds": dict(outcome.bounds),
        "rows": outcome.rows,
        "failed_rows": outcome.failed_rows,
        "details": dict(outcome.details),
    }
