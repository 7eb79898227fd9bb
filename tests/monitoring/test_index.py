"""The index says what the log says, whatever happened to the log meanwhile."""

from __future__ import annotations

import random
import shutil
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
from dagster import AssetCheckEvaluation

from dq_dagster.integration.event_log.logged import logged_after
from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.monitoring.views.shapes import plain
from tests.monitoring.logs import Told, connected, store

# Runs of tests happen before it.
NOW = datetime.now(UTC) + timedelta(hours=1)
ORDERS = dg.AssetKey("orders")


def ago(days: int, hours: int = 0) -> datetime:
    return NOW - timedelta(days=days) + timedelta(hours=hours)


@dg.asset
def numbers() -> int:
    return 1


@dg.asset_check(asset=numbers)
def positive() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=False, description="No.")


def monitor(instance: dg.DagsterInstance, **options: Any) -> Monitor:
    return Monitor(instance, now=lambda: NOW, **options)


def require_the_same(instance: dg.DagsterInstance, found: Monitor) -> None:
    """What an index that was filled step by step says is what one says that is made anew."""
    with TemporaryDirectory() as folder, monitor(instance, index=Path(folder) / "new") as anew:
        anew.refresh()
        for one in (found, anew):
            # Planned rows do not count, so that numbers are those of what was said.
            assert one.overview().evaluations == len(logged_after(instance, 0, 10_000))
        assert plain(found.overview()) == plain(anew.overview())
        for row in anew.overview().datasets:
            for view in ("dataset", "timeline", "partitions"):
                step_by_step, at_once = (getattr(one, view)(row.asset) for one in (found, anew))
                assert plain(step_by_step) == plain(at_once)


def test_it_lies_beside_the_instance_and_can_be_deleted(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    store(instance, Told("rows", Status.ERROR, ago(1)))
    with monitor(instance) as found:
        assert found.refresh().added == 1
        assert found.index is not None
        assert found.index.parent == Path(instance.root_directory) / ".dq_dagster"
        place = found.index
        before = plain(found.overview())
    place.unlink()
    with monitor(instance) as found:
        assert found.refresh().added == 1
        assert plain(found.overview()) == before
    place.write_bytes(b"no database at all" * 1_000)
    with monitor(instance) as found:
        assert found.refresh().added == 1
        assert plain(found.overview()) == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda place: place.unlink(),
        lambda place: shutil.rmtree(place.parent),
        lambda place: place.write_bytes(b"no database at all" * 1_000),
    ],
    ids=["file deleted", "folder deleted", "file overwritten"],
)
def test_an_index_that_is_open_is_made_anew(
    instance: dg.DagsterInstance, damage: Callable[[Path], object]
) -> None:
    store(instance, *(Told(f"rule_{n}", Status.ERROR, ago(1)) for n in range(50)))
    with monitor(instance) as found, ThreadPoolExecutor(4) as readers:
        found.refresh()
        before = plain(found.overview())
        assert found.index is not None
        damage(found.index)
        # Although it was filled a moment ago.
        assert found.refresh(at_most_every=60).added in {0, 50}
        assert found.refresh().added in {0, 50}
        every = [readers.submit(found.overview) for _ in range(8)]
        assert all(plain(one.result()) == before for one in every)
        assert found.index.is_file()
        store(instance, Told("rule_0", Status.OK, ago(0)))
        assert found.refresh().added == 1
        require_the_same(instance, found)


def drop(place: Path, table: str) -> None:
    with closing(sqlite3.connect(place)) as connection:
        connection.execute(f"DROP TABLE {table}")


@pytest.mark.parametrize("table", ["slice", "asset_day"])
def test_an_index_that_lacks_a_table_is_made_anew(instance: dg.DagsterInstance, table: str) -> None:
    store(instance, Told("rows", Status.ERROR, ago(1)))
    with monitor(instance) as found:
        found.refresh()
        assert found.index is not None
        place = found.index
        drop(place, table)
        # What is new needs the table.
        store(instance, Told("rows", Status.WARNING, ago(0)))
        found.refresh()
        require_the_same(instance, found)
    drop(place, table)
    with monitor(instance) as found:
        assert found.refresh().added == 2
        require_the_same(instance, found)


def test_what_an_older_version_left_is_removed(instance: dg.DagsterInstance) -> None:
    with monitor(instance) as found:
        assert found.index is not None
        stem, _, version = found.index.stem.rpartition("-v")
    older, newer, other = (
        found.index.with_name(name)
        for name in (
            f"{stem}-v{int(version) - 1}.sqlite",
            f"{stem}-v{int(version) + 1}.sqlite",
            "index-of-another-log-v1.sqlite",
        )
    )
    for one in (older, newer, other):
        one.write_bytes(b"large")
    with monitor(instance):
        assert [one.exists() for one in (older, newer, other)] == [False, True, True]


def test_an_index_whose_folder_is_lost_goes_on_in_memory(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    with dg.instance_for_test() as instance:
        store(instance, Told("rows", Status.ERROR, ago(1)))
        with monitor(instance, index=folder / "index.sqlite") as found:
            found.refresh()
            shutil.rmtree(folder)
            folder.write_text("no folder")
            assert found.refresh(at_most_every=60).added == 1
            assert (found.index, found.overview().status) == (None, Status.ERROR)


def test_a_slash_within_a_part_of_a_key_is_no_separator(instance: dg.DagsterInstance) -> None:
    for path, passed in ((["a/b"], False), (["a", "b"], True)):
        instance.report_runless_asset_event(
            AssetCheckEvaluation(
                asset_key=dg.AssetKey(path), check_name="rows", passed=passed, metadata={}
            )
        )
        instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey(path)))
    with monitor(instance) as found:
        found.refresh()
        rows = {row.asset: row for row in found.overview().datasets}
        assert {name: row.status for name, row in rows.items()} == {
            r"a\/b": Status.ERROR,
            "a/b": Status.OK,
        }
        assert all(row.outdated for row in rows.values())
        assert found.dataset(r"a\/b").rules[0].status is Status.ERROR
        instance.wipe_assets([dg.AssetKey(["a/b"])])
        found.refresh()
        assert [row.asset for row in found.overview().datasets] == ["a/b"]


def test_an_index_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with dg.instance_for_test() as instance:
        store(instance, Told("rows", Status.ERROR, ago(1)))
        with monitor(instance, index=tmp_path / "file" / "index.sqlite") as found:
            found.refresh()
            assert found.index is None
            assert found.overview().status is Status.ERROR


def test_a_wiped_asset_has_no_past(instance: dg.DagsterInstance) -> None:
    store(
        instance,
        Told("rows", Status.ERROR, ago(2)),
        Told("rows", Status.OK, ago(2), asset="others"),
        Told("sums", Status.OK, ago(1)),
    )
    with monitor(instance) as found:
        found.refresh()
        instance.wipe_assets([ORDERS])
        assert found.refresh().removed == 2
        assert [row.asset for row in found.overview().datasets] == ["others"]
        require_the_same(instance, found)
        # What comes next may have the numbers of what is gone.
        store(instance, Told("sums", Status.WARNING, ago(1, 2)))
        found.refresh()
        assert found.overview().status is Status.WARNING
        require_the_same(instance, found)


def test_what_a_deleted_run_said_stays_as_in_dagster(instance: dg.DagsterInstance) -> None:
    done = dg.materialize([numbers, positive], instance=instance, raise_on_error=False)
    with monitor(instance) as found:
        found.refresh()
        instance.delete_run(done.run_id)
        found.refresh()
        require_the_same(instance, found)
        dg.materialize([numbers, positive], instance=instance, raise_on_error=False)
        found.refresh()
        require_the_same(instance, found)
        assert found.history("numbers", "positive").in_all == 2


def test_a_run_that_is_deleted_before_anybody_looked(instance: dg.DagsterInstance) -> None:
    """Its events are gone, and others have their numbers; its results are not."""
    store(instance, Told("rows", Status.OK, ago(1)))
    with monitor(instance) as found:
        found.refresh()
        done = dg.materialize([numbers, positive], instance=instance, raise_on_error=False)
        instance.delete_run(done.run_id)
        store(instance, Told("sums", Status.WARNING, ago(1)))
        found.refresh()
        require_the_same(instance, found)


def test_a_result_that_comes_long_after_it_was_planned(instance: dg.DagsterInstance) -> None:
    seen: list[int] = []
    with monitor(instance) as found:

        @dg.asset_check(asset=numbers)
        def slow() -> dg.AssetCheckResult:
            seen.append(found.refresh().added)
            store(instance, Told("rows", Status.OK, ago(1)))
            seen.append(found.refresh().added)
            return dg.AssetCheckResult(passed=True)

        dg.materialize([numbers, slow], instance=instance)
        found.refresh()
        assert seen == [0, 1]
        require_the_same(instance, found)
        assert found.history("numbers", "slow").in_all == 1


def test_a_result_that_replaces_another(instance: dg.DagsterInstance) -> None:
    """A retried step says it again, in the same row."""
    tries: list[int] = []
    with monitor(instance) as found:

        @dg.multi_asset_check(
            specs=[dg.AssetCheckSpec("again", asset=numbers)],
            retry_policy=dg.RetryPolicy(max_retries=1),
        )
        def again() -> Any:
            tries.append(1)
            passed = len(tries) > 1
            yield dg.AssetCheckResult(passed=passed, check_name="again", asset_key=numbers.key)
            if not passed:
                found.refresh()
                assert found.overview().status is Status.ERROR
                raise dg.Failure("once more")

        dg.materialize([numbers, again], instance=instance)
        found.refresh()
        assert found.overview().status is Status.OK
        require_the_same(instance, found)


def test_rows_that_are_deleted_in_between_are_noticed_in_turn(
    instance: dg.DagsterInstance,
) -> None:
    first, second, _ = store(instance, *(Told("rows", Status.OK, ago(n)) for n in (3, 2, 1)))
    with monitor(instance) as found:
        found.refresh()
        with connected(instance) as connection:
            connection.execute(
                sa.text("DELETE FROM asset_check_executions WHERE id = :n"), {"n": second}
            )
        found.refresh()
        require_the_same(instance, found)
        with connected(instance) as connection:
            connection.execute(
                sa.text("DELETE FROM asset_check_executions WHERE id = :n"), {"n": first}
            )
        found.compare_all()
        require_the_same(instance, found)


def test_results_of_others_and_texts_that_nobody_can_read(instance: dg.DagsterInstance) -> None:
    numbers_ = store(
        instance,
        Told("theirs", Status.OK, ago(1), ours=False),
        Told("theirs_warns", Status.WARNING, ago(1), ours=False),
        Told("theirs_fails", Status.ERROR, ago(1), ours=False),
        Told("broken", Status.ERROR, ago(1)),
        Told("foreign", Status.OK, ago(1)),
    )
    with connected(instance) as connection:
        for number, text in zip(numbers_[3:], ("{", '{"__class__": "Unheard"}'), strict=True):
            connection.execute(
                sa.text("UPDATE asset_check_executions SET evaluation_event = :text WHERE id = :n"),
                {"text": text, "n": number},
            )
    with monitor(instance) as found:
        found.refresh()
        view = found.dataset("orders")
        assert {one.info.check: one.status for one in view.rules} == {
            "theirs": Status.OK,
            "theirs_warns": Status.WARNING,
            "theirs_fails": Status.ERROR,
            "broken": Status.ERROR,
            "foreign": Status.OK,
        }
        assert view.row.days[-2].worst is Status.ERROR


def test_anything_may_happen(instance: dg.DagsterInstance) -> None:
    chance = random.Random(3)
    statuses = [Status.OK, Status.WARNING, Status.ERROR, Status.EMPTY]

    def told() -> Told:
        return Told(
            chance.choice(["rows", "sums"]),
            chance.choice(statuses),
            NOW - timedelta(hours=chance.randrange(1, 200)),
            partition=chance.choice([None, "a", "b"]),
            asset=chance.choice(["orders", "shop/others"]),
        )

    with monitor(instance) as found:
        for turn in range(12):
            store(instance, *(told() for _ in range(chance.randrange(4))))
            if turn % 4 == 3:
                key = chance.choice(["orders", "shop/others"])
                instance.wipe_assets([dg.AssetKey.from_user_string(key)])
            if turn % 5 == 4:
                with connected(instance) as connection:
                    connection.execute(
                        sa.text(
                            "DELETE FROM asset_check_executions WHERE id IN "
                            "(SELECT min(id) FROM asset_check_executions)"
                        )
                    )
            found.refresh()
            require_the_same(instance, found)


def test_many_readers_and_writers(instance: dg.DagsterInstance) -> None:
    """Several monitors, as several processes have them, fill and read one file."""
    store(instance, *(Told(f"rule_{n}", Status.OK, ago(1)) for n in range(20)))
    problems: list[BaseException] = []

    def work() -> None:
        try:
            with monitor(instance) as one:
                for _ in range(5):
                    one.refresh()
                    overview = one.overview()
                    assert overview.evaluations >= 20
                    assert {row.asset for row in overview.datasets} == {"orders"}
        except (AssertionError, sqlite3.Error, dg.DagsterError) as error:
            problems.append(error)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert problems == []
    with monitor(instance) as found:
        assert found.refresh().added == 0
        require_the_same(instance, found)


def test_in_memory_for_an_instance_in_memory() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        dg.materialize([numbers, positive], instance=instance, raise_on_error=False)
        with Monitor(instance) as found:
            assert found.refresh().added == 1
            assert found.index is None
            assert found.overview().status is Status.ERROR
