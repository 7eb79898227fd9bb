"""International bank account numbers: shape, length of the country, check digits."""

from __future__ import annotations

from dq_dagster.metrics.meanings.iban_lengths import LENGTHS
from dq_dagster.rules.regex import whole
from dq_dagster.spark import quoting

_HEAD = "[A-Z]{2}(?:0[2-9]|[1-8][0-9]|9[0-8])"
_TOGETHER = "[A-Z0-9]{11,30}"
_IN_GROUPS = "(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?"
_SHAPE = whole(f"{_HEAD}(?:{_TOGETHER}|{_IN_GROUPS})")


def is_iban(value: str) -> str:
    together = f"replace({value}, ' ', '')"
    lengths = ", ".join(f"'{country}{length}'" for country, length in LENGTHS.items())
    fits = f"concat(left({value}, 2), length({together})) IN ({lengths})"
    return f"{value} RLIKE {quoting.text(_SHAPE)} AND {fits} AND {_remainder(together)} = 1"


def _remainder(account: str) -> str:
    """The number modulo 97, letters counted as 10 to 35, the first four characters put last.

    Digit by digit, since the whole number has too many for any of Spark's types.
    """
    turned = f"concat(substr({account}, 5), left({account}, 4))"
    code = "ascii(c)"
    step = f"if({code} < 65, m * 10 + {code} - 48, m * 100 + {code} - 55) % 97"
    return f"aggregate(split({turned}, ''), 0, (m, c) -> {step})"
