"""What the benchmark says beside other tools, over several shapes, of memory, and on its page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from examples.bench import chart, page
from examples.bench.answers import evaluate
from examples.bench.data import DAY_KEYS, orders
from examples.bench.memory import Footprint, footprint, memory_table, memory_verdicts
from examples.bench.peers import soda
from examples.bench.peers.beside import PEERS, TIMES, faster
from examples.bench.peers.peer import Answer, differences, faulty, one_by_one
from examples.bench.report import Faster, Target, save, worst_of_shapes
from examples.bench.stopwatch import Lap, Laps
from examples.bench.suites import EVERYDAY
from examples.bench.targets import SUITES, Measured, verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

NAMES = {rule.name for rule in EVERYDAY}
# What each tool has no words for.
LACKING = {
    "great-expectations": set(),
    "soda-core-spark-df": {"columns"},
    "databricks-labs-dqx": {"columns"},
    "spark-expectations": {"columns"},
    "cuallee": {
        "amount_avg",
        "amount_sum",
        "unit_price_avg",
        "unit_price_stddev",
        "rows",
        "columns",
        "weight_median",
        "amount_median",
        "country_top",
    },
}


def laps_of(**seconds: float) -> Laps:
    return Laps({name: (Lap(wall, 2 * wall, 1),) for name, wall in seconds.items()})


def laps_beside(package: str, ours: float, theirs: float) -> Laps:
    said = faster("A", package)
    return laps_of(**{"L0 (one scan)": 1, "L1 (by hand)": 4, said.ours: ours, said.theirs: theirs})


def laps_of_suite(suite: str, wall: float) -> Laps:
    """Everything that its targets name takes as long, but for the first that is judged."""
    names = [
        name
        for one in SUITES[suite].verdicts
        if isinstance(one, Target)
        for name in (one.reference, one.what)
    ]
    ours = next(one.what for one in SUITES[suite].verdicts if isinstance(one, Target))
    jobs = [name for one in SUITES[suite].verdicts for name in getattr(one, "names", {}).values()]
    return laps_of(**{**dict.fromkeys([*names, *jobs], 1.0), ours: wall})


@pytest.mark.parametrize("package", list(PEERS))
def test_a_tool_is_given_the_rules_that_it_can_express(package: str) -> None:
    peer = PEERS[package]
    assert set(peer.says) == NAMES - LACKING[package]
    assert [rule.name for rule in peer.rules] == [
        rule.name for rule in EVERYDAY if rule.name in peer.says
    ]
    assert peer.package == package


def test_every_everyday_rule_is_broken_by_the_faulty_table(spark: SparkSession) -> None:
    broken = evaluate(faulty(orders(spark, 400)), EVERYDAY)
    assert {one.rule.name for one in broken if one.status == "Ok"} == {"rows"}


def test_answers_that_differ_are_named(spark: SparkSession) -> None:
    outcomes = [
        one
        for one in evaluate(faulty(orders(spark, 70)), EVERYDAY)
        if one.rule.name in {"rows", "quantity_min", "order_id_given"}
    ]
    right = {
        "rows": Answer(True, 70),
        "quantity_min": Answer(False),
        "order_id_given": Answer(False, 10),
    }
    assert differences(outcomes, right, "the table") == []
    wrong = {"rows": Answer(True, 71), "quantity_min": Answer(True), "more": Answer(True)}
    found = differences(outcomes, wrong, "the table")
    assert [line.partition(":")[0] for line in found] == [
        "more",
        "order_id_given",
        "quantity_min",
        "rows",
    ]
    assert (
        found[0] == "more: Answer(passed=True, number=None), where ours says nothing, on the table"
    )


def test_tools_that_know_tables_only_are_run_by_day(spark: SparkSession) -> None:
    def whole(frame: DataFrame) -> object:
        return lambda: {"rows": Answer(True, frame.count())}

    run = one_by_one(whole, orders(spark, 100), DAY_KEYS[:2])  # type: ignore[arg-type]
    counts = {day: answers["rows"].number for day, answers in run().items()}
    assert counts == {DAY_KEYS[0]: 5, DAY_KEYS[1]: 5, None: 100}


def test_soda_is_given_each_day_and_the_table() -> None:
    text = soda.sodacl(DAY_KEYS[:1])
    own = "on_2024_03_01"
    assert list(text) == [
        f"filter bench_orders [{own}]",
        "checks for bench_orders",
        f"checks for bench_orders [{own}]",
    ]
    whole, day = text["checks for bench_orders"], text[f"checks for bench_orders [{own}]"]
    assert len(whole) == len(day) == 29
    assert {
        "weight_middle between 45 and 55": whole[-3]["weight_middle between 45 and 55"]
    } == whole[-3]
    query = day[-1][f"country_first_{own} = 0"][f"country_first_{own} query"]
    assert "FROM bench_orders WHERE country IS NOT NULL AND day = DATE'2024-03-01'" in query
    assert "{" not in query


@pytest.mark.parametrize(
    ("theirs", "verdict"),
    [
        (2.5, "held    2.50 x faster than cuallee on its 21 rules (at least 2 x); CPU 2.50 x"),
        (1.5, "MISSED  1.50 x faster than cuallee on its 21 rules (at least 2 x); CPU 1.50 x"),
    ],
)
def test_ours_is_to_be_faster_than_a_tool(theirs: float, verdict: str) -> None:
    assert faster("A", "cuallee").verdict(laps_beside("cuallee", 1, theirs)) == verdict


def test_by_day_more_is_demanded() -> None:
    assert TIMES == {"A": 2, "B": 4}
    said = faster("B", "cuallee")
    assert said == Faster(
        "21 rules, 20 days and all", "21 rules, 20 days and all, cuallee", 4, "cuallee", 21
    )
    assert said.limit == 0.25


def test_the_worst_of_all_shapes_is_said() -> None:
    target = Target("rules", "hand", 0.5)
    shapes = {"even": laps_of(rules=1, hand=4), "long": laps_of(rules=3, hand=4)}
    assert list(worst_of_shapes([target], shapes)) == [
        "MISSED  rules take 0.75 x hand (at most 0.50); CPU 0.75 x [worst of 2 shapes: long]"
    ]
    assert list(worst_of_shapes([target], {"even": shapes["even"]})) == []


def test_verdicts_are_given_by_shape_and_then_the_worst() -> None:
    measured = {
        Measured("A", "even", "cuallee"): laps_beside("cuallee", 1, 3),
        Measured("A", "long", "cuallee"): laps_beside("cuallee", 1, 2),
    }
    assert [line.rpartition(" [")[2] for line in verdicts(measured)] == [
        "even]",
        "long]",
        "worst of 2 shapes: long]",
    ]


@pytest.mark.parametrize("one", [Measured("A", "even"), Measured("B", "long", "cuallee")])
def test_results_are_named_by_suite_shape_and_tool(one: Measured) -> None:
    assert Measured.read(one.name) == one


def written(folder: Path) -> page.Results:
    """Results of suites A and I, an older and a newer run of A, and memory."""
    old = {"A even": laps_of_suite("A", 9.0), "A even cuallee": laps_beside("cuallee", 1, 3)}
    new = {"A even": laps_of_suite("A", 0.4), "A long": laps_of_suite("A", 0.6)}
    growth = {"I even": laps_of(**{"checks after 10 days": 2.0, "checks after 1,000 days": 2.2})}
    options = {"rows": 1_000, "small": True}
    left_out = {"A even cuallee": "cuallee cannot be installed: no"}
    footprints = [vars(Footprint(10, 2, 1, 1_000_000, 1_000_000))] * 2
    for name, laps, further in (
        ("1", old, {"left_out": {}}),
        ("2", new | growth, {"left_out": left_out}),
        ("3", {}, {"memory": footprints}),
    ):
        path = save(folder, options, laps, [], **further)
        path.rename(folder / f"{name}.json")
    return page.read(folder)


def test_the_newest_results_are_taken(tmp_path: Path) -> None:
    results = written(tmp_path)
    assert {one.name for one in results.laps} == {"A even", "A long", "I even"}
    assert [one.name for one in results.left_out] == ["A even cuallee"]
    text = "\n".join(page.section(results))
    assert "### Suite A: everyday rules\n" in text
    assert (
        "| What | as a multiple of | even | long | worst | at most |  |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | --- |\n"
        "| 30 rules | L1 (by hand) | 0.40 (0.40) | 0.60 (0.60) | 0.60 | 0.50 | **missed** |\n"
    ) in text
    assert "1,000 days | checks after 10 days | 1.10 (1.10) | 1.15 | held |" in text
    assert "- cuallee, even: cuallee cannot be installed: no" in text
    assert "| 10 | 2 | 0.0 | 1.0 | 1.0 | 1.00 x | 1.25 x | held |" in text


def test_tools_have_a_table_of_their_own(tmp_path: Path) -> None:
    save(tmp_path, {"rows": 5}, {"A even cuallee": laps_beside("cuallee", 1, 3)}, [])
    text = "\n".join(page.section(page.read(tmp_path)))
    assert "### Suite A: everyday rules, beside others\n" in text
    assert "| cuallee | 21 of 30 | 3.0 x (3.0 x) | 2 x | held |" in text


def test_the_page_and_its_picture_are_written(tmp_path: Path) -> None:
    written(tmp_path)
    file, picture = tmp_path / "page.md", tmp_path / "bench.svg"
    file.write_text("Before\n<!-- measured -->\nold\n<!-- end of measured -->\nAfter\n", "utf-8")
    page.write(tmp_path, file, picture)
    first = file.read_text("utf-8"), picture.read_text("utf-8")
    page.write(tmp_path, file, picture)
    assert (file.read_text("utf-8"), picture.read_text("utf-8")) == first
    assert first[0].startswith("Before\n<!-- measured -->\n\n### Suite A")
    assert first[0].endswith("<!-- end of measured -->\nAfter\n")
    assert "old" not in first[0]
    assert "0.60 of 0.50, long" in first[1]


def test_a_page_needs_results(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="There are no results in"):
        page.write(tmp_path, tmp_path / "page.md", tmp_path / "bench.svg")


def test_the_published_page_has_its_place_for_results() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- measured -->") == text.count("<!-- end of measured -->") == 1


def test_bars_show_the_worst_shape_and_its_share_of_the_target() -> None:
    measured = {
        Measured("A", "even"): laps_of_suite("A", 0.25),
        Measured("A", "long"): laps_of_suite("A", 0.75),
    }
    first = chart.bars_of(measured)[0]
    assert (first.label, first.used, first.held) == ("A  30 rules / L1 (by hand)", 1.5, False)
    assert first.words == "0.75 of 0.50, long"


def test_memory_is_to_stay_flat() -> None:
    found = [
        Footprint(1_000, 20, 1_000_000, 10_000_000, 30_000_000),
        Footprint(9_000, 20, 2_000_000, 14_000_000, 34_000_000),
        Footprint(1_000, 900, 2_000_000, 40_000_000, 40_000_000),
    ]
    rows, partitions = memory_verdicts(found)
    said = "the driver holds 1.20 x as much for 9,000 rows in 20 partitions as for 1,000 in 20"
    assert rows == f"held    {said} (at most 1.25)"
    said = "the driver holds 2.00 x as much for 1,000 rows in 900 partitions as for 1,000 in 20"
    assert partitions == f"MISSED  {said} (at most 1.25)"
    last = list(memory_table(found))[-1]
    assert last.split() == ["1,000", "900", "2.0", "40.0", "40.0", "2.00"]


def test_what_tasks_send_is_counted(spark: SparkSession) -> None:
    before = footprint(spark, 40, 2)
    after = footprint(spark, 40, 2)
    assert 0 < before.sent < after.sent
    assert min(before.java, before.python) > 1_000_000


def test_results_are_kept_as_json(tmp_path: Path) -> None:
    path = save(tmp_path, {"rows": 5}, {"A even": laps_of(rules=1)}, ["held"], left_out={})
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["suites"] == {"A even": {"rules": [{"wall": 1, "cpu": 2, "jobs": 1}]}}
    assert found["verdicts"] == ["held"]
