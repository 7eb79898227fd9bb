"""Random rules on random rows: all rows are accounted for, and plain Python finds the same."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import dagster as dg
import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from tests.depth import deep_after
from tests.integration.guarded.gate import QUARANTINE, Gate
from tests.integration.guarded.generated import (
    CUSTOMERS,
    SCHEMA,
    Bad,
    RandomRule,
    random_rows,
    random_rules,
)

PARTS = ["p1", "p2", "p 3", "p4"]


def customers_of(spark: SparkSession) -> dg.AssetsDefinition:
    @dg.asset
    def customers() -> DataFrame:
        return spark.createDataFrame([(number,) for number in CUSTOMERS], "number int")

    return customers


@dataclass(frozen=True)
class Accounts:
    """What plain Python finds on the rows of a slice, and what is on record of it."""

    rules: Sequence[RandomRule]
    rows: Sequence[dict[str, Any]]
    record: Mapping[str, Any]
    quarantined: Mapping[int, Row]

    @classmethod
    def of(
        cls,
        gate: Gate,
        rules: Sequence[RandomRule],
        rows: Sequence[dict[str, Any]],
        key: str | None,
    ) -> Self:
        kept = gate.frame(QUARANTINE, None if key is None else [key]).collect()
        [record] = [one for one in gate.stats() if one["partition"] == key]
        mine = [row for row in rows if key is None or row["part"] == key]
        assert len({row["id"] for row in kept}) == len(kept)
        return cls(rules, mine, record, {row["id"]: row for row in kept})

    @cached_property
    def found(self) -> dict[str, Bad]:
        return {one.rule.name: one.bad(self.rows) for one in self.rules}

    @property
    def bad(self) -> set[int]:
        return set().union(*(hard | soft for hard, soft in self.found.values()))

    @property
    def out(self) -> set[int]:
        return set().union(*(self.found[r.rule.name][0] for r in self.rules if r.keeps_out))

    @property
    def stops(self) -> bool:
        acting = [one.rule for one in self.rules if one.rule.action_if_failed == "fail"]
        return any(self.found[rule.name][0] for rule in acting)

    def compare_rules(self) -> None:
        """Each rule: who breaks it, how badly, how many those are, and what follows."""
        assert set(self.quarantined) == self.bad
        for name, (hard, soft) in self.found.items():
            named = {
                number: one["severity"]
                for number, row in self.quarantined.items()
                for one in row["dq_faults"]
                if one["rule"] == name
            }
            assert set(named) == hard | soft, name
            assert {number for number, said in named.items() if said == "error"} == hard, name
            on_record = self.record["rules"][name]
            assert on_record["faults"] == len(named), name
            if named:
                assert on_record["source"] == ("Error" if hard else "Warning"), name
            else:
                assert on_record["source"] in {"Ok", "Empty"}, name

    def compare_rows(self, published: Sequence[int] | None) -> None:
        """Where each row is; None if nothing was published."""
        states = {number: row["dq_state"] for number, row in self.quarantined.items()}
        numbers = [self.record[f"rows_{word}"] for word in ("in", "good", "quarantined")]
        assert numbers == [len(self.rows), len(self.rows) - len(self.bad), len(self.bad)]
        if published is None:
            assert set(states.values()) <= {"withheld"}
            return
        assert sorted(published) == sorted({row["id"] for row in self.rows} - self.out)
        assert states == {n: "left_out" if n in self.out else "kept" for n in self.bad}
        # Rows in are those published and those quarantined, but for those that are both.
        both = set(published) & self.bad
        assert len(self.rows) == len(published) + len(self.bad) - len(both)
        assert self.record["rows_published"] == len(published)
        assert self.record["rows_dropped"] == len(self.out)


@pytest.mark.parametrize(
    ("seed", "actions"),
    deep_after(
        1,
        [
            (1, ["ignore", "drop"]),
            (2, ["ignore", "drop", "fail"]),
            (3, ["ignore"]),
            (4, ["drop"]),
            (5, ["ignore", "ignore", "ignore", "drop"]),
            (6, ["fail"]),
        ],
    ),
)
def test_without_partitions(
    spark: SparkSession, tmp_path: Path, seed: int, actions: list[str]
) -> None:
    chance = random.Random(seed)
    rows = random_rows(chance, "", 60, 1)
    rules = random_rules(chance, 26, actions)
    value = spark.createDataFrame([tuple(row.values()) for row in rows], SCHEMA)
    beside = [customers_of(spark)]
    gate = Gate(tmp_path, value, [one.rule for one in rules], beside=beside)
    run = gate.build()
    accounts = Accounts.of(gate, rules, rows, None)
    accounts.compare_rules()
    assert run.success != accounts.stops
    accounts.compare_rows([row["id"] for row in gate.published()] if run.success else None)


@pytest.mark.parametrize(
    ("seed", "actions"),
    deep_after(
        1,
        [
            (11, ["ignore", "drop"]),
            (12, ["ignore", "ignore", "ignore", "drop"]),
            (13, ["ignore", "drop", "fail"]),
            (14, ["drop"]),
        ],
    ),
)
def test_with_partitions(
    spark: SparkSession, tmp_path: Path, seed: int, actions: list[str]
) -> None:
    chance = random.Random(seed)
    sizes = [25, 1, 0, 30]
    rows = [
        row
        for place, (part, size) in enumerate(zip(PARTS, sizes, strict=True))
        for row in random_rows(chance, part, size, 1 + place * 100)
    ]
    rules = random_rules(chance, 20, actions)
    value = spark.createDataFrame([tuple(row.values()) for row in rows], SCHEMA)
    settings: dict[str, Any] = {}
    if seed % 2:
        settings = {"metadata": {"partition_expr": "part"}}
    gate = Gate(
        tmp_path,
        (lambda _: value)
        if seed % 2
        else (lambda keys: {key: value.where(value.part == key) for key in keys}),
        [one.rule for one in rules],
        beside=[customers_of(spark)],
        partitions_def=dg.StaticPartitionsDefinition(PARTS),
        **settings,
    )
    customers = gate.build(selection=[dg.AssetKey("customers")])
    assert customers.success
    run = gate.build(PARTS[0], PARTS[-1], job="asset_alone")
    every = {part: Accounts.of(gate, rules, rows, part) for part in PARTS}
    assert run.success != any(accounts.stops for accounts in every.values())
    for part, accounts in every.items():
        accounts.compare_rules()
        published = (
            [row["id"] for row in gate.frame(keys=[part]).collect()] if run.success else None
        )
        accounts.compare_rows(published)
