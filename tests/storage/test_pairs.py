"""Two stores that change together: a writer that is killed at any step, and several at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import types as T

from dq_dagster.storage.folders import FreshPartition, PartitionFolders
from dq_dagster.storage.pairs import Ready, finish_publishing, publish_together
from tests.storage.killed import killed_at

KEYS = ("a", "b/c")
NAMES = ("good", "bad")
# Forks, so that there is one start of Python for all steps; in the test there would be threads.
AT_EACH_STEP = """
import sys
from pathlib import Path
from tests.storage.test_pairs import killed_at_each_step
print(", ".join(sorted(killed_at_each_step(Path(sys.argv[1])))))
"""
WRITER = """
import sys
from pathlib import Path
from tests.storage.test_pairs import publish
from dq_dagster.storage.pairs import finish_publishing
root = Path(sys.argv[1])
for number in range(30):
    finish_publishing(root / "bad")
    publish(root, f"{sys.argv[2]}-{number}")
"""


def publish(root: Path, text: str) -> None:
    publish_together(*prepared(root, text))


def prepared(root: Path, text: str) -> list[Ready]:
    """Both stores, each with two partitions of two files; the first is the quarantine."""
    ready = []
    for name in ("bad", "good"):
        folders = PartitionFolders(root / name)
        with folders.staging() as staging:
            fresh = []
            for place, key in enumerate(KEYS):
                folder = staging / str(place)
                folder.mkdir()
                for file in ("one", "two"):
                    (folder / file).write_text(text)
                fresh.append(FreshPartition(key, folder, "{}"))
            ready.append(Ready.of(folders, fresh, T.StructType()))
    return ready


def texts(root: Path) -> dict[tuple[str, str], str]:
    """What readers find: by store and partition, the text that all files have."""
    found = {}
    for name in NAMES:
        for key, one in PartitionFolders(root / name).stored().items():
            every = sorted(file.read_text() for file in Path(one.place).iterdir())
            assert len(every) == 2
            [found[name, key]] = set(every)
    return found


def killed_at_each_step(folder: Path) -> set[str]:
    """In how many ways it may end; raises if one of them is wrong."""
    outcomes = set()
    step, killed = 0, True
    while killed:
        step += 1
        root = folder / str(step)
        publish(root, "old")
        killed = killed_at(step, root, lambda place=root: publish(place, "new"))  # type: ignore[misc]
        found = texts(root)
        assert set(found) == {(name, key) for name in NAMES for key in KEYS}, step
        # Never a partition without its quarantine: that one is never behind.
        for key in KEYS:
            assert (found["bad", key], found["good", key]) != ("old", "new"), step
        outcomes.add(" ".join(found.values()))
        began = "new" in found.values()
        # Whoever comes next brings it to its end, and may be killed at that as well.
        killed_at(step % 5 + 1, root, lambda place=root: finish_publishing(place / "bad"))  # type: ignore[misc]
        finish_publishing(root / "bad")
        found = texts(root)
        assert len(set(found.values())) == 1, step
        assert not began or set(found.values()) == {"new"}, step
        assert not list((root / "bad" / ".publishing").glob("*.json")), step
        publish(root, "newest")
        assert set(texts(root).values()) == {"newest"}, step
    assert step > 30
    return outcomes


def in_a_process(script: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", script, *map(str, arguments)]


def test_a_writer_killed_at_any_step_changes_both_or_neither(tmp_path: Path) -> None:
    ended = subprocess.run(
        in_a_process(AT_EACH_STEP, tmp_path),
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    # From nothing to everything, rename by rename: the quarantine first.
    assert ended.stdout.split(", ") == [
        "new new new new",
        "old new new new",
        "old old new new",
        "old old old new",
        "old old old old\n",
    ]


@pytest.mark.deep
def test_several_writers_at_once_leave_one_pair(tmp_path: Path) -> None:
    publish(tmp_path, "first")
    writers = [subprocess.Popen(in_a_process(WRITER, tmp_path, name)) for name in "abcd"]
    for writer in writers:
        assert writer.wait(timeout=300) == 0
    found = texts(tmp_path)
    assert all(text.endswith("-29") for text in found.values())
    # The partition and its quarantine are of one writer.
    for key in KEYS:
        assert found["good", key] == found["bad", key]


def test_what_a_killed_writer_left_comes_before_what_is_published_later(tmp_path: Path) -> None:
    def interrupted(event: str, arguments: tuple[object, ...]) -> None:
        if active and event == "os.rename" and str(arguments[1]).endswith("_current.json"):
            active.pop()
            if not active:
                raise KeyboardInterrupt

    publish(tmp_path, "old")
    first, second = prepared(tmp_path, "first"), prepared(tmp_path, "second")
    active: list[int] = []
    sys.addaudithook(interrupted)
    active += [1, 2, 3]
    with pytest.raises(KeyboardInterrupt):
        publish_together(*first)
    assert sorted(texts(tmp_path).values()) == ["first", "first", "old", "old"]
    publish_together(*second)
    finish_publishing(tmp_path / "bad")
    assert set(texts(tmp_path).values()) == {"second"}


def test_a_note_of_what_is_done_is_no_matter(tmp_path: Path) -> None:
    publish(tmp_path, "old")
    notes = tmp_path / "bad" / ".publishing"
    gone = [[str(tmp_path / "gone"), str(tmp_path / "bad" / "x")]]
    (notes / "0.json").write_text(json.dumps(gone))
    finish_publishing(tmp_path / "bad")
    assert not list(notes.glob("*.json"))
    finish_publishing(tmp_path / "never")
    assert set(texts(tmp_path).values()) == {"old"}
