"""What was replaced stays for its readers, and goes away in time, also what killed writers left."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from dq_dagster.storage.folders import FreshPartition, PartitionFolders, locked
from tests.storage.killed import killed_at

HOUR = 3600.0
AT_EACH_STEP = """
import sys
from pathlib import Path
from tests.storage.test_replaced_data import killed_at_each_step
print(killed_at_each_step(Path(sys.argv[1])))
"""


def publish(root: Path, text: str, keys: Iterable[str | None], *, keep: float = HOUR) -> None:
    folders = PartitionFolders(root, keep)
    with folders.staging() as staging:
        fresh = []
        for number, key in enumerate(keys):
            (staging / str(number)).mkdir()
            for name in ("one", "two"):
                (staging / str(number) / name).write_text(text)
            fresh.append(FreshPartition(key, staging / str(number), "{}"))
        folders.publish(fresh)


def texts(root: Path) -> dict[str | None, list[str]]:
    """What is stored, for all partitions and for the data without partitions."""
    folders = PartitionFolders(root)
    whole = folders.whole()
    found = [*folders.stored().values(), *([whole] if whole else [])]
    return {one.key: sorted(f.read_text() for f in Path(one.place).iterdir()) for one in found}


def attempts(root: Path, folder: str) -> set[Path]:
    return {path for path in (root / folder).iterdir() if path.is_dir()}


def let_pass(root: Path, hours: float) -> None:
    """Everything that waits for its time gets so much older."""
    for path in (*(root / ".journal").iterdir(), *(root / ".staging").iterdir()):
        then = path.stat().st_mtime - hours * HOUR
        os.utime(path, (then, then))


def test_what_was_replaced_is_there_until_its_time_is_over(tmp_path: Path) -> None:
    for key, folder in ((None, "dq_dataset"), ("c", "dq_partition=c")):
        publish(tmp_path, "old", [key], keep=2 * HOUR)
        old = attempts(tmp_path, folder)
        let_pass(tmp_path, 48)
        publish(tmp_path, "new", [key], keep=2 * HOUR)
        let_pass(tmp_path, 1.9)
        publish(tmp_path, "newer", [key], keep=2 * HOUR)
        assert old < attempts(tmp_path, folder)
        assert len(attempts(tmp_path, folder)) == 3
        let_pass(tmp_path, 0.2)
        publish(tmp_path, "newest", [key], keep=2 * HOUR)
        # The time of the others began later.
        assert not old & attempts(tmp_path, folder)
        assert len(attempts(tmp_path, folder)) == 3
        assert texts(tmp_path)[key] == ["newest", "newest"]


def test_a_partition_that_is_never_built_again_loses_its_old_data(tmp_path: Path) -> None:
    publish(tmp_path, "old", ["a", "b"])
    publish(tmp_path, "new", ["a", "b"])
    let_pass(tmp_path, 2)
    publish(tmp_path, "other", ["z"])
    assert texts(tmp_path) == {"a": ["new"] * 2, "b": ["new"] * 2, "z": ["other"] * 2}
    for folder in ("dq_partition=a", "dq_partition=b"):
        assert len(attempts(tmp_path, folder)) == 1
    assert not list((tmp_path / ".journal").iterdir())


def test_nothing_is_kept_for_no_time_but_what_is_under_way(tmp_path: Path) -> None:
    publish(tmp_path, "old", ["a"], keep=0)
    publish(tmp_path, "new", ["a"], keep=0)
    assert len(attempts(tmp_path, "dq_partition=a")) == 2
    let_pass(tmp_path, 0.2)
    publish(tmp_path, "other", ["b"], keep=0)
    assert len(attempts(tmp_path, "dq_partition=a")) == 1


def test_what_is_current_is_never_removed(tmp_path: Path) -> None:
    """Also if a note says so, from a writer that ended before it replaced anything."""
    publish(tmp_path, "new", ["a"])
    [current] = attempts(tmp_path, "dq_partition=a")
    note = tmp_path / ".journal" / f"dq_partition=a,{current.name}"
    note.touch()
    for strange in ("dq_partition=a,", "dq_partition=a", "other,x", ",", f"..,{current.name}"):
        (tmp_path / ".journal" / strange).touch()
    (tmp_path / "other" / "x").mkdir(parents=True)
    let_pass(tmp_path, 48)
    publish(tmp_path, "other", ["b"])
    assert texts(tmp_path)["a"] == ["new", "new"]
    assert (tmp_path / "other" / "x").is_dir()
    assert not note.exists()


def test_folders_of_living_writers_stay_however_old_they_are(tmp_path: Path) -> None:
    folders = PartitionFolders(tmp_path, keep=0)
    with folders.staging() as staging:
        (staging / "0").mkdir()
        (staging / "0" / "one").write_text("slow")
        dead = tmp_path / ".staging" / "dead"
        shutil.copytree(staging, dead)
        (tmp_path / ".staging" / "dead at once").mkdir()
        unlocked = tmp_path / ".staging" / "without locks"
        (unlocked / "0").mkdir(parents=True)
        publish(tmp_path, "soon", ["b"], keep=0)
        assert dead.exists()
        let_pass(tmp_path, 48)
        publish(tmp_path, "quick", ["b"], keep=0)
        assert set((tmp_path / ".staging").iterdir()) == {staging, unlocked}
        folders.publish([FreshPartition("a", staging / "0", "{}")])
    assert texts(tmp_path) == {"a": ["slow"], "b": ["quick", "quick"]}


def test_without_the_lock_nothing_is_removed(tmp_path: Path) -> None:
    publish(tmp_path, "old", ["a"])
    publish(tmp_path, "new", ["a"])
    let_pass(tmp_path, 48)
    with locked(tmp_path / ".lock") as got, locked(tmp_path / ".lock", wait=False) as again:
        assert (got, again) == (True, False)
    (tmp_path / ".lock").unlink()
    (tmp_path / ".lock").mkdir()
    publish(tmp_path, "newer", ["a"])
    assert texts(tmp_path) == {"a": ["newer", "newer"]}
    assert len(attempts(tmp_path, "dq_partition=a")) == 3
    (tmp_path / ".lock").rmdir()
    let_pass(tmp_path, 48)
    publish(tmp_path, "other", ["b"])
    assert len(attempts(tmp_path, "dq_partition=a")) == 1


def test_data_whose_record_is_spoiled_can_be_replaced(tmp_path: Path) -> None:
    publish(tmp_path, "old", ["a"])
    (tmp_path / "dq_partition=a" / "_current.json").write_text("")
    publish(tmp_path, "new", ["a"])
    assert texts(tmp_path) == {"a": ["new", "new"]}
    let_pass(tmp_path, 48)
    publish(tmp_path, "other", ["b"])
    assert len(attempts(tmp_path, "dq_partition=a")) == 1


def killed_at_each_step(folder: Path) -> int:
    """In how many ways it may end; raises if one of them is wrong."""
    keys = [None, "a", "b"]
    outcomes = set()
    step, killed = 0, True
    while killed:
        step += 1
        root = folder / str(step)
        publish(root, "old", keys)
        killed = killed_at(step, root, partial(publish, root, "new", keys))
        found = texts(root)
        assert set(found) == set(keys)
        assert all(each in (["old", "old"], ["new", "new"]) for each in found.values()), step
        outcomes.add(tuple(each[0] for each in found.values()))
        let_pass(root, 48)
        publish(root, "other", ["z"])
        assert texts(root) == {**found, "z": ["other", "other"]}
        for name in ("dq_dataset", "dq_partition=a", "dq_partition=b"):
            # Neither old attempts nor half-finished ones are left behind.
            assert len(list((root / name).iterdir())) == 2, (step, name)
        assert not [*(root / ".journal").iterdir(), *(root / ".staging").iterdir()]
    assert step > 30
    return len(outcomes)


def test_a_writer_killed_at_any_step_leaves_the_old_data_or_the_new(tmp_path: Path) -> None:
    # In a process of its own, for it forks, and the test process has threads.
    command = [sys.executable, "-c", AT_EACH_STEP, str(tmp_path)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert (ended.stdout, ended.returncode) == ("4\n", 0), ended.stderr
