"""Suites A and W: what everyday rules take, and what very many of them do."""

from __future__ import annotations

from functools import partial

from examples.bench.answers import by_sql, evaluate, require_equal_answers
from examples.bench.data import COLUMNS
from examples.bench.references import SCANNED, by_hand, scan
from examples.bench.report import Target
from examples.bench.setting import Actions, Setting, Suite
from examples.bench.stopwatch import Action
from examples.bench.suites import EVERYDAY, IN_ONE_PASS, broken_rules, many_rules

SCAN, BY_HAND = "L0 (one scan)", "L1 (by hand)"
_ALL, _ONE_PASS = f"{len(EVERYDAY)} rules", f"{len(IN_ONE_PASS)} rules of one pass"
_BY_SQL = f"{_ALL} by SQL alone"
_SIZES = (60, 80, 100, 120, 300, 1_000)
# Where no row breaks a rule, there is little to count.
_BROKEN = (100, 1_000)


def _everyday(setting: Setting) -> Actions:
    frame = setting.frame
    require_equal_answers(frame)
    return {
        SCAN: Action(partial(scan, frame, SCANNED)),
        BY_HAND: Action(partial(by_hand, frame)),
        _ALL: Action(partial(evaluate, frame, EVERYDAY)),
        _BY_SQL: Action(partial(by_sql, frame, partial(evaluate, frame, EVERYDAY))),
        _ONE_PASS: Action(partial(evaluate, frame, IN_ONE_PASS)),
    }


def _many(setting: Setting) -> Actions:
    frame = setting.frame
    sizes = {f"{n} rules": Action(partial(evaluate, frame, many_rules(n))) for n in _SIZES}
    broken = {
        f"{n} broken rules": Action(partial(evaluate, frame, broken_rules(n))) for n in _BROKEN
    }
    return {SCAN: Action(partial(scan, frame, list(COLUMNS))), **sizes, **broken}


SUITE_A = Suite(
    "Suite A: everyday rules",
    _everyday,
    references=(SCAN, BY_HAND),
    verdicts=(
        Target(_ALL, BY_HAND, 0.5),
        Target(_BY_SQL, BY_HAND, 0.7),
        Target(_ONE_PASS, SCAN, 1.4),
    ),
    shaped=True,
)
SUITE_W = Suite(
    "Suite W: many rules",
    _many,
    references=(SCAN, "100 rules"),
    # In proportion, 120 rules take twice as long as 60: whatever takes longer is a cliff.
    verdicts=(
        *(Target(f"{size} rules", "60 rules", 2.0) for size in (80, 100, 120)),
        Target("1000 rules", "100 rules", 3.0),
        Target("1000 broken rules", "100 broken rules", 3.0),
    ),
)
