"""What a backtest found: one row a point, readable as text and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dq_dagster.judging.judgement import Status
from dq_dagster.judging.typical import Typical
from dq_dagster.judging.wording import plural, show

if TYPE_CHECKING:
    import pandas as pd

# Whatever has a value and is Empty has too little past.
_WORDS = {
    Status.ERROR: "Error",
    Status.WARNING: "Warning",
    Status.OK: "Ok",
    Status.EMPTY: "learning",
}


@dataclass(frozen=True, slots=True)
class BacktestPoint:
    """A value of the past, and what change detection would have said about it.

    ``at`` is the moment it counts for: the time of its partition, or that of its evaluation.
    ``line`` tells apart what is not compared: slices, or series of partitions.
    """

    at: datetime
    partition: str | None
    metric: str
    value: int | float
    status: Status
    message: str
    bounds: Mapping[str, int | float] = field(default_factory=dict)
    line: str = ""

    @property
    def verdict(self) -> str:
        """The status in a word; while there is too little past, "learning"."""
        return _WORDS.get(self.status, str(self.status))

    def record(self) -> dict[str, Any]:
        return {
            "time": self.at,
            "partition": self.partition,
            "metric": self.metric,
            "value": self.value,
            "status": self.status.value,
            **{name: self.bounds.get(name) for name in ("min", "soft_min", "soft_max", "max")},
            "message": self.message,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Backtest:
    """The points of the past in their order, one metric after the other.

    ``typical`` is what they were judged by; ``left_out`` is how many evaluations there are without
    a number that could be judged.
    """

    points: tuple[BacktestPoint, ...]
    typical: Typical
    left_out: int = 0

    @property
    def metrics(self) -> tuple[str, ...]:
        """The keys of the metrics that were judged."""
        return tuple(dict.fromkeys(point.metric for point in self.points))

    @property
    def counts(self) -> dict[Status, int]:
        """How many points there are of each status; those that are Empty were still learning."""
        return dict(Counter(point.status for point in self.points))

    def of(self, metric: str) -> Backtest:
        """The points of one metric."""
        return self._only(point for point in self.points if point.metric == metric)

    def parts(self) -> dict[str, Backtest]:
        """The points that were compared with each other, by what they are of."""
        found: dict[str, list[BacktestPoint]] = {}
        for point in self.points:
            name = f"{point.metric}, {point.line}" if point.line else point.metric
            found.setdefault(name, []).append(point)
        return {name: self._only(points) for name, points in found.items()}

    @property
    def by_partition(self) -> bool:
        """Whether each point is of another partition, rather than of one slice again."""
        keys = [point.partition for point in self.points]
        return None not in keys and len(set(keys)) == len(keys)

    def _only(self, points: Iterable[BacktestPoint]) -> Backtest:
        return Backtest(tuple(points), self.typical, self.left_out)

    def __iter__(self) -> Iterator[BacktestPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def to_pandas(self) -> pd.DataFrame:
        """One row a point."""
        import pandas as pd

        columns = ["time", "partition", "metric", "value", "status", "min", "soft_min", "soft_max",
                   "max", "message"]  # fmt: skip
        return pd.DataFrame([point.record() for point in self.points], columns=columns)

    def headline(self) -> str:
        """Such as "31 points: 1 Error, 0 Warning, 23 Ok, 7 learning"."""
        counts = self.counts
        parts = ", ".join(f"{counts.get(status, 0):,} {word}" for status, word in _WORDS.items())
        return f"{plural(len(self.points), 'point')}: {parts}"

    def labels(self) -> list[str]:
        """What to call each point: its partition if each is of another one, else its time."""
        if self.by_partition:
            return [str(point.partition) for point in self.points]
        return [point.at.strftime("%Y-%m-%d %H:%M:%S") for point in self.points]

    def __repr__(self) -> str:
        lines = [self.headline()]
        for name, part in self.parts().items():
            lines += [name, *_lines(part)]
        return "\n".join(lines)


def _lines(found: Backtest) -> Iterator[str]:
    points = zip(found.labels(), found, strict=True)
    rows = [(label, one.verdict, show(one.value), _range(one)) for label, one in points]
    label_width, word_width, value_width = (max(len(row[n]) for row in rows) for n in range(3))
    for label, word, value, bounds in rows:
        line = f"  {label:<{label_width}}  {word:<{word_width}}  {value:>{value_width}}  {bounds}"
        yield line.rstrip()


def _range(point: BacktestPoint) -> str:
    if not point.bounds:
        return ""
    return f"(typical: {show(point.bounds['min'])} to {show(point.bounds['max'])})"
