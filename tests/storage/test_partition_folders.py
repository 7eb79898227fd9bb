"""Partitions are replaced as a whole: by several processes at once, and by killed ones."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from dq_dagster.storage.folders import FreshPartition, PartitionFolders

FILES = 20
KEYS = ("a/b", "c")
WRITER = """
import sys
from pathlib import Path
from tests.storage.test_partition_folders import write

for number in range(int(sys.argv[2]), int(sys.argv[2]) + 100_000):
    write(Path(sys.argv[1]), number)
"""


def write(root: Path, number: int) -> None:
    """Both partitions, each as files that all hold the same number."""
    folders = PartitionFolders(root)
    with folders.staging() as staging:
        fresh = []
        for place, key in enumerate(KEYS):
            folder = staging / str(place)
            folder.mkdir()
            for file in range(FILES):
                (folder / f"part-{file}").write_text(str(number))
            fresh.append(FreshPartition(key, folder, "{}"))
        folders.publish(fresh)


def contents(root: Path) -> dict[str, set[str]]:
    """What a reader sees; it starts anew if a writer takes a folder away meanwhile."""
    while True:
        stored = PartitionFolders(root).stored()
        try:
            found = {key: list(Path(one.place).iterdir()) for key, one in stored.items()}
            texts = {key: [file.read_text() for file in files] for key, files in found.items()}
        except FileNotFoundError:
            continue
        if stored == PartitionFolders(root).stored():
            assert all(len(each) == FILES for each in texts.values())
            return {key: set(each) for key, each in texts.items()}


def make_old(root: Path) -> None:
    """As if everything that is there were of yesterday."""
    for path in (*(root / ".journal").iterdir(), *(root / ".staging").iterdir()):
        os.utime(path, (time.time() - 86_400,) * 2)


def start(root: Path, number: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(root), str(number)])


def test_killed_writers_leave_whole_partitions(tmp_path: Path) -> None:
    chance = random.Random(3)
    write(tmp_path, 0)
    for round_ in range(1, 13):
        writer = start(tmp_path, round_ * 1_000_000)
        # Until it writes, and then to a moment that is different each time.
        while int(max(contents(tmp_path)["c"])) < round_ * 1_000_000:
            time.sleep(0.01)
        time.sleep(chance.random() / 20)
        writer.kill()
        writer.wait()
        assert all(len(each) == 1 for each in contents(tmp_path).values())
    write(tmp_path, 7)
    assert contents(tmp_path) == {"a/b": {"7"}, "c": {"7"}}
    make_old(tmp_path)
    write(tmp_path, 8)
    assert contents(tmp_path) == {"a/b": {"8"}, "c": {"8"}}
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".journal",
        ".lock",
        ".staging",
        "dq_partition=!a!2fb",
        "dq_partition=c",
    ]
    assert not list((tmp_path / ".staging").iterdir())
    # The last two attempts, and the file that points to one of them.
    assert len(list((tmp_path / "dq_partition=c").iterdir())) == 3


def test_readers_beside_several_writers_see_no_mixture(tmp_path: Path) -> None:
    write(tmp_path, 0)
    writers = [start(tmp_path, number * 1_000_000) for number in (1, 2, 3)]
    try:
        seen: set[str] = set()
        deadline = time.monotonic() + 30
        while len({text[0] for text in seen if len(text) == 7}) < 3:
            assert time.monotonic() < deadline
            found = contents(tmp_path)
            assert all(len(each) == 1 for each in found.values())
            seen |= found["c"]
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()


def test_what_was_deleted_by_hand_does_not_exist(tmp_path: Path) -> None:
    write(tmp_path, 1)
    folders = PartitionFolders(tmp_path)
    shutil.rmtree(folders.stored()["c"].place)
    assert list(folders.stored()) == ["a/b"]
    assert list(folders.stored(["c", "a/b", "d"])) == ["a/b"]
