"""Which aggregates of Spark an expression about the dataset may call, and with what.

Only aggregates are listed whose answer depends on the rows alone, not on their order, and is one
small value. All of them leave NULLs out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Role(Enum):
    """What an argument is: a value of each row, or a setting written as a literal."""

    VALUE = "a value of each row"
    FRACTION = "a number from 0 to 1, written as such"
    ACCURACY = "a whole number of at most 6 digits, written as such"
    DEVIATION = "a number from 0.01 to 0.39, written as such"
    TRUE = "the word true"


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of an aggregate, of which the first ``least`` must be there.

    ``repeats``: there may be any number of arguments like the first one.
    """

    roles: tuple[Role, ...]
    least: int
    repeats: bool = False
    distinct: bool = True

    def role(self, number: int) -> Role | None:
        """What the argument of that number is; nothing if there is no such argument."""
        if self.repeats:
            return self.roles[0]
        return self.roles[number] if number < len(self.roles) else None

    def words(self) -> str:
        """Such as "1 or 2 arguments: a value of each row; a number"."""
        if not self.roles:
            return "no arguments beside its order"
        if self.repeats:
            return "at least 1 argument"
        if self == _ONE:
            return "1 argument"
        counts = range(self.least, len(self.roles) + 1)
        roles = "; ".join(role.value for role in self.roles)
        return f"{' or '.join(map(str, counts))} arguments: {roles}"


_ONE = Signature((Role.VALUE,), 1)
_TWO = Signature((Role.VALUE, Role.VALUE), 2)

_SIGNATURES: tuple[tuple[Signature, str], ...] = (
    (Signature((Role.VALUE,), 1, repeats=True), "count"),
    (
        _ONE,
        """
        any avg bit_and bit_or bit_xor bool_and bool_or count_if every kurtosis max mean median min
        skewness some std stddev stddev_pop stddev_samp sum try_avg try_sum var_pop var_samp
        variance
        """,
    ),
    (
        _TWO,
        """
        corr covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
        regr_sxx regr_sxy regr_syy
        """,
    ),
    (Signature((Role.VALUE, Role.FRACTION, Role.VALUE), 2), "percentile"),
    (
        Signature((Role.VALUE, Role.FRACTION, Role.ACCURACY), 2),
        "approx_percentile percentile_approx",
    ),
    (Signature((Role.VALUE, Role.DEVIATION), 1), "approx_count_distinct"),
    # Of several most frequent values, mode(x) takes any; mode(x, true) takes the smallest.
    (Signature((Role.VALUE, Role.TRUE), 2, distinct=False), "mode"),
    (Signature((Role.FRACTION,), 1, distinct=False), "percentile_cont percentile_disc"),
)

#: Every aggregate that may be called.
AGGREGATES: Mapping[str, Signature] = MappingProxyType(
    {name: signature for signature, names in _SIGNATURES for name in names.split()}
)

#: Aggregates that may be written with an order, ``mode() WITHIN GROUP (ORDER BY x)``, with what
#: they take beside it. Of those with an order, only mode() can do without.
ORDERED: Mapping[str, Signature] = MappingProxyType(
    {
        "mode": Signature((), 0, distinct=False),
        **{name: AGGREGATES[name] for name in ("percentile_cont", "percentile_disc")},
    }
)

#: Aggregates that gather values, of which at most the number is taken, and whether they leave out
#: what comes again. What they gather may be as large as the data.
GATHERED: Mapping[str, bool] = MappingProxyType(
    {"array_agg": False, "collect_list": False, "collect_set": True}
)

#: Aggregates that keep more than a few numbers. Spark runs them, and all that is computed beside
#: them, without compiling the loop over the rows.
BULKY = frozenset(
    """
    approx_count_distinct approx_percentile median mode percentile percentile_approx
    percentile_cont percentile_disc
    """.split()
)
