"""Judging counted rows: how many bad ones are tolerated, how many good ones required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.wording import listing, share, show

Amount: TypeAlias = int | float | Decimal
Unit: TypeAlias = Literal["count", "proportion"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """At most so many (or such a share) of the rows may be bad, or at least so many must be good.

    Beyond the ``hard`` bound is an Error, beyond the ``soft`` one a Warning.
    """

    unit: Unit
    soft: Amount | None = None
    hard: Amount | None = None
    # Whether the bounds are on good rows, from below, rather than on bad ones.
    of_good: bool = False

    def judge(self, bad: int, considered: int) -> RowVerdict:
        if not considered:
            return RowVerdict(Status.EMPTY, bad, considered, self)
        counted = considered - bad if self.of_good else bad
        # Exact: 1 of 3 rows is neither above nor below a share of 1/3 by a rounding error.
        amount = Fraction(counted) if self.unit == "count" else Fraction(counted, considered)
        for status, bound in ((Status.ERROR, self.hard), (Status.WARNING, self.soft)):
            if bound is None:
                continue
            limit = _exact(bound)
            if amount < limit if self.of_good else amount > limit:
                return RowVerdict(status, bad, considered, self)
        return RowVerdict(Status.OK, bad, considered, self)

    def words(self) -> str:
        """Such as "at most 1 % allowed, ideally at most 0.5 %", or "at least 99 % required"."""
        sense, verb = ("at least", "required") if self.of_good else ("at most", "allowed")
        words = []
        if self.hard == 0 and not self.of_good:
            words.append("none allowed")
        elif self.hard is not None:
            words.append(f"{sense} {self._shown(self.hard)} {verb}")
        if self.soft is not None:
            words.append(f"ideally {sense} {self._shown(self.soft)}")
        return ", ".join(words)

    def given(self) -> dict[str, Amount]:
        """The bounds that were set, by name."""
        side = "min" if self.of_good else "max"
        bounds = {f"soft_{side}": self.soft, side: self.hard}
        return {name: bound for name, bound in bounds.items() if bound is not None}

    def bad_shares(self) -> list[Fraction]:
        """The shares of bad rows that the bounds mean; none where they count rows."""
        if self.unit == "count":
            return []
        shares = [_exact(bound) for bound in self.given().values()]
        return [1 - one for one in shares] if self.of_good else shares

    def _shown(self, bound: Amount) -> str:
        if self.unit == "count":
            return show(int(bound) if float(bound).is_integer() else bound)
        return f"{float(_exact(bound) * 100):.10g} %"


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """The verdict on some bad rows among those considered; Empty if there are none of these."""

    status: Status
    bad: int
    considered: int
    tolerance: Tolerance

    def limits(self, *, of_good: bool = False) -> dict[str, Amount]:
        """The bounds on the number of bad rows, or of good ones, whatever they are said of."""
        side = "min" if of_good else "max"
        found: dict[str, Amount] = {}
        for name, bound in self.tolerance.given().items():
            limit = _exact(bound) * (1 if self.tolerance.unit == "count" else self.considered)
            rows = limit if of_good is self.tolerance.of_good else self.considered - limit
            found[f"soft_{side}" if name.startswith("soft") else side] = _plain(rows)
        return found

    def counted(self, noun: str) -> str:
        """The bad rows, such as "3 of 1,204 rows (0.25 %)".

        With digits enough to tell their share from the one that is allowed.
        """
        return share(self.bad, self.considered, noun, beside=self.tolerance.bad_shares())

    def judgement(
        self,
        says: str,
        *,
        of: Sequence[str] = (),
        about_good: bool = False,
        counts_good: bool = False,
        about: str = "",
        hedge: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> Judgement:
        """The verdict in words: ``says`` is what is wrong with so many rows.

        Of columns, their values are spoken of, or the combinations of them. ``about_good``: the
        sentence is about the good rows; ``counts_good``: they are what is observed. Where the
        counts are estimates, ``about`` comes first and ``hedge`` last.
        """
        if not self.considered:
            return Judgement.of_no_values(", ".join(of)) if of else Judgement.of_no_rows()
        counted, beside = self.bad, self.tolerance.bad_shares()
        bounds, words = self.tolerance.given(), self.tolerance.words()
        if about_good:
            counted, beside = self.considered - self.bad, [1 - one for one in beside]
        noun = "row" if not of else "value" if len(of) == 1 else "combination"
        subject = share(counted, self.considered, noun, beside=beside)
        owner = f" of {listing(of)}" if of else ""
        limits = self.limits(of_good=counts_good)
        return Judgement(
            self.status,
            f"{about}{subject}{owner} {says} ({words}{hedge}).",
            observed=self.considered - self.bad if counts_good else self.bad,
            bounds=bounds,
            expected=words,
            rows=self.considered,
            failed_rows=self.bad,
            details=details or {},
            limits={} if limits == bounds else limits,
        )


def _plain(rows: Fraction) -> int | float:
    return rows.numerator if rows.denominator == 1 else float(rows)


def _exact(bound: Amount) -> Fraction:
    # 0.1 means one tenth to the person who wrote it, not the nearest binary number.
    return Fraction(str(bound))
