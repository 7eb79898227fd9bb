"""What a monitor shows, on logs that Dagster wrote."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa

import dq_dagster as dq
from dq_dagster.errors import NotOnRecord
from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.declared import CodeLocation, DeclaredLocations
from dq_dagster.monitoring.index.numbers import numbers_of, read_many
from dq_dagster.monitoring.model.scores import Objective
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.monitoring.views.dataset import MOST_SLICES
from dq_dagster.monitoring.views.shapes import HistoryPoint, PointBounds, plain
from tests.monitoring.logs import Told, at, connected, store

NOW = at("2026-06-08")
KEY = dg.AssetKey("orders")


@pytest.fixture
def log() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as instance:
        yield instance


def shown(instance: dg.DagsterInstance, *locations: Any, now: datetime = NOW) -> Monitor:
    found = Monitor(instance, locations=locations, now=lambda: now)
    found.refresh()
    return found


def specs(*names: str, asset: str = "orders", **metadata: Any) -> dg.AssetChecksDefinition:
    @dg.multi_asset_check(
        name=f"checks_of_{asset}",
        specs=[dg.AssetCheckSpec(name, asset=asset, metadata=metadata) for name in names],
    )
    def checks() -> Iterator[Any]:
        yield from ()

    return checks


def test_the_example_of_june(log: dg.DagsterInstance) -> None:
    """A and B on June 5th; B, C and the whole dataset on June 7th."""
    store(
        log,
        Told("rows", Status.ERROR, at("2026-06-05"), "A"),
        Told("rows", Status.OK, at("2026-06-05"), "B"),
        Told("rows", Status.OK, at("2026-06-07"), "B"),
        Told("rows", Status.WARNING, at("2026-06-07"), "C"),
        Told("rows__dataset", Status.OK, at("2026-06-07")),
    )
    with shown(log) as monitor:
        days = monitor.timeline("orders", days=5).days
        assert [(one.day.day, one.last, one.worst, one.carried) for one in days] == [
            (4, Status.NOT_COMPUTED, None, False),
            (5, Status.ERROR, Status.ERROR, False),
            (6, Status.ERROR, None, True),
            (7, Status.WARNING, Status.WARNING, False),
            (8, Status.WARNING, None, True),
        ]
        # Of two rules: (Ok and Warning) and Ok.
        assert [one.score for one in days] == [None, 50.0, 50.0, 87.5, 87.5]
        view = monitor.dataset("orders")
        assert (view.slices, view.slices_in_all, view.partitioned) == ((None, "B", "C"), 3, True)
        assert str(view.last_day) == "2026-06-07"
        [rows, whole] = view.rules
        assert [(one.partition, one.status) for one in rows.slices] == [
            ("C", Status.WARNING),
            ("B", Status.OK),
        ]
        assert (rows.slices[0].message, whole.status) == ("rows is Warning.", Status.OK)
        only = monitor.dataset("orders", partition="A")
        assert [one.status for one in only.rules] == [Status.ERROR, Status.NOT_COMPUTED]
        grid = monitor.partitions("orders")
        assert [one.check for one in grid.rules] == ["rows", "rows__dataset"]
        assert [(one.partition, one.status, one.cells) for one in grid.partitions] == [
            (None, Status.OK, (None, Status.OK)),
            ("C", Status.WARNING, (Status.WARNING, None)),
            ("B", Status.OK, (Status.OK, None)),
            ("A", Status.ERROR, (Status.ERROR, None)),
        ]
        behind = monitor.day("orders", at("2026-06-06").date())
        [rule] = behind.rules
        assert (rule.last, rule.worst, rule.evaluations, rule.message) == (
            Status.ERROR,
            None,
            0,
            "rows is Error.",
        )
        assert str(behind.as_of) == "2026-06-05"


def test_partitions_that_are_days_have_a_calendar(log: dg.DagsterInstance) -> None:
    store(
        log,
        Told("rows", Status.ERROR, at("2026-06-05"), "2024-03-01"),
        Told("rows", Status.OK, at("2026-06-05"), "2024-03-02"),
        Told("ids", Status.WARNING, at("2026-06-06"), "2024-03-02"),
        # Half a year before the newest, and as old as days can be.
        Told("rows", Status.OK, at("2026-06-05"), "2023-09-02"),
        Told("rows", Status.OK, at("2026-06-05"), "2023-09-01"),
        Told("rows", Status.OK, at("2026-06-05"), "0001-01-01"),
        Told("rows", Status.OK, at("2026-06-05")),
        *(
            Told("rows", Status.OK, at("2026-06-05"), key, asset=asset)
            for asset, keys in {
                "regions": ("2024-03-01", "north"),
                "compact": ("20240301",),
                "first": ("0001-01-01",),
            }.items()
            for key in keys
        ),
    )
    with shown(log) as monitor:
        days = monitor.partitions("orders", limit=1).days
        assert [(str(one.day), one.last, one.carried) for one in days] == [
            ("2023-09-02", Status.OK, False),
            ("2024-03-01", Status.ERROR, False),
            ("2024-03-02", Status.WARNING, False),
        ]
        by_asset = {name: monitor.partitions(name).days for name in ("regions", "compact", "first")}
        assert {name: len(days) for name, days in by_asset.items()} == {
            "regions": 0,
            "compact": 0,
            "first": 1,
        }


def test_partitions_of_one_run_come_in_the_order_of_their_keys(log: dg.DagsterInstance) -> None:
    # The run before it, a run that judged the 2nd last, and what was reported without any.
    runs = {"before": ["2026-06-04"], "last": ["2026-06-01", "2026-06-03", "2026-06-02"]}
    every = [(run, key) for run, keys in {**runs, "": ["late", "later"]}.items() for key in keys]
    for minute, (run, key) in enumerate(every):
        moment = at("2026-06-07") + timedelta(minutes=minute)
        [number] = store(log, Told("rows", Status.OK, moment, key))
        with connected(log) as connection:
            connection.execute(
                sa.text("UPDATE asset_check_executions SET run_id = :run WHERE id = :number"),
                {"run": run, "number": number},
            )
    expected = ["later", "late", "2026-06-03", "2026-06-02", "2026-06-01", "2026-06-04"]
    with shown(log) as monitor:
        found = [row.partition for row in monitor.partitions("orders").partitions]
        assert found == expected
        points = monitor.history("orders", "rows").points
        assert [one.partition for one in points] == expected[::-1]


def test_a_project_of_which_nothing_is_monitored_has_days(log: dg.DagsterInstance) -> None:
    store(log, Told("rows", Status.ERROR, at("2026-06-08", 9), asset="of others"))
    location = CodeLocation.of(dg.Definitions(assets=[dg.AssetSpec("orders")]), name="here")
    with shown(log, location) as monitor:
        [project] = monitor.overview().projects
        assert (project.name, project.status) == ("not declared", Status.NOT_COMPUTED)
        days = monitor.timeline(project="not declared", days=2).days
        assert [(one.last, one.worst) for one in days] == [(Status.NOT_COMPUTED, None)] * 2


def test_only_what_a_code_location_has_counts(log: dg.DagsterInstance) -> None:
    store(
        log,
        Told("kept", Status.WARNING, at("2026-06-07")),
        Told("gone", Status.ERROR, at("2026-06-07")),
        Told("rows", Status.ERROR, at("2026-06-07"), asset="left_behind"),
        Told("rows", Status.ERROR, at("2026-06-07"), asset="quiet"),
    )
    defs = dg.Definitions(
        assets=[
            dg.AssetSpec("orders", group_name="shop", owners=["team:a"]),
            dg.AssetSpec("quiet", group_name="shop", metadata={"dq/monitored": False}),
        ],
        asset_checks=[specs("kept", "never_ran"), specs("rows", asset="quiet")],
    )
    with shown(log, defs) as monitor:
        overview = monitor.overview()
        assert [(one.asset, one.status, one.monitored) for one in overview.datasets] == [
            ("orders", Status.WARNING, True),
            ("quiet", Status.ERROR, False),
            ("left_behind", Status.NOT_COMPUTED, False),
        ]
        assert overview.status is Status.WARNING
        [shop, rest] = sorted(overview.projects, key=lambda one: -one.monitored)
        assert (shop.name, shop.status, shop.datasets, shop.monitored) == (
            "shop",
            Status.WARNING,
            2,
            1,
        )
        assert (rest.name, rest.monitored) == ("not declared", 0)
        orders = overview.datasets[0]
        assert orders.counts == {Status.WARNING: 1, Status.NOT_COMPUTED: 1}
        assert (orders.owners, orders.score.value) == (("team:a",), 50.0)
        view = monitor.dataset("orders")
        assert [one.info.presence for one in view.past_rules] == ["deleted"]
        # Its past stays.
        assert monitor.timeline("orders", days=2).days[0].last is Status.ERROR
        assert monitor.history("orders", "gone").in_all == 1
        with pytest.raises(NotOnRecord, match=r"No check of asset 'ordrs' .* mean 'orders'"):
            monitor.dataset("ordrs")
        with pytest.raises(NotOnRecord, match="There is no project 'shopp'"):
            monitor.timeline(project="shopp")


def test_rules_say_what_they_weigh_and_which_are_off(log: dg.DagsterInstance) -> None:
    rules = [
        dq.RecordCountInRange(name="rows", min=1, weight=3),
        dq.ColumnNotEmpty(columns="id", name="off", enabled=False),
        dq.ColumnUnique(columns="id", name="ids are unique", tags=["key"]),
    ]
    asset = dg.AssetSpec("orders")
    checks = dq.build_asset_checks(dq.RuleSet(asset=asset, rules=rules))
    location = CodeLocation.of(dg.Definitions(assets=[asset], asset_checks=checks), name="here")
    found = location.assets["orders"].checks
    assert {name: (one.rule, one.weight, one.enabled) for name, one in found.items()} == {
        "rows": ("rows", 3.0, True),
        "off": ("off", 1.0, False),
        "ids_are_unique": ("ids are unique", 1.0, True),
    }
    store(
        log,
        Told("rows", Status.OK, at("2026-06-08", 9)),
        Told("ids_are_unique", Status.ERROR, at("2026-06-08", 9)),
        Told("off", Status.ERROR, at("2026-05-20")),
    )
    with shown(log, location) as monitor:
        row = monitor.dataset("orders").row
        assert (row.score.value, row.status, row.worst_today) == (75.0, Status.ERROR, Status.ERROR)
        assert row.rules == 2
        qualities = {one.name: one for one in monitor.dimensions("orders").qualities}
        assert qualities["completeness"].score.value == 100.0
        assert qualities["uniqueness"].status is Status.ERROR
        # By the name that people gave it, too.
        assert monitor.history("orders", "ids are unique").info.tags == ("key",)


def test_rules_are_off_and_not_deleted_also_if_all_of_them_are(log: dg.DagsterInstance) -> None:
    """All of an asset, or all of those that run at another time than with the build."""
    assets = [dg.AssetSpec("orders"), dg.AssetSpec("refunds")]
    off = dq.RecordCountInRange(name="rows", min=1, enabled=False)
    later = dq.ColumnNotEmpty(
        columns="id", name="later", run="after_build", blocking=False, enabled=False
    )
    sets = [
        dq.RuleSet(asset=assets[0], rules=[off, later]),
        dq.RuleSet(asset=assets[1], rules=[off.model_copy(update={"enabled": True}), later]),
    ]
    checks = dq.build_asset_checks(sets)
    location = CodeLocation.of(dg.Definitions(assets=assets, asset_checks=checks), name="here")
    store(
        log,
        *(
            Told(name, Status.ERROR, at("2026-06-07", 9), asset=asset)
            for asset in ("orders", "refunds")
            for name in ("rows", "later", "of_long_ago")
        ),
    )
    with shown(log, location) as monitor:
        past = {
            asset: {one.info.check: one.info.presence for one in monitor.dataset(asset).past_rules}
            for asset in ("orders", "refunds")
        }
        assert past == {
            "orders": {"rows": "disabled", "later": "disabled", "of_long_ago": "deleted"},
            "refunds": {"later": "disabled", "of_long_ago": "deleted"},
        }


def test_rules_of_guarded_assets_that_are_off_are_not_deleted(log: dg.DagsterInstance) -> None:
    rules = [
        dq.RecordCountInRange(name="rows", min=1),
        dq.ColumnNotEmpty(columns="id", name="id is there", enabled=False, weight=2),
    ]

    @dq.guarded_asset(rules=rules)
    def orders() -> Any: ...

    @dq.guarded_asset(rules=[rule.model_copy(update={"enabled": False}) for rule in rules])
    def refunds() -> Any: ...

    store(
        log,
        Told("rows", Status.OK, at("2026-06-08", 9)),
        Told("id_is_there", Status.ERROR, at("2026-06-07", 9)),
        Told("of_long_ago", Status.ERROR, at("2026-06-07", 9)),
        Told("rows", Status.ERROR, at("2026-06-07", 9), asset="refunds"),
    )
    location = CodeLocation.of(dg.Definitions(assets=[orders, refunds]), name="here")
    with shown(log, location) as monitor:
        view = monitor.dataset("orders")
        assert [one.info.check for one in view.rules] == ["rows"]
        past = {one.info.check: (one.info.rule, one.info.presence) for one in view.past_rules}
        assert past == {
            "id_is_there": ("id is there", "disabled"),
            "of_long_ago": ("of_long_ago", "deleted"),
        }
        # They keep their past, and count no more.
        assert view.row.status is Status.OK
        assert [one.last for one in view.row.days[-2:]] == [Status.ERROR, Status.OK]
        off = monitor.dataset("refunds")
        assert [one.info.presence for one in off.past_rules] == ["disabled"]
        assert (off.row.monitored, off.row.status) == (False, Status.NOT_COMPUTED)


def test_an_objective_by_partitions_and_by_days(log: dg.DagsterInstance) -> None:
    store(
        log,
        *(Told("rows", Status.OK, at("2026-06-01"), f"p{n}") for n in range(19)),
        Told("rows", Status.ERROR, at("2026-06-02"), "p19"),
        Told("rows", Status.ERROR, at("2026-01-02"), "long ago"),
        Told("rows", Status.OK, at("2026-06-02"), asset="plain"),
        Told("rows", Status.ERROR, at("2026-06-03"), asset="plain"),
    )
    said = {"dq/objective": {"ok": 0.9, "days": 10}}
    defs = dg.Definitions(
        assets=[dg.AssetSpec("orders", metadata=said), dg.AssetSpec("plain", metadata=said)],
        asset_checks=[specs("rows"), specs("rows", asset="plain")],
    )
    with shown(log, defs) as monitor:
        kept = {one.asset: one.objective for one in monitor.overview().datasets}
        orders, plain_ = kept["orders"], kept["plain"]
        assert orders is not None
        assert plain_ is not None
        assert orders.objective == Objective(0.9, 10)
        assert (orders.units, orders.ok, orders.budget, orders.left) == (20, 19, 2.0, 1.0)
        assert (plain_.units, plain_.ok, plain_.missed) == (2, 1, True)
        assert (orders.per, plain_.per) == ("partitions", "days")


def test_a_result_that_is_older_than_the_data(log: dg.DagsterInstance) -> None:
    @dg.asset(name="orders")
    def orders() -> int:
        return 1

    @dg.asset_check(asset=orders)
    def fine() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(passed=True)

    later = datetime.now(UTC) + timedelta(minutes=5)
    dg.materialize([orders, fine], instance=log)
    with shown(log, now=later) as monitor:
        assert not monitor.overview().datasets[0].outdated
        dg.materialize([orders], instance=log)
        monitor.refresh()
        [row] = monitor.overview().datasets
        assert (row.status, row.outdated) == (Status.OK, True)
        [rule] = monitor.dataset("orders").rules
        assert (rule.status, rule.outdated, rule.slices[0].outdated) == (Status.OK, True, True)
        assert monitor.partitions("orders").partitions[0].outdated
        dg.materialize([orders, fine], instance=log)
        monitor.refresh()
        assert not monitor.dataset("orders").rules[0].outdated


def test_a_dataset_of_which_only_some_rules_were_judged_again_is_marked(
    log: dg.DagsterInstance,
) -> None:
    """The step of a check may crash, and leaves nothing: what it said before is no news."""
    crashes = [False, True, False]

    @dg.asset
    def orders() -> None: ...

    @dg.asset_check(asset=orders)
    def judged() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(passed=True)

    @dg.asset_check(asset=orders)
    def crashing() -> dg.AssetCheckResult:
        if crashes.pop(0):
            raise RuntimeError
        return dg.AssetCheckResult(passed=True)

    every = [orders, judged, crashing]
    defs = dg.Definitions(assets=[orders], asset_checks=[judged, crashing])
    marked = []
    while crashes:
        dg.materialize(every, instance=log, raise_on_error=False)
        with shown(log, defs, now=datetime.now(UTC)) as monitor:
            view = monitor.dataset("orders")
            outdated = [one.info.check for one in view.rules if one.outdated]
            marked.append((view.row.status, view.row.outdated, outdated))
    assert marked == [
        (Status.OK, False, []),
        (Status.OK, True, ["crashing"]),
        (Status.OK, False, []),
    ]


def test_the_flow_knows_what_is_broken_and_what_may_be_tainted(log: dg.DagsterInstance) -> None:
    days = dg.DailyPartitionsDefinition("2026-06-01", end_date="2026-06-10")
    defs = dg.Definitions(
        assets=[
            dg.AssetSpec("orders", partitions_def=days),
            dg.AssetSpec("by_day", deps=["orders"], partitions_def=days),
            dg.AssetSpec("report", deps=["by_day"]),
            dg.AssetSpec("apart"),
        ],
        asset_checks=[specs("rows")],
    )
    store(log, Told("rows", Status.ERROR, at("2026-06-07"), "2026-06-03"))
    with shown(log, defs) as monitor:
        nodes = {one.asset: one for one in monitor.flow().nodes}
        assert nodes["orders"].status is Status.ERROR
        assert nodes["report"].broken_upstream == ("orders",)
        assert nodes["apart"].broken_upstream == ()
        order = [one.asset for one in monitor.flow().nodes]
        assert order.index("orders") < order.index("by_day") < order.index("report")
        tainted = monitor.lineage("orders").tainted
        assert [(one.asset, one.distance, one.partitions) for one in tainted] == [
            ("by_day", 1, ("2026-06-03",)),
            ("report", 2, None),
        ]
        [broken] = monitor.lineage("report").broken_upstream
        assert (broken.asset, broken.partitions, broken.distance, broken.message) == (
            "orders",
            ("2026-06-03",),
            2,
            "rows is Error.",
        )


def test_every_broken_partition_taints_and_not_only_those_that_are_listed(
    log: dg.DagsterInstance,
) -> None:
    days = dg.DailyPartitionsDefinition("2026-05-01", end_date="2026-06-10")
    defs = dg.Definitions(
        assets=[
            dg.AssetSpec("orders", partitions_def=days),
            dg.AssetSpec("by_day", deps=["orders"], partitions_def=days),
        ],
        asset_checks=[specs("rows")],
    )
    keys = tuple(f"2026-05-{day:02}" for day in range(1, MOST_SLICES + 6))
    # The first partition was judged first: of those that are listed, all are newer.
    broken = [
        Told("rows", Status.ERROR, at("2026-06-07", n // 2), key) for n, key in enumerate(keys)
    ]
    store(log, *broken, Told("rows", Status.OK, at("2026-06-07", 23), "2026-06-01"))
    with shown(log, defs) as monitor:
        assert len(monitor.dataset("orders").rules[0].slices) == MOST_SLICES
        [by_day] = monitor.lineage("orders").tainted
        assert (by_day.partitions, by_day.built_since) == (keys, False)
        [rows] = monitor.lineage("by_day").broken_upstream
        assert (rows.partitions, rows.message) == (keys, "rows is Error.")


def test_a_rule_is_marked_by_partitions_that_are_not_listed(log: dg.DagsterInstance) -> None:
    days = dg.DailyPartitionsDefinition("2026-05-01", end_date="2026-06-10")

    @dg.asset(partitions_def=days)
    def orders() -> None: ...

    keys = [f"2026-05-{day:02}" for day in range(1, MOST_SLICES + 6)]
    store(
        log, *(Told("rows", Status.OK, at("2026-06-07", n // 2), key) for n, key in enumerate(keys))
    )
    with shown(log) as monitor:
        assert not monitor.dataset("orders").rules[0].outdated
        dg.materialize([orders], partition_key=keys[0], instance=log)
        monitor.refresh()
        [rows] = monitor.dataset("orders").rules
        assert keys[0] not in {one.partition for one in rows.slices}
        assert (rows.outdated, any(one.outdated for one in rows.slices)) == (True, False)


def test_of_a_day_come_first_the_rules_that_were_worst(log: dg.DagsterInstance) -> None:
    store(
        log,
        Told("always", Status.OK, at("2026-06-07")),
        Told("mended", Status.ERROR, at("2026-06-07", 1)),
        Told("mended", Status.OK, at("2026-06-07", 2)),
        Told("wrong", Status.WARNING, at("2026-06-07")),
    )
    with shown(log) as monitor:
        rules = monitor.day("orders", at("2026-06-07").date()).rules
        assert [one.info.check for one in rules] == ["wrong", "mended", "always"]


def test_a_history_has_values_and_bounds(log: dg.DagsterInstance) -> None:
    store(log, *(Told("rows", Status.OK, at(f"2026-06-0{n}"), value=n) for n in (1, 2, 3)))
    with shown(log) as monitor:
        found = monitor.history("orders", "rows", limit=2)
        assert [one.at.day for one in found.points] == [2, 3]
        assert (found.in_all, found.partitions) == (3, (None,))
        [first] = monitor.history("orders", "rows", limit=2, before=found.before).points
        assert first.at.day == 1


@pytest.mark.parametrize(
    ("record", "value", "bounds", "many"),
    [
        (
            {"metrics": {"n": 5}, "observed": ("n",), "bounds": {"min": 1, "soft_max": 7}},
            5.0,
            (1.0, None, None, 7.0),
            {},
        ),
        (
            # Shares of rows are no bounds of a number of rows.
            {
                "metrics": {"n": 25},
                "observed": ("n",),
                "bounds": {"max": 0.05},
                "limits": {"max": 50},
            },
            25.0,
            (None, 50.0, None, None),
            {},
        ),
        (
            {
                "metrics": {"count_empty:a": 1, "count_empty:b": 2},
                "observed": ("count_empty:a", "count_empty:b"),
                "bounds": {"max": 0.1},
                "limits": {"a": {"max": 10}, "b": {"max": 8}},
            },
            None,
            (None,) * 4,
            {"a": (1.0, (None, 10.0, None, None)), "b": (2.0, (None, 8.0, None, None))},
        ),
        ({"metrics": {"n": "text"}, "observed": ("n",)}, None, (None,) * 4, {}),
        ({"metrics": {"n": float("nan")}, "observed": ("n",)}, None, (None,) * 4, {}),
        (
            {
                "metrics": {"column_avg:a": 1, "column_avg:b": 2},
                "observed": ("column_avg:a", "column_avg:b"),
                "bounds": {"a": {"max": 3}, "b": {"max": 4}},
            },
            None,
            (None,) * 4,
            {"a": (1.0, (None, 3.0, None, None)), "b": (2.0, (None, 4.0, None, None))},
        ),
    ],
)
def test_numbers_that_were_judged(record: Any, value: Any, bounds: Any, many: Any) -> None:
    from dq_dagster.integration.event_log.codec import Record
    from dq_dagster.integration.event_log.logged import LoggedEvaluation

    said = LoggedEvaluation(
        1, 1, "orders", "rows", None, "", None, 0.0, Status.OK, "", Record(Status.OK, **record), {}
    )
    found = numbers_of(said)
    assert (found.value, found.bounds, read_many(found.many)) == (value, bounds, many)


@pytest.mark.parametrize(
    ("own", "by_column", "shared"),
    [
        (PointBounds(1), {}, PointBounds(1)),
        (PointBounds(), {"a": PointBounds(max=2), "b": PointBounds(max=2)}, PointBounds(max=2)),
        (PointBounds(), {"a": PointBounds(max=2), "b": PointBounds(max=3)}, PointBounds()),
        (PointBounds(), {}, PointBounds()),
    ],
)
def test_bounds_that_all_columns_share(
    own: PointBounds, by_column: dict[str, PointBounds], shared: PointBounds
) -> None:
    point = HistoryPoint(NOW, None, Status.OK, "run", bounds=own, bounds_by=by_column)
    assert point.shared_bounds == shared


def test_views_are_plain_data() -> None:
    assert plain({Status.OK: (PointBounds(1.0), at("2026-06-05"), float("inf"))}) == {
        "Ok": [
            {"min": 1.0, "max": None, "soft_min": None, "soft_max": None},
            "2026-06-05T12:00:00+00:00",
            "inf",
        ]
    }


def test_an_asset_of_two_locations_belongs_to_the_one_that_checks_it() -> None:
    asset = dg.AssetSpec("orders")
    plain_ = CodeLocation.of(dg.Definitions(assets=[asset]), name="plain")
    checked = CodeLocation.of(
        dg.Definitions(assets=[asset], asset_checks=[specs("rows")]), name="checked"
    )
    assert DeclaredLocations.of([plain_, checked]).assets["orders"].location == "checked"


def test_checks_of_assets_that_only_others_define_count(log: dg.DagsterInstance) -> None:
    @dg.asset_check(asset="orders")
    def totals() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(passed=False)

    defs = dg.Definitions(asset_checks=[totals])
    defs.resolve_implicit_global_asset_job_def().execute_in_process(instance=log)
    with shown(log, defs, now=datetime.now(UTC)) as monitor:
        overview = monitor.overview()
        assert overview.status is Status.ERROR
        [row] = overview.datasets
        assert (row.asset, row.status, row.monitored) == ("orders", Status.ERROR, True)


def test_the_checks_of_all_locations_count(log: dg.DagsterInstance) -> None:
    """One may build an asset and another one check it, or both may check it."""

    @dg.asset(group_name="shop", deps=["raw"])
    def orders() -> None: ...

    builds = dg.Definitions(assets=[orders], asset_checks=[specs("rows")])
    speaks = dg.Definitions(
        assets=[dg.AssetSpec("orders", group_name="audit")], asset_checks=[specs("totals")]
    )
    store(
        log,
        Told("rows", Status.OK, at("2026-06-08", 9)),
        Told("totals", Status.ERROR, at("2026-06-08", 9)),
    )
    for given in permutations([(builds, "shop"), (speaks, "audit")]):
        locations = [CodeLocation.of(defs, name=name) for defs, name in given]
        with Monitor(log, locations=locations, by="location", now=lambda: NOW) as monitor:
            monitor.refresh()
            [row] = monitor.overview().datasets
            assert (row.status, row.rules, row.project, row.group) == (
                Status.ERROR,
                2,
                "shop",
                "shop",
            )
            assert monitor.dataset("orders").past_rules == ()
            assert monitor.declared.assets["orders"].upstream == ("raw",)


def test_texts_are_read_as_dagster_reads_them(log: dg.DagsterInstance) -> None:
    """The quick way and Dagster's own agree, also on the entries of others."""
    from dq_dagster.integration.event_log import logged
    from dq_dagster.integration.log_storage import rows_after

    store(log, Told("rows", Status.WARNING, at("2026-06-05"), "A"))
    log.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=KEY,
            check_name="theirs",
            passed=False,
            severity=dg.AssetCheckSeverity.WARN,
            metadata={
                "number": 1,
                "share": 0.5,
                "text": dg.MetadataValue.text("words"),
                "md": dg.MetadataValue.md("# words"),
                "json": {"a": [1]},
                "table": dg.MetadataValue.table([dg.TableRecord({"a": 1})]),
                "path": dg.MetadataValue.path("/tmp"),
                "bool": dg.MetadataValue.bool(True),
            },
        )
    )
    for row in rows_after(log, 0, 10):
        assert logged.read(row) == logged._read_by_dagster(row)  # noqa: SLF001 (the slow way)
    with connected(log) as connection:
        assert connection is not None
