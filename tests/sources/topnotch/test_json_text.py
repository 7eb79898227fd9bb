"""JSON as TopNotch's files have it: values, their places, and what is refused."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dq_dagster.errors import DeclarationError
from dq_dagster.sources.topnotch.json_text import read_json


def problem(text: str) -> str:
    with pytest.raises(DeclarationError) as caught:
        read_json(text, name="f.json")
    [found] = caught.value.problems
    return str(found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('[1, 2.5, -3e2, true, false, null, ""]', [1, 2.5, -300.0, True, False, None, ""]),
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ("[]", []),
        ("{}", {}),
        ("\ufeff {} ", {}),
        ('\t{"a"\t:\r\n1}\n', {"a": 1}),
        ('{ // why\n "a": 1, # and\n /* two\nlines */ "b": 2}', {"a": 1, "b": 2}),
        ('"// no # comment /* here */"', "// no # comment /* here */"),
        ('"over\ntwo\tlines"', "over\ntwo\tlines"),
        (r'"\"\\\/\b\f\n\r\té😀"', '"\\/\b\f\n\r\té😀'),
        ("0.1234567890123456789", Decimal("0.1234567890123456789")),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert read_json(text, name="f.json").plain == value


NEEDED = "not valid JSON: a value is needed, not"
KEY = "not valid JSON: a key between double quotes is needed, not"
QUOTES = "Put texts between double quotes."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"1:1: {NEEDED} the end of the file."),
        ("  \n", f"1:1: {NEEDED} the end of the file."),
        ('{\n  "a": 1\n  "b": 2}', "3:3: not valid JSON: ',' or '}' is needed here, not '\"'."),
        ('{"a": [1, 2}', "1:12: not valid JSON: ',' or ']' is needed here, not '}'."),
        ('{"a": 1,, "b": 2}', f"1:9: {KEY} ','."),
        ("[,]", f"1:2: {NEEDED} ','."),
        ('{\n "a": {', "2:7: this '{' is never closed."),
        ('{"a": 1', "1:1: this '{' is never closed."),
        ('{"a', "1:2: this text is never closed."),
        ("{a: 1}", f"1:2: {KEY} 'a'."),
        ("{'a': 1}", f'1:2: {KEY} "\'".'),
        ('{"a" 1}', "1:6: not valid JSON: ':' is needed behind the key 'a', not '1'."),
        ('{"a": yes}', f"1:7: {NEEDED} 'yes'. {QUOTES}"),
        ('{"a": ${b}}', f"1:7: {NEEDED} '$'. Put a variable between double quotes."),
        ('{"a": 01}', f"1:7: {NEEDED} '01'. {QUOTES}"),
        ('{"a": NaN}', f"1:7: {NEEDED} 'NaN'. {QUOTES}"),
        ('{"a": 1, "b": {}, "a": 2}', "1:19: 'a' stands here twice."),
        ("{} {}", "1:4: not valid JSON: '{' follows, but a file has a single value."),
        (
            r'{"a": "\x"}',
            r"1:8: not valid JSON: this is no escape of JSON: write '\\' for a backslash.",
        ),
        (r'["\ud800"]', r"1:2: this text has half a character in it (\ud800 to \udfff)."),
        ("1e999999999", "1:1: not valid JSON: a number of that many digits is a mistake."),
        ("[" * 60, "1:52: not valid JSON: nested more than 50 levels deep."),
        ("[" + "1," * 100_001 + "]", "1:200000: not valid JSON: more than 100,000 values."),
    ],
)
def test_mistakes_have_their_place(text: str, message: str) -> None:
    assert problem(text) == f"f.json:{message}"


def test_every_value_and_key_knows_its_place() -> None:
    root = read_json('{\n  "a": [true,\n    {"b": "x"}]\n}', name="f.json")
    entries = root.value["a"]
    assert root.place == "f.json:1:1"
    assert root.keys == {"a": "f.json:2:3"}
    assert [one.place for one in (entries, *entries.value)] == [
        "f.json:2:8",
        "f.json:2:9",
        "f.json:3:5",
    ]
    assert entries.value[1].keys == {"b": "f.json:3:6"}


TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_what_others_write_is_read(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert read_json(text, name="f.json").plain == value


@pytest.mark.parametrize(
    "text",
    ['"' + "\\" * 999_999, '"a' * 300_000, "/*" * 500_000, "[[" + "1," * 90_000, "-" * 1_000_000],
    ids=["escapes", "quotes", "comments", "list", "signs"],
)
def test_odd_texts_are_refused_in_a_moment(text: str) -> None:
    start = time.monotonic()
    problem(text)
    assert time.monotonic() - start < 3
