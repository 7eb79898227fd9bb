"""Changes between two states of rules: what is removed, added, renamed, weaker or tighter."""

from __future__ import annotations

from pathlib import Path

import dq_dagster as dq
from dq_dagster.sources.contracts.changes import rule_sets_in

OLD = [
    dq.RecordCountInRange(min=1, max=100),
    dq.ColumnNotEmpty(columns=["a", "b"]),
    dq.ColumnAvgInRange(columns=["a"], soft_max=5, max=10),
    dq.Freshness(columns=["t"], max="1 day"),
    dq.ColumnUnique(name="old_name", columns=["a"]),
    dq.ColumnStddevInRange(columns=["a"], soft_max=1),
    dq.ColumnMaxInRange(columns=["a"], max=1, enabled=False),
    dq.RowExpectation(name="off", expectation="a > 0", enabled=False),
]
NEW = [
    dq.RecordCountInRange(min=5, max=100),
    dq.ColumnNotEmpty(columns=["a"], threshold=0.1),
    dq.ColumnAvgInRange(columns=["a"], soft_max=6, max=10, tags=["x"]),
    dq.ColumnUnique(name="new_name", columns=["a"]),
    dq.ColumnMinInRange(columns=["a"], min=1),
    dq.ColumnMedianInRange(columns=["a"], soft_min=1),
    dq.RowExpectation(name="off", expectation="a > 1", enabled=False),
]


def test_every_change_has_a_level_and_reasons() -> None:
    found = dq.contract_diff(
        [dq.RuleSet(asset="orders", rules=OLD, sensitive=["a", "b"], timeout=60)],
        [dq.RuleSet(asset="orders", rules=NEW, sensitive=["b", "c"])],
    )
    assert (
        str(found)
        == """\
13 changes: 3 breaking, 2 stricter, 8 harmless

Breaking: the promise is weaker, or another one
  orders, column_not_empty_a: renamed, weaker
    It was column_not_empty_a_b: its history stays with the old name.
    columns: without b (weaker)
    threshold: at most 10 % allowed instead of all (weaker)
  orders, freshness_t: removed
    The age of the newest 't' is at most 1 day.
  orders: sensitive is shorter
    Values of a may be shown.

Stricter: data that was fine may be an Error
  orders, record_count_in_range: tighter
    min: 5 instead of 1 (tighter)
  orders, column_min_in_range_a: added
    The minimum of 'a' is at least 1.

Harmless: the same is an Error as before
  orders, column_avg_in_range_a: changed in its Warnings
    tags: also x
    soft_max: 6 instead of 5 (Warnings only)
  orders, off: changed
    expectation: a > 1 instead of a > 0
  orders, new_name: renamed
    It was old_name: its history stays with the old name.
  orders, column_stddev_in_range_a: removed
    It was never an Error.
  orders, column_max_in_range_a: removed
    It was disabled.
  orders, column_median_in_range_a: added
    It is never an Error.
  orders: timeout is another one
  orders: sensitive is longer
    Values of c are masked."""
    )
    assert found.is_breaking
    assert found.to_dict()["counts"] == {"breaking": 3, "stricter": 2, "harmless": 8}


def test_assets_come_and_go() -> None:
    one = dq.RuleSet(asset="a", rules=[dq.RecordCountInRange(min=1)])
    other = dq.RuleSet(asset="b", rules=[dq.RecordCountInRange(min=1)])
    found = dq.contract_diff([one], [other])
    assert [(c.asset, c.change, c.level.value) for c in found.changes] == [
        ("a", "removed", "breaking"), ("b", "added", "stricter"),
    ]  # fmt: skip
    assert str(dq.contract_diff([one, other], [other, one])) == "No changes"


def test_defaults_of_rule_sets_are_compared_with_the_rules() -> None:
    rules = [dq.ColumnNotEmpty(columns=["a"]), dq.ColumnValuesMatch(columns=["a"], pattern="x")]
    found = dq.contract_diff(
        [dq.RuleSet(asset="a", rules=rules)],
        [dq.RuleSet(asset="a", rules=rules, empty_includes_blank=True, on_empty="error")],
    )
    levels = {change.rule: (change.change, change.level.value) for change in found.changes}
    assert levels == {
        "column_not_empty_a": ("tighter", "stricter"),
        "column_values_match_a": ("different", "breaking"),
    }
    [moved] = dq.contract_diff(
        [dq.RuleSet(asset="a", rules=rules)],
        [dq.RuleSet(asset="a", rules=rules, reader={"table": "x"})],
    ).changes
    assert (moved.change, moved.level.value) == ("reader is another one", "breaking")


def test_files_of_both_kinds_are_compared(tmp_path: Path) -> None:
    rules = dq.RuleSet(asset="orders", rules=OLD)
    dq.write_contract(tmp_path / "old.odcs.yaml", rules)
    (tmp_path / "new.yaml").write_text(
        "asset: orders\nrules:\n- {type: record_count_in_range, min: 5, max: 100}\n"
    )
    old, new = (rule_sets_in(tmp_path / name) for name in ("old.odcs.yaml", "new.yaml"))
    assert old == [rules]
    changes = dq.contract_diff(old, new).changes
    places = {change.rule: change.place for change in changes}
    assert places["record_count_in_range"] == "new.yaml:3"
    assert places["freshness_t"].startswith("old.odcs.yaml:")
