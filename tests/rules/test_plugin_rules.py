"""A rule of each kind, written with nothing but what dq.plugins offers."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster import plugins

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugin" / "dq_weekday_rule" / "__init__.py"


class Even(plugins.ColumnValueRule):
    """Every value of each column is an even number."""

    type: Literal["even"] = "even"

    def bad_value(self, column: str) -> plugins.Condition:
        return plugins.ValueSql(column, self.blank_is_empty, "{value} % 2 <> 0", ("int",))

    def fault(self, bad: int) -> str:
        return f"{plugins.are(bad)} odd"

    def demand(self) -> str:
        return f"{plugins.listing(self.columns)} are even{self.leniency()}."


class Spread(plugins.NumberRange, plugins.ColumnRule):
    """The difference between the largest and the smallest value of each column is in a range."""

    type: Literal["spread"] = "spread"
    observes_first_metric: ClassVar[bool] = True

    def column_metrics(self, column: str) -> tuple[plugins.Metric, ...]:
        name = plugins.identifier(column)
        return (plugins.SqlAggregate(f"max({name}) - min({name})", where=self.where),)

    def judge_column(self, column: str, evidence: plugins.Evidence) -> plugins.Judgement:
        [metric] = self.column_metrics(column)
        what = f"The spread of '{column}'"
        return self.judge_value(evidence[metric], metric, evidence, what=what)

    def demand(self) -> str:
        return f"The spread of {plugins.listing(self.columns)} is {self.expectation()}."


class Priced(plugins.Rule):
    """Rows have a price, up to a threshold."""

    type: Literal["priced"] = "priced"
    threshold: plugins.EitherThreshold = plugins.ALL
    """How many need not."""

    def metrics(self) -> tuple[plugins.Metric, ...]:
        bad = plugins.RowBreaks("price > 0", null_breaks=True)
        return (
            plugins.ConditionCount(bad, where=self.where),
            plugins.RecordCount(where=self.where),
        )

    def judge(self, evidence: plugins.Evidence) -> plugins.Judgement:
        bad, rows = evidence.each(self.metrics())
        return plugins.on_bad_rows(self.threshold, bad, rows).judgement("have no price")

    def demand(self) -> str:
        return f"Rows have a price{plugins.leniency(self.threshold)}."


class FillingTypical(plugins.ChangeDetection, plugins.Rule):
    """The number of different values of a column is typical of its past."""

    type: Literal["filling_typical"] = "filling_typical"
    column: plugins.ColumnName
    """The column."""

    named_after: ClassVar[tuple[str, ...]] = ("column",)
    observes_first_metric: ClassVar[bool] = True

    def metrics(self) -> tuple[plugins.Metric, ...]:
        grouping = plugins.Grouping((self.column,), blank_is_empty=False, where=self.where)
        return (plugins.DistinctCount(grouping, where=self.where),)

    def judge(self, evidence: plugins.Evidence) -> plugins.Judgement:
        [metric] = self.metrics()
        what = f"The number of values of '{self.column}'"
        return self.judge_value(evidence[metric], metric, evidence, what=what)

    def demand(self) -> str:
        return f"The number of values of '{self.column}' is {self.expectation()}."


def test_rules_of_each_kind_are_judged(spark: SparkSession) -> None:
    data = spark.sql("SELECT * FROM VALUES (2, 1.5), (3, 0.0), (8, NULL) AS t(n, price)")
    rules: list[dq.Rule] = [
        Even(columns="n"),
        Spread(columns="n", max=5),
        Priced(threshold=dq.AtMost(max=0.5)),
        FillingTypical(column="n", learning_period=3),
    ]
    past = {rules[3].metrics()[0].key: [3, 3, 4, 3]}
    found = dq.evaluate(data, rules, history=past)
    assert [(str(one.status), one.message) for one in found] == [
        ("Error", "1 of 3 values (33.33 %) of 'n' is odd (none allowed)."),
        ("Error", "The spread of 'n' is 6, above the maximum of 5."),
        ("Error", "2 of 3 rows (66.67 %) have no price (at most 50 % allowed)."),
        (
            "Ok",
            (
                "The number of values of 'n' is 3, as is typical (2.625 to 3.625; 4 earlier "
                "values: half of them between 3 and 3.25)."
            ),
        ),
    ]
    assert found["filling_typical_n"].typical is not None


def test_a_rule_without_a_family_stands_among_the_others() -> None:
    assert Even.family is plugins.RuleFamily.OTHERS
    assert FillingTypical.family is plugins.RuleFamily.CHANGE_DETECTION


def test_the_example_needs_nothing_else() -> None:
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported == {"dq_dagster"}
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "dq.plugins"
    }
    assert used
    assert used <= set(vars(plugins))


@pytest.mark.parametrize("name", [name for name in vars(plugins) if not name.startswith("_")])
def test_every_name_is_there_on_purpose(name: str) -> None:
    # Names that are imported for use in the module itself would be no part of what it offers.
    source = Path(str(plugins.__file__)).read_text(encoding="utf-8")
    named = f"import {name} as {name}\n" in source or f"\ndef {name}(" in source
    assert name == "annotations" or named
