"""Declaring meanings and judging by them, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.conditions import IsEmpty, NotValid
from dq_dagster.metrics.meanings.meaning import (
    DEFINITIONS,
    Anything,
    BuiltIn,
    OneOf,
    Shaped,
    Validity,
)
from dq_dagster.metrics.metric import ConditionCount, Metric, RecordCount

STATUS = {"values": ["new", "paid"], "match": "ignore_case"}


def said(rules: list[dict[str, Any]], **fields: Any) -> list[str]:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="orders", rules=rules, **fields)
    return [str(problem) for problem in caught.value.problems]


def rule(meaning: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": "column_valid_meaning",
        "name": "n",
        "columns": "a",
        "meaning": meaning,
        **fields,
    }


def conditions(given: Any) -> list[Validity]:
    return [
        metric.condition.meaning
        for metric in given.metrics()
        if isinstance(metric, ConditionCount) and isinstance(metric.condition, NotValid)
    ]


def test_every_built_in_meaning_has_words() -> None:
    for name, definition in DEFINITIONS.items():
        assert name == name.lower()
        assert definition.noun
        assert definition.text.endswith(".")


TAKEN = "is a built-in meaning; call yours something else."
WHERE = "rule 'n', asset 'orders': "
NEEDED = "the name of a meaning, or one such as {values: [a, b]}, is needed."


@pytest.mark.parametrize(
    ("meaning", "message"),
    [
        ("emial", "field 'meaning': unknown meaning 'emial'. Did you mean 'email'?"),
        (
            "from_shema",
            "field 'meaning': unknown meaning 'from_shema'. Did you mean 'from_schema'?",
        ),
        ("Email", "field 'meaning': unknown meaning 'Email'. Did you mean 'email'?"),
        (5, f"field 'meaning': {NEEDED}"),
        (None, f"field 'meaning': {NEEDED}"),
        ("", f"field 'meaning': {NEEDED}"),
        ({"vales": ["a"]}, "unknown field 'meaning.vales'. Did you mean 'values'?"),
        (
            {"values": ["a"], "pattern": "b"},
            "field 'meaning': a meaning has values or pattern, not both.",
        ),
        (
            {},
            "field 'meaning': a meaning needs values, a mapping, a pattern or a description.",
        ),
        (
            {"pattern": "a", "match": "ignore_case"},
            "field 'meaning': match is about values or a mapping, and there are none.",
        ),
        (
            {"pattern": "a)|(b"},
            "field 'meaning.pattern': unmatched ')', at position 1 of the pattern 'a)|(b'.",
        ),
        (
            {"values": ["a"], "match": "loosely"},
            (
                "field 'meaning.match': 'exact', 'ignore_case' or 'ignore_accents' is needed, "
                "not 'loosely'."
            ),
        ),
    ],
)
def test_one_mistake_one_sentence(meaning: Any, message: str) -> None:
    assert said([rule(meaning)]) == [WHERE + message]


def test_a_name_near_to_nothing_is_told_all_names() -> None:
    [problem] = said([rule("zzzzzz")], meanings={"order_status": STATUS})
    assert "Known meanings: order_status, text, decimal, " in problem


def test_mistakes_of_the_rule_set_are_told_together() -> None:
    found = said(
        [rule("broken"), rule("order_stats", name="m")],
        meanings={
            "broken": {"vals": [1]},
            "EMAIL": STATUS,
            "from_schema": STATUS,
            "order_status": STATUS,
        },
        column_meanings={"a": "emial", "b": "order_status"},
    )
    assert found == [
        "asset 'orders': meaning 'broken': unknown field 'vals'. Did you mean 'values'?",
        f"asset 'orders': field 'meanings': 'email' {TAKEN}",
        f"asset 'orders': field 'meanings': 'from_schema' {TAKEN}",
        "asset 'orders': column 'a': unknown meaning 'emial'. Did you mean 'email'?",
        (
            "rule 'm', asset 'orders': field 'meaning': unknown meaning 'order_stats'. "
            "Did you mean 'order_status'?"
        ),
    ]


@pytest.mark.parametrize(
    ("meaning", "validity"),
    [
        ("email", BuiltIn("email")),
        ("order_status", "one_of ['new', 'paid'] (ignore_case)"),
        ({"values": ["x", "x"]}, "one_of ['x']"),
        ({"mapping": {"1": "yes", "0": "no"}}, "one_of ['1', '0'] (as text)"),
        ({"mapping": {1: "yes"}, "description": "d"}, "one_of [1] (as text)"),
        ({"pattern": "a+"}, Shaped("a+")),
        ({"description": "an id of the old system"}, Anything()),
        (dq.Meaning(values=[1, 2]), "one_of [1, 2]"),
    ],
)
def test_what_a_declaration_means(meaning: Any, validity: Validity | str) -> None:
    rules = dq.RuleSet(asset="o", rules=[rule(meaning)], meanings={"order_status": STATUS}).rules
    [found] = conditions(rules[0])
    assert (found.key if isinstance(validity, str) else found) == validity
    assert isinstance(found, OneOf) is isinstance(validity, str)


def test_equal_looking_members_are_different_meanings() -> None:
    sets: list[list[Any]] = [[1], [True], ["1"], ["a  b"], ["a b"]]
    rules = [rule({"values": values}, name=f"r{n}") for n, values in enumerate(sets)]
    metrics = dq.explain(rules).metrics
    assert len(metrics) == len({metric.key for metric in metrics}) == len(sets) + 2


def test_from_schema_follows_the_schema_of_its_rule_set() -> None:
    def of(**column_meanings: str) -> list[Validity]:
        given = rule("from_schema", columns=["Mail", "b"])
        loaded = dq.RuleSet(
            asset="o", rules=[given], meanings={"st": STATUS}, column_meanings=column_meanings
        )
        # A rule that has been in one rule set takes the words of the next.
        again = dq.RuleSet(
            asset="o", rules=loaded.rules, meanings={"st": STATUS}, column_meanings=column_meanings
        )
        assert loaded == again
        return conditions(again.rules[0])

    assert of(mail="email") == [BuiltIn("email")]
    assert of(mail="url", b="uuid") == [BuiltIn("url"), BuiltIn("uuid")]
    assert [meaning.key for meaning in of(b="st")] == ["one_of ['new', 'paid'] (ignore_case)"]
    assert of() == []


def judged(given: dict[str, Any], bad: int, empty: int, rows: int, **fields: Any) -> Any:
    [made] = dq.RuleSet(asset="o", rules=[given], **fields).rules
    counts: dict[Metric, int] = {}
    for metric in made.metrics():
        match metric:
            case ConditionCount(condition=NotValid()):
                counts[metric] = bad
            case ConditionCount(condition=IsEmpty()):
                counts[metric] = empty
            case RecordCount():
                counts[metric] = rows
    return made.judge(Evidence(counts))


@pytest.mark.parametrize(
    ("fields", "bad", "empty", "status", "message"),
    [
        (
            {"meaning": "email"},
            3,
            1,
            "Error",
            ("3 of 8 rows (37.5 %) have no valid e-mail address in 'a', 1 of them because it is "
            "empty (none allowed)."),
        ),
        (
            {"meaning": "order_status", "threshold": {"type": "proportion", "min": 0.5}},
            4,
            2,
            "Ok",
            ("4 of 8 rows (50 %) have no valid 'order_status' in 'a', 2 of them because they are "
            "empty (at least 50 % required)."),
        ),
        (
            {"meaning": {"pattern": "x"}, "empty_is_valid": True,
             "threshold": {"type": "count", "soft_max": 0, "max": 2}},
            1,
            2,
            "Warning",
            (
                "1 of 8 rows (12.5 %) has no valid value in 'a' "
                "(at most 2 allowed, ideally at most 0)."
            ),
        ),
        (
            {"meaning": "country"},
            0,
            0,
            "Ok",
            "0 of 8 rows (0 %) have no valid country in 'a' (none allowed).",
        ),
    ],
)  # fmt: skip
def test_messages(fields: dict[str, Any], bad: int, empty: int, status: str, message: str) -> None:
    verdict = judged(rule(**fields), bad, empty, 8, meanings={"order_status": STATUS})
    assert (verdict.status, verdict.message) == (status, message)
    assert (verdict.observed, verdict.failed_rows, verdict.rows) == (bad, bad, 8)


def test_no_rows_are_nothing_to_judge() -> None:
    verdict = judged(rule("email", empty_is_valid=True), 0, 0, 0)
    assert (verdict.status, verdict.observed) == ("Empty", None)


def test_a_column_without_a_meaning_does_not_hide_the_others() -> None:
    given = rule("from_schema", columns=["a", "b"])
    verdict = judged(given, 0, 0, 8, column_meanings={"a": "email"})
    assert verdict.status == "Error"
    assert verdict.message == (
        "The schema gives column 'b' no meaning: set one in the rule set's column_meanings, such "
        "as {b: email}, or name a meaning on the rule itself."
    )
    assert verdict.observed == {"a": 0, "b": None}
    assert verdict.columns["a"].status == "Ok"


def test_a_rule_outside_a_rule_set_knows_the_built_in_names_only() -> None:
    known = dq.ColumnValidMeaning(columns="a", meaning="email")
    unknown = dq.ColumnValidMeaning(columns="a", meaning="order_status")
    assert conditions(known) == [BuiltIn("email")]
    assert unknown.metrics() == ()
    assert "unknown meaning 'order_status'" in unknown.judge(Evidence({})).message


@pytest.mark.parametrize(
    ("fields", "demand"),
    [
        (
            {"meaning": "email"},
            "Every value of 'a' is a valid e-mail address, and there is always one.",
        ),
        (
            {"meaning": "from_schema", "empty_is_valid": True},
            "Every value of 'a' is valid for the meaning that the schema gives its column.",
        ),
        (
            {"meaning": STATUS, "empty_is_valid": True},
            "Every value of 'a' is one of 'new' and 'paid' (ignore case).",
        ),
        (
            {"meaning": {"pattern": "x+"}, "threshold": {"type": "count", "max": 3}},
            (
                "Every value of 'a' is a match of 'x+', and there is always one "
                "(exceptions: at most 3 allowed)."
            ),
        ),
        (
            {"meaning": {"description": "d"}, "empty_is_valid": True},
            "Every value of 'a' is valid.",
        ),
    ],
)
def test_demands(fields: dict[str, Any], demand: str) -> None:
    [made] = dq.RuleSet(asset="o", rules=[rule(**fields)]).rules
    assert made.demand() == demand


def test_meanings_in_yaml(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    text = """
asset: orders
meanings:
  order_status: {values: [new, paid], match: ignore_case}
  answer:
    description: answer of the poll
    mapping: {1: agree, 2: disagree, -1: no answer}
column_meanings: {status: order_status}
rules:
  - {type: column_valid_meaning, name: one, columns: status, meaning: from_schema}
  - {type: column_valid_meaning, name: two, columns: reply, meaning: answer}
  - {type: column_valid_meaning, name: three, columns: code, meaning: {pattern: "[A-Z]+"}}
"""
    file.write_text(text, encoding="utf-8")
    [loaded] = dq.load_rules(file)
    keys = [meaning.key for given in loaded.rules for meaning in conditions(given)]
    assert keys == [
        "one_of ['new', 'paid'] (ignore_case)",
        "one_of ['1', '2', '-1'] (as text)",
        "pattern '[A-Z]+'",
    ]
    broken = text.replace("match: ignore_case", "mach: 1").replace("order_status}", "order_stats}")
    file.write_text(broken, encoding="utf-8")
    with pytest.raises(dq.DeclarationError) as caught:
        dq.load_rules(file)
    assert [str(problem) for problem in caught.value.problems] == [
        (
            "rules.yaml:3, asset 'orders': meaning 'order_status': unknown field 'mach'. "
            "Did you mean 'match'?"
        ),
        (
            "rules.yaml:8, asset 'orders': column 'status': unknown meaning 'order_stats'. "
            "Did you mean 'order_status'?"
        ),
    ]


def test_the_schema_of_rule_files_knows_meanings() -> None:
    schema = dq.json_schema()
    properties = schema["$defs"]["rule_set"]["properties"]
    assert properties["meanings"]["additionalProperties"] == {"$ref": "#/$defs/Meaning"}
    assert set(schema["$defs"]["Meaning"]["properties"]) == set(dq.Meaning.model_fields)
