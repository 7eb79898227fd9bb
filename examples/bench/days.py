"""Suite B: the everyday rules on each day and on the whole table, in one evaluation.

By hand, the whole table alone is looked at: twenty days on top must cost little, and no Spark job.
"""

from __future__ import annotations

from functools import partial

from examples.bench.answers import by_sql, evaluate_days, require_equal_days
from examples.bench.data import DAY_KEYS, DAYS
from examples.bench.everyday import BY_HAND, SCAN
from examples.bench.references import SCANNED, by_hand, scan
from examples.bench.report import SameJobs, Target
from examples.bench.setting import Actions, Setting, Suite
from examples.bench.stopwatch import Action
from examples.bench.suites import APPROXIMATE, EVERYDAY, IN_ONE_PASS

_FEW = 5
_RULES = f"{len(EVERYDAY)} rules"
_ALL_DAYS, _FEW_DAYS = f"{_RULES}, {DAYS} days and all", f"{_RULES}, {_FEW} days and all"
_BY_SQL = f"{_ALL_DAYS}, by SQL alone"
_APPROXIMATE = f"{_ALL_DAYS}, approximate"
_ONE_PASS = f"{len(IN_ONE_PASS)} rules of one pass, {DAYS} days and all"
_SMALLER = f"{_RULES}, a table of {_FEW} days"


def _days(setting: Setting) -> Actions:
    frame = setting.frame
    require_equal_days(frame)
    few = DAY_KEYS[:_FEW]
    return {
        BY_HAND: Action(partial(by_hand, frame)),
        SCAN: Action(partial(scan, frame, SCANNED)),
        _ALL_DAYS: Action(partial(evaluate_days, frame)),
        _BY_SQL: Action(partial(by_sql, frame, partial(evaluate_days, frame))),
        _APPROXIMATE: Action(partial(evaluate_days, frame, rules=APPROXIMATE)),
        _ONE_PASS: Action(partial(evaluate_days, frame, rules=IN_ONE_PASS)),
        _FEW_DAYS: Action(partial(evaluate_days, frame, few)),
        _SMALLER: Action(partial(evaluate_days, frame.where(f"day <= DATE'{few[-1]}'"))),
    }


SUITE_B = Suite(
    "Suite B: everyday rules by day",
    _days,
    references=(BY_HAND, SCAN),
    verdicts=(
        Target(_ALL_DAYS, BY_HAND, 0.75),
        Target(_BY_SQL, BY_HAND, 0.95),
        Target(_APPROXIMATE, BY_HAND, 0.45),
        Target(_ONE_PASS, SCAN, 2.3),
        SameJobs("days", {_FEW: _FEW_DAYS, DAYS: _ALL_DAYS}),
        SameJobs("days in the table", {_FEW: _SMALLER, DAYS: _ALL_DAYS}),
    ),
    shaped=True,
)
