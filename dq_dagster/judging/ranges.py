"""Judging one value by hard and soft bounds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any

from dq_dagster.judging.comparison import aligned, in_zone, is_nan
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.status import Status
from dq_dagster.judging.wording import show, show_bound
from dq_dagster.metrics.constant import Scalar


@dataclass(frozen=True, slots=True)
class Range:
    """Inclusive bounds: beyond a hard one is an Error, beyond a soft one a Warning."""

    min: Scalar | None = None
    soft_min: Scalar | None = None
    soft_max: Scalar | None = None
    max: Scalar | None = None

    def judge(
        self, value: Any, *, what: str, rows: int | None = None, zone: tzinfo = UTC
    ) -> Judgement:
        """The verdict on ``value``, the observed ``what``, such as "The maximum of 'amount'"."""
        if value is None:
            status, message = Status.EMPTY, f"Nothing to judge: {_too_few(what, rows)}."
        elif is_nan(value):
            status, message = Status.ERROR, f"{what} is NaN (not a number), which fits no range."
        else:
            status, verdict = self._place(value, zone, what)
            message = f"{what} is {self.told(in_zone(value, zone), verdict)}, {verdict}."
        observed = in_zone(value, zone)
        return Judgement(
            status,
            message,
            observed=observed,
            bounds=self.given(),
            expected=self.words(),
            rows=rows,
        )

    def _place(self, value: Any, zone: tzinfo, what: str) -> tuple[Status, str]:
        for status, softness, low, high in (
            (Status.ERROR, "", self.min, self.max),
            (Status.WARNING, "soft ", self.soft_min, self.soft_max),
        ):
            if low is not None and value < aligned(low, value, zone=zone, what=what):
                return status, f"below the {softness}minimum of {self.shown(low)}"
            if high is not None and value > aligned(high, value, zone=zone, what=what):
                return status, f"above the {softness}maximum of {self.shown(high)}"
        return Status.OK, f"as expected ({self.words()})"

    def given(self) -> dict[str, Scalar]:
        """The bounds that were set, by name."""
        bounds = {
            "min": self.min,
            "soft_min": self.soft_min,
            "soft_max": self.soft_max,
            "max": self.max,
        }
        return {name: bound for name, bound in bounds.items() if bound is not None}

    def words(self) -> str:
        """What the range demands, such as "at least 0, at most 10 (ideally at most 8)"."""
        hard = self._limits(self.min, self.max)
        soft = self._limits(self.soft_min, self.soft_max)
        if hard and soft:
            return f"{hard}, ideally {soft}"
        return hard or f"ideally {soft}"

    def told(self, value: Any, verdict: str) -> str:
        """The observed value in the sentence that ends with the verdict."""
        return _apart(show(value), verdict, value)

    def shown(self, bound: Scalar) -> str:
        """A bound in a sentence."""
        return show_bound(bound)

    def _limits(self, low: Scalar | None, high: Scalar | None) -> str:
        if low is not None and low == high:
            return f"exactly {self.shown(low)}"
        words = []
        if low is not None:
            words.append(f"at least {self.shown(low)}")
        if high is not None:
            words.append(f"at most {self.shown(high)}")
        return " and ".join(words)


def _too_few(what: str, rows: int | None) -> str:
    return f"{what[:1].lower()}{what[1:]} needs {'more' if rows else 'some'} values"


def _apart(shown: str, verdict: str, value: Any) -> str:
    """Never "1,000 is above 1,000": shows all digits where the short form equals the bound's."""
    return repr(value) if verdict.endswith(f" {shown}") and isinstance(value, float) else shown
