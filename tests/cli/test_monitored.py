"""`dq-dagster status`, `timeline` and `history`, as people and scripts call them."""

from __future__ import annotations

import json
import os
import pty
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner, Result

from dq_dagster.cli.main import main
from dq_dagster.judging.judgement import Status
from tests.monitoring.logs import Told, store

YESTERDAY = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    # Not in the folder of a project, which would be known.
    monkeypatch.chdir(tmp_path)
    with dg.instance_for_test(set_dagster_home=True) as instance:
        store(
            instance,
            Told("rows", Status.WARNING, YESTERDAY, value=7),
            Told("[red]ids[/red]", Status.OK, YESTERDAY),
        )
        yield instance


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_the_status_of_all_and_exit_codes(log: dg.DagsterInstance) -> None:
    done = run("status")
    assert done.exit_code == 0, done.output
    assert "orders" in done.stdout
    assert done.stdout.rstrip().endswith(
        "Warning: 1 dataset in 1 project, score 75.0, 2 evaluations on record."
    )
    assert run("status", "--fail-on", "warning").exit_code == 1
    store(log, Told("rows", Status.ERROR, YESTERDAY + timedelta(minutes=1)))
    assert run("status").exit_code == 1
    assert run("status", "--fail-on", "never").exit_code == 0
    found = json.loads(run("status", "--json").stdout)
    assert [(one["asset"], one["status"]) for one in found["datasets"]] == [("orders", "Error")]


def test_the_rules_of_an_asset(log: dg.DagsterInstance) -> None:
    done = run("status", "orders")
    assert "rows is Warning." in done.stdout
    # Names are text, whatever they look like.
    assert "[red]ids[/red]" in done.stdout
    missing = run("status", "order")
    assert missing.exit_code == 2
    assert "Did you mean 'orders'?" in missing.stderr


def test_texts_are_no_commands_for_a_terminal(log: dg.DagsterInstance) -> None:
    odd = "a\x1b]0;owned\x07\x1b[31mb\u202ec"
    log.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(odd),
            check_name=odd,
            passed=False,
            description=odd,
            partition=odd,
            metadata={"number": 3},
        )
    )
    for command in (
        ["status"],
        ["status", odd],
        ["status", odd, "--partition", odd],
        ["timeline", odd],
        ["timeline", odd, "--day", f"{datetime.now(UTC):%Y-%m-%d}"],
        ["history", odd, "--asset", odd],
        ["history", odd, "--asset", "orders"],
        ["status", odd[:-1]],
        ["report", "--asset", odd[:-1]],
        ["report", "--format", "markdown"],
    ):
        done = run(*command)
        assert not {"\x1b", "\x07", "\u202e"} & {*done.output}, command
        assert "timeline" in command or "\\x1b" in done.output, command


def test_objectives_and_rules_that_are_gone_are_said(
    log: dg.DagsterInstance, tmp_path: Path
) -> None:
    file = tmp_path / "aims.py"
    said = "@dg.asset(group_name='shop', metadata={'dq/objective': {'ok': 0.9}})"
    file.write_text(LOCATION.replace("@dg.asset(group_name='shop')", said))
    shown = run("status", "orders", "-f", str(file)).stdout
    assert "Objective: 90 % of days Ok in 30 days: 0 of 1, missed by 0.9." in shown
    [gone] = [line for line in shown.splitlines() if line.startswith("rows ")]
    assert gone.rstrip().endswith("deleted")


def test_a_port_that_is_taken_is_said(log: dg.DagsterInstance) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run("ui", "--port", str(port))
    assert done.exit_code == 2
    assert f"127.0.0.1, port {port}, cannot be listened on: Address already in use" in done.stderr


def test_days_and_what_is_behind_one(log: dg.DagsterInstance) -> None:
    found = json.loads(run("timeline", "orders", "--days", "2", "--json").stdout)
    assert [(one["last"], one["worst"]) for one in found["days"]] == [
        ("Warning", "Warning"),
        ("Warning", None),
    ]
    day = YESTERDAY.date().isoformat()
    *_, before, after, rest = run("timeline", "--days", "5").stdout.splitlines()
    assert [before.split()[0], after.split()[1]] == [day, "Warning"]
    first = (YESTERDAY - timedelta(days=3)).date()
    assert rest == f"Of 3 days from {first} on, nothing is on record."
    assert f"orders on {day}: Warning." in run("timeline", "orders", "--day", day).stdout
    assert "--day needs an ASSET" in run("timeline", "--day", day).stderr


def test_the_history_of_a_rule(log: dg.DagsterInstance) -> None:
    done = run("history", "rows", "--asset", "orders")
    assert done.stdout.rstrip().endswith("1 of 1 evaluation of rows.")
    assert "partition" not in done.stdout
    found = json.loads(run("history", "rows", "--asset", "orders", "--json").stdout)
    assert [one["status"] for one in found["points"]] == ["Warning"]
    assert run("history", "row", "--asset", "orders").exit_code == 2


LOCATION = """
import dagster as dg
@dg.asset(group_name='shop')
def orders(): ...
@dg.asset_check(asset=orders)
def other(): ...
defs = dg.Definitions(assets=[orders], asset_checks=[other])
"""


@pytest.mark.parametrize("named", [True, False], ids=["named", "of this folder"])
def test_with_a_code_location_its_checks_count(
    log: dg.DagsterInstance, tmp_path: Path, named: bool
) -> None:
    file = tmp_path / f"location_{named}.py"
    file.write_text(LOCATION)
    if not named:
        settings = f"[tool.dagster]\nmodule_name = '{file.stem}'\n"
        (tmp_path / "pyproject.toml").write_text(settings)
    found = json.loads(run("status", "--json", *(["-f", str(file)] if named else [])).stdout)
    [row] = found["datasets"]
    assert (row["project"], row["status"], row["counts"]) == (
        "shop",
        "NotComputed",
        {"NotComputed": 1},
    )


def test_several_code_locations_make_projects(log: dg.DagsterInstance, tmp_path: Path) -> None:
    files = []
    for name in ("orders", "visits"):
        files.append(tmp_path / f"of_{name}.py")
        files[-1].write_text(LOCATION.replace("orders", name))
    options = [option for file in files for option in ("-f", str(file))]
    found = json.loads(run("status", "--json", "--by", "location", *options).stdout)
    assert [(one["asset"], one["project"]) for one in found["datasets"]] == [
        ("orders", str(files[0])),
        ("visits", str(files[1])),
    ]


def test_of_many_partitions_those_are_listed_that_are_broken(log: dg.DagsterInstance) -> None:
    for n in range(1, 9):
        status = Status.ERROR if n in {3, 4} else Status.OK
        store(log, Told("daily", status, YESTERDAY, f"2026-01-0{n}", asset="visits"))
        store(log, Told("fine", Status.OK, YESTERDAY, f"2026-01-0{n}", asset="visits"))
    lines = [line.rstrip() for line in run("status", "visits").stdout.splitlines()]
    [daily, again, fine] = [line for line in lines if "2026-01-0" in line]
    assert ("Error" in daily, "Error" in again, "Ok" in fine) == (True, True, True)
    assert daily.endswith("2 Error, 6 Ok")
    assert fine.endswith("8 Ok")
    assert lines[-1].startswith("visits: Error, score 87.5 on 8 slices of ")
    one = run("status", "visits", "--partition", "2026-01-01")
    assert (one.exit_code, one.stdout.splitlines()[-1]) == (0, "visits, partition 2026-01-01: Ok.")
    store(log, Told("rows", Status.OK, YESTERDAY, "2026-02-01"))
    for arguments in (["status", "visits"], ["history", "daily", "--asset", "visits"]):
        other = run(*arguments, "--partition", "2026-02-01")
        assert other.exit_code == 2
        assert other.stderr == (
            "Error: No check of asset 'visits' was ever judged on partition '2026-02-01'. "
            "Did you mean '2026-01-01'?\n"
        )


def test_a_project_that_cannot_be_loaded_is_gone_without(
    log: dg.DagsterInstance, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.dagster]\nmodule_name = 'not_there'\n")
    done = run("timeline", "--json")
    assert done.exit_code == 0
    assert "Without the code location in this folder: Module 'not_there'" in done.stderr
    assert json.loads(done.stdout)["days"][-2]["last"] == "Warning"
    assert run("status", "-m", "not_there").exit_code == 2


def test_without_an_instance_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    done = run("status")
    assert done.exit_code == 2
    assert "DAGSTER_HOME is not set" in done.stderr


def test_help_needs_no_dagster() -> None:
    code = (
        "import sys; from dq_dagster.cli.main import main\n"
        "main(['history', '--help'], standalone_mode=False)\n"
        "assert 'dagster' not in sys.modules, 'dagster was imported'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_empty_instance_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with dg.instance_for_test(set_dagster_home=True):
        done = run("status")
        assert (done.exit_code, done.stdout) == (
            0,
            "No check has been evaluated on this instance yet.\n",
        )
        days = run("timeline", "--days", "2")
        assert days.exit_code == 0
        assert days.stdout.startswith("Of 2 days from ")
        assert json.loads(run("status", "--json").stdout)["status"] == "NotComputed"


def on_terminal(*arguments: str, columns: int) -> str:
    """What a terminal of this width shows."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dq_dagster.cli", *arguments]
    # Colours are of no interest here.
    env = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"}
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=env) as process:
        os.close(theirs)
        shown = b""
        # At its end, a terminal fails to be read.
        try:
            while found := os.read(ours, 65_536):
                shown += found
        except OSError:
            pass
    os.close(ours)
    assert process.returncode == 0
    return shown.decode().replace("\r\n", "\n")


def test_names_stay_whole_on_narrow_terminals(log: dg.DagsterInstance) -> None:
    store(log, Told("rows", Status.OK, YESTERDAY, asset="a_long_name/of_many_parts/of_a_table"))
    narrow = on_terminal("status", columns=50)
    # But for the sentence at the end.
    assert max(map(len, narrow.splitlines()[:-1])) <= 50
    assert "dataset   a_long_name/of_many_parts/of_a_table\n" in narrow
    wide = on_terminal("status", "orders", columns=120)
    [line] = [line for line in wide.splitlines() if line.startswith("rows")]
    assert line.split()[1:3] == ["Warning", str(YESTERDAY.date())]


def test_what_a_terminal_would_obey_is_shown_as_text(log: dg.DagsterInstance) -> None:
    evil = "\x1b[2Jrows\nof"
    for asset in ("orders", evil):
        store(log, Told(evil, Status.WARNING, YESTERDAY, evil, asset=asset))
    for arguments in (
        ["status"],
        ["status", "orders"],
        ["status", evil],
        ["status", evil, "--partition", evil],
        ["timeline", evil],
        ["timeline", evil, "--day", YESTERDAY.date().isoformat()],
        ["history", evil, "--asset", evil],
    ):
        done = run(*arguments)
        assert done.exit_code == 0, done.output
        assert "\x1b" not in done.stdout
        assert arguments[0] == "timeline" or r"\x1b[2Jrows\nof" in done.stdout


def in_process(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dq_dagster.cli", *arguments]
    return subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, **env}, text=True
    )


def test_signs_that_an_encoding_lacks_are_escaped(log: dg.DagsterInstance) -> None:
    store(log, Told("größe", Status.OK, YESTERDAY))
    shown = in_process("status", PYTHONIOENCODING="ascii")
    assert (shown.returncode, r"\u25b2" in shown.stdout) == (0, True)
    found = json.loads(in_process("status", "orders", "--json", PYTHONIOENCODING="ascii").stdout)
    assert "größe" in {one["info"]["check"] for one in found["rules"]}


def test_what_fails_is_no_answer(log: dg.DagsterInstance, tmp_path: Path) -> None:
    """1 means that there is an Error."""
    home = tmp_path / "home"
    home.mkdir()
    settings = home / "dagster.yaml"
    settings.write_text("storage: [")
    done = in_process("status", "--json", DAGSTER_HOME=str(home))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: The Dagster instance cannot be opened: ")
    # A log that cannot be read any more.
    settings.write_text("")
    assert in_process("status", DAGSTER_HOME=str(home)).returncode == 0
    for index in home.rglob("index.db"):
        index.write_bytes(b"no database at all" * 1_000)
    done = in_process("status", DAGSTER_HOME=str(home))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    if Path("/dev/full").exists():
        command = f"{sys.executable} -m dq_dagster.cli status > /dev/full"
        full = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
        assert (full.returncode, b"No space left" in full.stderr) == (2, True)


def test_an_index_of_another_user_is_left_alone(log: dg.DagsterInstance) -> None:
    """Who cannot write it has one of his own, in memory."""
    run("status")
    [index] = (Path(log.root_directory) / ".dq_dagster").glob("*.sqlite")
    for one in index.parent.glob("index*"):
        one.chmod(0o444)
    store(log, Told("rows", Status.ERROR, YESTERDAY + timedelta(minutes=1)))
    command = [sys.executable, "-m", "dq_dagster.cli", "status", "--json"]
    if os.geteuid() == 0:
        # Root may write everything, unless that is taken from it.
        assert shutil.which("setpriv"), "As root this needs setpriv, of the package util-linux."
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["evaluations"] == 3
