"""`dq-dagster rows`: the rows that break rules, of files and of assets, from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
from click.testing import CliRunner, Result

from dq_dagster.cli.main import main
from dq_dagster.cli.row_table import as_text
from dq_dagster.spark.passes.rows import ShownRow, ShownRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
RULES = """
asset: orders
sensitive: [e-mail]
rules:
  - {type: column_not_empty, name: given, columns: ["order id", "e-mail"]}
  - {type: column_values_in_range, name: small, columns: [größe], min: 0, soft_max: 10, max: 100}
  - {type: column_values_in_set, name: codes, columns: ["a.b"], values: [x, y], where: "`größe`<50"}
  - {type: unique_key, name: once, columns: ["order id"]}
  - {type: column_not_empty, name: old, columns: ["x`y"], enabled: false}
  - {type: record_count_in_range, name: rows, min: 1}
  - {type: agg_dq, name: sums, expectation: "sum(`größe`) > 0"}
"""
CSV = """order id,größe,a.b,x`y,e-mail
1,5.0,x,,ada@example.com
2,NaN,x,1,bo@example.com
2,50.5,ü,2,
,20.0, NULL ,3,dän@example.com
3,-1.0,\x1b[31m,4,eva@example.com
4,7.0,y,5,fay@example.com
"""


def written(folder: Path, text: str, name: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The arguments for rules and data with names and values of all kinds."""
    rules = written(tmp_path, RULES, "rules.yaml")
    data = written(tmp_path, CSV, "orders.csv")
    return ["--rules", rules, "--data", data, "--option", "ignoreLeadingWhiteSpace=false"]


def shown(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["rows", *arguments])


def broken(*arguments: str, by: str = "order id") -> dict[Any, list[str]]:
    """Which rules the rows break, by a value of theirs."""
    found = json.loads(shown(*arguments, "--json").stdout)
    return {one["row"][by]: [fault["rule"] for fault in one["faults"]] for one in found["rows"]}


def test_rows_are_a_table_with_what_they_break(spark: SparkSession, files: list[str]) -> None:
    done = shown(*files, "--rule", "given", "--rule", "small")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["order", "id", "größe", "a.b", "x`y", "e-mail", "(breaks)"]
    assert {line[lines[0].index("(breaks)") :][:5] for line in lines[2:-2]} == {"small", "given"}
    assert set(lines[1]) == {"-", " "}
    assert sorted(line.split() for line in lines[2:-2]) == sorted(
        [
            "2 NaN x 1 *** small (größe)".split(),
            "2 50.5 ü 2 NULL given (e-mail), small (größe, warning)".split(),
            "NULL 20.0 ' NULL ' 3 *** given (order id), small (größe, warning)".split(),
            "3 -1.0 '\\x1b[31m' 4 *** small (größe)".split(),
        ]
    )
    assert lines[-2:] == ["", "orders: 4 rows break rules."]
    assert done.stderr.startswith("Starting Spark ... ")
    assert "\x1b" not in done.stdout
    assert done.exit_code == 1


def test_machines_get_json(spark: SparkSession, files: list[str]) -> None:
    done = shown(*files, "--rule", "codes", "--json")
    expected: list[list[Any]] = [
        [None, 20.0, " NULL ", 3, "***"],
        [3, -1.0, "\x1b[31m", 4, "***"],
    ]
    assert json.loads(done.stdout) == {
        "asset": "orders",
        "more": False,
        "not_judged": {},
        "rows": [
            {
                "partition": None,
                "faults": [
                    {
                        "rule": "codes",
                        "type": "column_values_in_set",
                        "action": "ignore",
                        "columns": ["a.b"],
                        "quality_dimension": "validity",
                        "tags": [],
                        "severity": "error",
                    }
                ],
                "row": dict(zip(CSV.splitlines()[0].split(","), values, strict=True)),
            }
            for values in expected
        ],
    }
    assert done.exit_code == 1


def test_all_rules_that_count_rows_take_part_by_default(
    spark: SparkSession, files: list[str]
) -> None:
    done = shown(*files, "--json")
    assert "Left out, as all rows are judged together: 'rows', 'sums'.\n" in done.stderr
    rows = json.loads(done.stdout)["rows"]
    found = [(one["row"]["größe"], [fault["rule"] for fault in one["faults"]]) for one in rows]
    assert sorted(found, key=str) == [
        ("NaN", ["small", "once"]),
        (-1.0, ["small", "codes"]),
        (20.0, ["given", "small", "codes"]),
        (50.5, ["given", "small", "once"]),
    ]


@pytest.mark.parametrize(
    ("arguments", "more", "found"), [(["--limit", "1"], True, 1), (["--limit", "2"], False, 2)]
)
def test_no_more_than_the_limit_is_shown(
    spark: SparkSession, files: list[str], arguments: list[str], more: bool, found: int
) -> None:
    done = shown(*files, "--rule", "once", *arguments)
    assert ("--limit shows more" in done.stdout) is more
    assert len(done.stdout.splitlines()) == found + 4
    content = json.loads(shown(*files, "--rule", "once", *arguments, "--json").stdout)
    assert (content["more"], len(content["rows"])) == (more, found)


def test_good_rows_are_not_shown(spark: SparkSession, files: list[str]) -> None:
    done = shown(*files, "--rule", "given", "--where", "`größe` in (5.0, 7.0)")
    assert (done.stdout, done.exit_code) == ("orders: no row breaks these rules.\n", 0)
    done = shown(*files, "--rule", "given", "--where", "`größe` in (5.0, 7.0)", "--json")
    assert json.loads(done.stdout)["rows"] == []
    assert done.exit_code == 0
    assert broken(*files, "--rule", "old") == {1: ["old"]}, "a disabled rule that is named"


def test_values_of_every_kind_are_shown(spark: SparkSession, tmp_path: Path) -> None:
    place = str(tmp_path / "kinds")
    spark.sql(
        """SELECT 1 AS id, double('-Infinity') AS inf, 12345678901234567890.12 AS money,
           X'00FF' AS bytes, timestamp'2024-03-01 12:00:00.123456' AS at,
           date'2024-03-01' AS day, array(1, NULL) AS some, map('k', 1) AS by_name,
           named_struct('mail', 'ada@example.com', 'town', NULL) AS person, true AS fine,
           repeat('é', 600) AS long"""
    ).write.parquet(place)
    rules = written(
        tmp_path,
        "asset: kinds\nsensitive: [person.mail]\n"
        "rules: [{type: column_values_in_set, name: none, columns: [id], values: [2]}]",
        "rules.yaml",
    )
    text = shown("--rules", rules, "--data", place, "--json").stdout
    assert '"money": 12345678901234567890.12' in text, "no digit is lost"
    [one] = json.loads(text)["rows"]
    assert one["row"] == {
        "id": 1,
        "inf": "-Infinity",
        "money": 12345678901234567890.12,
        "bytes": "AP8=",
        "at": "2024-03-01T12:00:00.123456-05:00",
        "day": "2024-03-01",
        "some": [1, None],
        "by_name": {"k": 1},
        "person": "***",
        "fine": True,
        "long": "é" * 600,
    }
    line = shown("--rules", rules, "--data", place).stdout.splitlines()[2]
    assert "2024-03-01 12:00:00.123456  2024-03-01  [1,null]  " in line
    assert f"{'é' * 500}…" in line
    assert "é" * 501 not in line


def test_a_rule_that_cannot_be_judged_leaves_the_others_alone(
    spark: SparkSession, tmp_path: Path, files: list[str]
) -> None:
    rules = written(
        tmp_path,
        """
asset: orders
rules:
  - {type: row_dq, name: divided, expectation: "1 / (`größe` - 5) > 0"}
  - {type: column_not_empty, name: missing, columns: [grösse]}
  - {type: column_not_empty, name: given, columns: [order id]}
""",
        "broken.yaml",
    )
    arguments = ["--rules", rules, *files[2:]]
    done = shown(*arguments)
    assert "orders: 1 row breaks rules." in done.stdout
    assert "Rule 'divided' cannot be judged: Spark raised DIVIDE_BY_ZERO" in done.stderr
    assert "Rule 'missing' cannot be judged: Column 'grösse' is not in the table." in done.stderr
    assert "Did you mean 'größe'?" in done.stderr
    assert done.exit_code == 1
    assert set(json.loads(shown(*arguments, "--json").stdout)["not_judged"]) == {
        "divided",
        "missing",
    }
    done = shown(*arguments, "--rule", "missing", "--rule", "divided")
    assert "Rule 'divided' cannot be judged" in done.stderr
    assert "Rule 'missing' cannot be judged" in done.stderr
    assert (done.stdout, done.exit_code) == ("", 2)


def test_rules_may_refer_to_other_data(spark: SparkSession, tmp_path: Path) -> None:
    data = written(tmp_path, "id,parent\n1,\n2,1\n3,7\n", "tree.csv")
    rules = written(
        tmp_path,
        """
asset: tree
rules:
  - type: column_values_in_reference
    name: parents
    columns: [parent]
    reference: {asset: tree}
    reference_columns: [id]
""",
        "tree.yaml",
    )
    assert broken("--rules", rules, "--data", data, by="id") == {3: ["parents"]}
    # As `dq-dagster test` has it: what is looked at is all there is.
    where = ["--where", "id > 1"]
    assert broken("--rules", rules, "--data", data, *where, by="id") == {
        2: ["parents"],
        3: ["parents"],
    }


def test_a_table_of_the_catalog_is_read(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS `order id`, NULL AS `e-mail`").createOrReplaceTempView("shown_orders")
    rules = written(tmp_path, RULES, "rules.yaml")
    arguments = ["--rules", rules, "--asset", "orders", "--table", "shown_orders"]
    assert broken(*arguments, "--rule", "given") == {1: ["given"]}


HERE = ["--rules", "RULES", "--data", "DATA"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Give what to look at: an ASSET of a code location, or --data PATH"),
        (["--rules", "RULES"], "Give what to look at"),
        (["--data", "DATA"], "Give the rules of the data: --rules FILE"),
        ([*HERE, "--table", "t"], "either --data PATH or --table NAME"),
        (["orders", *HERE], "--data, --rules: that goes with --data or --table, and not with an"),
        (["orders", "--asset", "a", "--conf", "a=b"], "--asset, --conf: that goes with --data"),
        ([*HERE, "--partition", "a"], "--partition: that goes with an ASSET"),
        ([*HERE, "-m", "a", "-f", "b.py"], "--module-name, --python-file: that goes with"),
        (["--rules", "RULES", "--table", "t", "--format", "csv"], "--format and --option describe"),
        (["--rules", "RULES", "--data", "nowhere.csv"], "'nowhere.csv' does not exist."),
        (["--rules", "no.yaml", "--data", "DATA"], "'no.yaml' does not exist."),
        ([*HERE, "--asset", "order"], "There is no asset 'order'. Did you mean 'orders'?"),
        ([*HERE, "--rule", "gven"], "There is no rule 'gven'. Did you mean 'given'?"),
        (
            [*HERE, "--rule", "rows", "--rule", "given", "--rule", "sums"],
            "No single row can be shown of 'rows', 'sums', by which all rows are judged together.",
        ),
        ([*HERE, "--limit", "0"], "0 is not in the range 1<=x<=100000"),
        ([*HERE, "--where", "sum(a) > 1"], "--where: 'sum(a)' is an aggregate"),
        (["orders", "--where", "sum(a) > 1"], "--where: 'sum(a)' is an aggregate"),
        (["orders", "-f", "no.py"], "There is no file 'no.py'."),
        (["orders", "-f", "no.py", "-m", "no"], "Give either a module (-m) or a file (-f)."),
        ([*HERE, "--option", "header"], "'header' is not of the form KEY=VALUE"),
    ],
)
def test_bad_input_is_told_before_spark_starts(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    places = {"RULES": written(tmp_path, RULES, "rules.yaml")}
    places["DATA"] = written(tmp_path, CSV, "orders.csv")
    done = shown(*(places.get(word, word) for word in arguments))
    assert said in done.stderr
    assert "Starting Spark" not in done.stderr
    assert (done.stdout, done.exit_code) == ("", 2)


def test_rules_that_only_judge_all_rows_together_show_none(tmp_path: Path) -> None:
    text = "asset: o\nrules: [{type: record_count_in_range, name: rows, min: 1}]"
    rules, data = written(tmp_path, text, "rules.yaml"), written(tmp_path, CSV, "orders.csv")
    done = shown("--rules", rules, "--data", data)
    assert "No single row can be shown of 'rows'" in done.stderr
    assert done.exit_code == 2


def row(*values: str | None, rule: str = "r", columns: tuple[str, ...] = (), **more: Any) -> Any:
    severity = more.pop("severity", "error")
    fault = {"rule": rule, "type": "row_dq", "columns": list(columns), "severity": severity}
    return ShownRow(values, (fault,), **more)


def test_a_wide_row_is_shown_below_each_other_on_a_terminal() -> None:
    found = ShownRows(
        ("id", "text", "id"),
        (False, True, False),
        (row("1", "ä" * 60, None, columns=("TEXT",)), row("2", "日本", "3", columns=("id",))),
    )
    assert as_text(found, "o", width=30).splitlines() == [
        "row 1 breaks r (TEXT)",
        "  id      1",
        f"\x1b[31m! text    {'ä' * 19}…\x1b[0m",
        "  id (2)  NULL",
        "",
        "row 2 breaks r (id)",
        "\x1b[31m! id      2\x1b[0m",
        "  text    日本",
        "  id (2)  3",
        "",
        "o: 2 rows break rules.",
    ]


def test_a_table_on_a_terminal_cuts_long_values() -> None:
    found = ShownRows(
        ("id", "text"),
        (False, True),
        (
            row("1", "x" * 60, partition="a", rule="n" * 45),
            row("2", "日本", columns=("text",), severity="warning"),
            row("3", "z", rule="row_dq_text", columns=("text",)),
        ),
        more=True,
    )
    assert as_text(found, "o", width=120).splitlines() == [
        f"(partition)  id  text{' ' * 38}(breaks)",
        f"-----------  --  {'-' * 40}  {'-' * 45}",
        f"a            1   {'x' * 39}…  {'n' * 45}",
        f"             2   \x1b[31m日本{' ' * 36}\x1b[0m  r (text, warning)",
        f"             3   \x1b[31mz{' ' * 39}\x1b[0m  row_dq_text",
        "",
        "o: 3 rows of those that break rules; --limit shows more.",
    ]
    assert max(len(line) for line in as_text(found, "o", width=None).splitlines()) > 120


@pytest.mark.parametrize(
    ("value", "is_text", "said"),
    [
        (None, True, "NULL"),
        ("NULL", True, "'NULL'"),
        ("", True, "''"),
        (" a", True, "' a'"),
        ("***", True, "'***'"),
        ("***", False, "***"),
        ("it's", True, "it's"),
        ("a\nb", True, "'a\\nb'"),
        ("\u202ea", True, "'\\u202ea'"),
        ('{"a":"\x07"}', False, '{"a":"\\x07"}'),
    ],
)
def test_a_value_cannot_be_taken_for_something_else(
    value: str | None, is_text: bool, said: str
) -> None:
    found = ShownRows(("\x1b[2J",), (is_text,), (row(value, rule="a\x1bb"),))
    header, _, line, *_ = as_text(found, "o", width=None).splitlines()
    assert header.startswith("\\x1b[2J")
    assert line.split("  ")[0].strip() == said
    assert line.endswith("a\\x1bb")


def test_help_and_mistakes_need_neither_spark_nor_dagster() -> None:
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from dq_dagster.cli.main import main\n"
        "for arguments in (['--help'], ['rows', '--help'], ['rows'], ['test', '--help']):\n"
        "    CliRunner().invoke(main, arguments)\n"
        "print(*sorted(set(sys.modules) & {'pyspark', 'py4j', 'dagster', 'pandas', 'rich'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""


CODE = """
import dagster as dg
import pandas as pd
from dagster_pyspark import LazyPySparkResource

import dq_dagster as dq

PYSPARK = LazyPySparkResource(spark_config={})
DAYS = dg.StaticPartitionsDefinition(["mon", "tue", "wed", "thu"])
TWO = dg.MultiPartitionsDefinition({"day": DAYS, "shop": dg.StaticPartitionsDefinition(["a", "b"])})
SECRET = dg.TableSchema([dg.TableColumn("mail", "string", tags={"dq/sensitive": "true"})])
VISITS = {"mon": [1, 1, 2], "tue": [2, None], "wed": [7], "thu": []}


@dg.resource
def broken(context):
    raise RuntimeError("only who needs it starts it")


@dg.asset(metadata={"dagster/column_schema": SECRET})
def customers():
    return pd.DataFrame({"id": [1, 2, 3], "mail": ["ada@x.org", "?", None]})


@dg.asset(partitions_def=DAYS)
def visits(context):
    return pd.DataFrame({"id": pd.array(VISITS[context.partition_key], dtype="Int64")})


@dg.asset(partitions_def=TWO, required_resource_keys={"broken"})
def sales(context):
    day, shop = context.partition_key.split("|")
    return pd.DataFrame({"day": [day], "shop": [shop], "n": [1 if shop == "a" else -1]})


@dg.asset(io_manager_key="pickled")
def pickled():
    return pd.DataFrame({"n": [1, -1], "odd": [1, "b"], "n ": [2, 2]})


@dg.asset(io_manager_key="in_memory")
def passing():
    return pd.DataFrame({"n": [1, -1]})


@dg.asset
def unchecked():
    return pd.DataFrame({"n": [1]})


@dq.guarded_asset(
    rules=[
        dq.ColumnValuesInRange(name="small", columns="n", max=5, action_if_failed="drop"),
        dq.ColumnValuesInRange(name="positive", columns="n", min=0),
        dq.RecordCountInRange(name="some", min=1, action_if_failed="fail"),
    ],
    quarantine=dq.Quarantine(sensitive=["mail"]),
)
def payments():
    return pd.DataFrame({"n": [1, -1, 9, 10], "mail": ["a", "b", "c", None]})


def needing(broken):
    return broken


def shelf(context):
    return PYSPARK.spark_session.createDataFrame([(1, "mon"), (-1, "tue")], "n int, day string")


POSITIVE = dq.ColumnValuesInRange(name="positive", columns="n", min=0)
external = dg.AssetSpec("external", partitions_def=DAYS)
RULES = [
    dq.RuleSet(
        asset=customers,
        rules=[
            dq.ColumnValuesMatch(name="mails", columns="mail", pattern=".+@.+"),
            dq.ColumnNotEmpty(name="given", columns="mail"),
        ],
    ),
    dq.RuleSet(
        asset=visits,
        rules=[
            dq.ColumnUnique(name="within", columns="id"),
            dq.ColumnUnique(name="anywhere", columns="id", scope="whole_dataset"),
            dq.ColumnUnique(name="either", columns="id", scope="both"),
            dq.ColumnNotEmpty(name="given", columns="id"),
            dq.ColumnValuesInReference(
                name="known", columns="id", reference=dq.Reference(asset="customers")
            ),
            dq.ColumnValuesInReference(
                name="seen", columns="id", reference=dq.Reference(asset="visits")
            ),
        ],
    ),
    dq.RuleSet(asset=sales, rules=[POSITIVE]),
    dq.RuleSet(
        asset="pickled",
        rules=[POSITIVE, dq.ColumnValuesInSet(name="odd", columns="odd", values=[1])],
    ),
    dq.RuleSet(asset="passing", rules=[POSITIVE]),
    dq.RuleSet(asset=external, rules=[POSITIVE], reader=shelf, partition_expr="day"),
    dq.RuleSet(asset=dg.AssetSpec("lost"), rules=[POSITIVE], reader=dq.Files("FOLDER/nowhere")),
    dq.RuleSet(asset=dg.AssetSpec("needing"), rules=[POSITIVE], reader=needing),
]
ASSETS = [customers, visits, sales, pickled, passing, unchecked, payments, external]
defs = dg.Definitions(
    assets=ASSETS,
    asset_checks=dq.build_asset_checks(RULES, assets=ASSETS),
    resources={
        "pyspark": PYSPARK,
        "io_manager": dq.SparkIOManager(pyspark=PYSPARK, path="FOLDER"),
        "pickled": dg.FilesystemIOManager(base_dir="FOLDER/pickled"),
        "in_memory": dg.mem_io_manager,
        "broken": broken,
    },
)
"""


@pytest.fixture(scope="module")
def location(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A code location in a file, its assets built; its instance is beside it."""
    folder = tmp_path_factory.mktemp("location")
    home = folder / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    file = folder / "shown_location.py"
    file.write_text(CODE.replace("FOLDER", str(folder / "data")), encoding="utf-8")
    built: dict[str, Any] = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), built)
    defs = built["defs"]
    with dg.DagsterInstance.from_config(str(home)) as instance:

        def build(*names: str, **arguments: Any) -> None:
            resources = {**defs.resources, "broken": dg.ResourceDefinition.none_resource()}
            selection = dg.AssetSelection.assets(*names)
            dg.materialize(
                [one for one in defs.assets if isinstance(one, dg.AssetsDefinition)],
                selection=selection,
                instance=instance,
                resources=resources,
                **arguments,
            )

        build("customers", "pickled", "passing", "payments", "payments_quarantine")
        for day in ("mon", "tue", "wed"):
            build("visits", partition_key=day)
        for shop in "ab":
            build("sales", partition_key=dg.MultiPartitionKey({"day": "mon", "shop": shop}))
    return file


@pytest.fixture
def of_asset(location: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("DAGSTER_HOME", str(location.parent / "home"))
    return lambda *arguments: shown(*arguments, "-f", str(location))


def rows_of(done: Result, *columns: str) -> list[tuple[Any, ...]]:
    """Partition, values and broken rules of each row, in order."""
    assert done.stdout, done.output
    return sorted(
        (
            (
                one["partition"],
                *(one["row"][name] for name in columns),
                " ".join(fault["rule"] for fault in one["faults"]),
            )
            for one in json.loads(done.stdout)["rows"]
        ),
        key=str,
    )


def test_rows_of_an_asset_are_read_as_its_checks_read_them(
    of_asset: Callable[..., Result],
) -> None:
    done = of_asset("customers", "--json")
    assert rows_of(done, "id", "mail") == [(None, 2, "***", "mails"), (None, 3, None, "given")]
    assert done.stderr.startswith("Reading customers ... ")
    assert done.exit_code == 1
    done = of_asset("customers", "--where", "id = 3", "--rule", "mails")
    assert (done.stdout, done.exit_code) == ("customers: no row breaks these rules.\n", 0)
    done = of_asset("pickled", "--json")
    assert rows_of(done, "n", "n ") == [(None, -1, 2, "positive")]
    assert "Rule 'odd' cannot be judged: Column 'odd' is of the pandas type object" in done.stderr
    assert "Column 'odd' cannot be read." in done.stderr


def test_nothing_is_recorded(of_asset: Callable[..., Result], location: Path) -> None:
    def files() -> list[str]:
        return sorted(
            str(file) for file in location.parent.rglob("*") if "__pycache__" not in str(file)
        )

    with dg.DagsterInstance.from_config(str(location.parent / "home")) as instance:
        before = len(instance.get_runs()), files()
        of_asset("visits", "--partition", "mon")
        assert (len(instance.get_runs()), files()) == before


def test_values_repeat_within_partitions_or_anywhere(of_asset: Callable[..., Result]) -> None:
    repeats = ["--rule", "within", "--rule", "anywhere", "--rule", "either"]
    assert rows_of(of_asset("visits", *repeats, "--json"), "id") == [
        ("mon", 1, "within anywhere either"),
        ("mon", 1, "within anywhere either"),
        ("mon", 2, "anywhere either"),
        ("tue", 2, "anywhere either"),
    ]
    everywhere = of_asset("visits", "--rule", "anywhere", "--json")
    assert [one[1:] for one in rows_of(everywhere, "id")] == [(1, "anywhere")] * 2 + [
        (2, "anywhere")
    ] * 2
    done = of_asset("visits", *repeats, "--partition", "mon", "--partition", "tue", "--json")
    assert rows_of(done, "id") == [("mon", 1, "within anywhere either")] * 2


def test_partitions_are_read_alone(of_asset: Callable[..., Result]) -> None:
    others = ["--rule", "given", "--rule", "known", "--rule", "seen"]
    assert rows_of(of_asset("visits", *others, "--json"), "id") == [
        ("tue", None, "given"),
        ("wed", 7, "known"),
    ]
    done = of_asset("visits", *others, "--partition", "wed")
    assert done.stdout.splitlines()[2].split() == ["wed", "7", "known", "(id)"]
    assert of_asset("visits", *others, "--partition", "mon").exit_code == 0
    done = of_asset("sales", "--partition", "mon|b", "--json")
    assert rows_of(done, "n") == [("mon|b", -1, "positive")]
    assert of_asset("sales", "--partition", "mon|a").exit_code == 0


def test_rows_of_a_reader_find_their_partition(of_asset: Callable[..., Result]) -> None:
    assert rows_of(of_asset("external", "--json"), "n", "day") == [(None, -1, "tue", "positive")]
    assert rows_of(of_asset("external", "--partition", "tue", "--json"), "n") == [
        ("tue", -1, "positive")
    ]
    assert of_asset("external", "--partition", "mon").exit_code == 0


def test_a_guarded_asset_has_bad_rows_in_two_places(of_asset: Callable[..., Result]) -> None:
    done = of_asset("payments", "--json")
    assert rows_of(done, "n", "mail") == [(None, -1, "***", "positive")]
    assert "Left out, as all rows are judged together: 'some'." in done.stderr
    assert "Rows that were not published: dq-dagster rows payments_quarantine\n" in done.stderr
    done = of_asset("payments_quarantine", "--json")
    assert rows_of(done, "n", "mail", "dq_state") == [
        (None, -1, "***", "kept", "positive"),
        (None, 10, None, "left_out", "small"),
        (None, 9, "***", "left_out", "small"),
    ]
    assert "Rows that were not published" not in done.stderr
    done = of_asset("payments_quarantine", "--rule", "small", "--where", "n > 9", "--json")
    assert rows_of(done, "n") == [(None, 10, "small")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["visit"], "There are no rules of an asset 'visit' here. Did you mean 'visits'?"),
        (["unchecked"], "There are no rules of an asset 'unchecked' here."),
        (["visits", "--rule", "give"], "There is no rule 'give'. Did you mean 'given'?"),
        (["payments", "--rule", "some"], "No single row can be shown of 'some'"),
        (["visits", "--partition", "mo"], "'mo' is no partition of asset 'visits'. Did you mean"),
        (["visits", "--partition", "thu"], "'thu' of asset 'visits' has not been materialized"),
        (["customers", "--partition", "mon"], "Asset 'customers' has no partitions"),
        (["visits", "--where", "nn > 1"], "'nn > 1' cannot be used as a row filter"),
        (["passing"], "The IO manager of asset 'passing' keeps values in memory, for one run"),
        (
            ["needing"],
            "The data of asset 'needing' could not be read (RuntimeError was raised in broken (",
        ),
        (["lost"], "The data of asset 'lost' could not be read (AnalysisException: "),
    ],
)
def test_what_cannot_be_shown_of_an_asset_is_said(
    of_asset: Callable[..., Result], arguments: list[str], said: str
) -> None:
    done = of_asset(*arguments)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.stdout, done.exit_code) == ("", 2)


def test_the_instance_has_to_be_known(
    of_asset: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME")
    done = of_asset("customers")
    assert "DAGSTER_HOME is not set" in done.stderr
    assert done.exit_code == 2
