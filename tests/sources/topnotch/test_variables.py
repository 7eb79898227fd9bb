"""Variables of a plan: where they are replaced, and what their values cannot do."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.plan.topnotch import AssertionCommand
from dq_dagster.sources.topnotch.json_text import read_json
from dq_dagster.sources.topnotch.plan import read_plan
from dq_dagster.sources.topnotch.variables import as_texts, fill
from tests.sources.topnotch.loans import a_view, an_assertion, write_plan


def filled(text: str, **variables: Any) -> tuple[Any, list[str]]:
    problems: list[Problem] = []
    node = fill(read_json(text, name="f.json"), as_texts(variables), problems)
    return node.plain, [str(one) for one in problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"topnotch/${kind}-${date}.parquet"', "topnotch/mtg-2024-01-31.parquet"),
        ('{"${kind}": ["a${kind}${kind}"]}', {"mtg": ["amtgmtg"]}),
        # What is put there is not searched for variables, nor read as JSON.
        ('"${nested}"', '${kind}", "b": "c'),
        ('"$kind {kind} ${kind} $${kind}"', "$kind {kind} mtg $mtg"),
        ('"${flag} ${number}"', "true 3"),
        ("[1, true, null]", [1, True, None]),
    ],
)
def test_values_are_put_into_keys_and_texts(text: str, value: Any) -> None:
    found, problems = filled(
        text,
        kind="mtg",
        date=date(2024, 1, 31),
        nested='${kind}", "b": "c',
        flag=True,
        number=3,
    )
    assert (found, problems) == (value, [])


def test_every_variable_without_a_value_is_named() -> None:
    _, problems = filled('{"${kind}": "${dat}",\n "b": "${env:HOME} ${}"}', date="x")
    assert problems == [
        f"f.json:{place}: the variable '{name}' has no value: give it one by variables={{...}}, or "
        f"on the command line by --variable NAME=VALUE.{hint}"
        for place, name, hint in [
            ("1:2", "kind", ""),
            ("1:13", "dat", " Did you mean 'date'?"),
            ("2:7", "env:HOME", ""),
            ("2:7", "", ""),
        ]
    ]


def test_two_keys_may_not_become_one() -> None:
    _, problems = filled('{"a": 1, "${x}": 2}', x="a")
    assert problems == ["f.json:1:10: 'a' stands here twice, with the values of variables."]


def test_a_few_characters_cannot_become_any_number() -> None:
    text = '["' + "${x}" * 2_000 + '"]'
    with pytest.raises(DeclarationError, match=r"f\.json:1:2: variables make the file longer than"):
        filled(text, x="a" * 1_000)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a"], "variables is a dict of names and values, not a list."),
        ({"a": None}, "variable 'a' needs a text or a number, not a NoneType."),
        ({1: "b"}, "variable 1 needs a text or a number, not a str."),
    ],
)
def test_values_are_texts(given: Any, message: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        as_texts(given)
    assert [one.message for one in caught.value.problems] == [message]


def asserted(folder: Path, query: str, **variables: str) -> AssertionCommand:
    one = {"query": query, "description": "${name} of ${day}", "threshold": "${share}"}
    plan = write_plan(
        folder,
        a_view(cache="${cached}"),
        an_assertion("${name}"),
        assertion={"assertions": [one]},
    )
    usual = {"name": "rows", "day": "monday", "share": "0.25", "cached": "true"}
    command = read_plan(plan, variables={**usual, **variables}).commands[1]
    assert isinstance(command, AssertionCommand)
    return command


def test_numbers_flags_keys_and_sql_may_be_variables(tmp_path: Path) -> None:
    command = asserted(tmp_path, "region in (${regions}) and day = '${day}'", regions="'EU', 'US'")
    [found] = command.assertions
    assert command.key == "rows"
    assert found.query == "region in ('EU', 'US') and day = 'monday'"
    assert (found.description, found.threshold) == ("rows of monday", 0.25)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("region = '${x}'", "a' or 'a' = 'a"),
        ("region = '${x}'", "a\\"),
        ('region = "${x}"', 'a" or "a" = "a'),
        ("`${x}` > 0", "a` > 0 or `b"),
        ("not region in ('${x}')", "EU', 'US"),
    ],
)
def test_no_value_ends_the_quotes_around_it(tmp_path: Path, query: str, value: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        asserted(tmp_path, query, x=value)
    [found] = caught.value.problems
    assert str(found) == (
        "assertion.json:4:13: the value of variable 'x' has a quote or a backslash in it, and "
        "stands between quotes. Write the variable without quotes around it, and give the quotes "
        "with its value."
    )


@pytest.mark.parametrize(
    ("query", "value", "message"),
    [
        ("x > ${x}", "1; drop table t", "';' ends a statement"),
        ("x > ${x}", "1 or exists (select 1)", "select 1"),
        ("x > ${x}", "${env:HOME}", "Spark replaces '${...}'"),
        ("(x > ${x})", "1) or (1 = 1", ""),
    ],
)
def test_sql_of_a_value_is_read_with_the_rest(
    tmp_path: Path, query: str, value: str, message: str
) -> None:
    if not message:
        # One condition still: whoever gives a value there writes SQL.
        assert asserted(tmp_path, query, x=value).assertions[0].query == "(x > 1) or (1 = 1)"
        return
    with pytest.raises(DeclarationError) as caught:
        asserted(tmp_path, query, x=value)
    assert message in str(caught.value)


def test_what_has_no_value_hides_no_other_mistake(tmp_path: Path) -> None:
    one = {"query": "x > ${a}", "description": "${b}", "threshold": "${c}", "x": 1}
    plan = write_plan(
        tmp_path,
        a_view("${d}", cache="${e}", cach=1, inputs=[{"ref": "${g}", "onDisk": True}]),
        a_view("${d}", "${f}.json"),
        an_assertion("a", "${g}", outputPath="out.parquet"),
        assertion={"assertions": [one]},
    )
    with pytest.raises(DeclarationError) as caught:
        read_plan(plan)
    found = [one.message for one in caught.value.problems]
    unknown = [text.split("'")[1] for text in found if text.startswith("the variable")]
    assert sorted(unknown) == ["a", "b", "c", "d", "d", "e", "f", "g", "g"]
    others = [text for text in found if not text.startswith("the variable")]
    assert [text[:20] for text in others] == ["unknown field 'cach'", "unknown field 'x'. T"]
