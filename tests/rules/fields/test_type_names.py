"""Type names as people write them, read without Spark."""

from __future__ import annotations

import pytest

from dq_dagster.rules.fields.type_names import parse_type

# The same type, in the words of Spark itself.
NAMES = {
    "int": "int",
    " INTEGER ": "int",
    "long": "bigint",
    "BigInt": "bigint",
    "byte": "tinyint",
    "short": "smallint",
    "real": "float",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "binary": "binary",
    "date": "date",
    "variant": "variant",
    "void": "void",
    "dec": "decimal(10,0)",
    "decimal": "decimal(10,0)",
    "numeric(5)": "decimal(5,0)",
    "DECIMAL( 10 , 2 )": "decimal(10,2)",
    "decimal(38,38)": "decimal(38,38)",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp(6)": "timestamp",
    "timestamp with local time zone": "timestamp",
    "Timestamp Without Time Zone": "timestamp_ntz",
    "timestamp_ntz": "timestamp_ntz",
    "time": "time(6)",
    "time(3)": "time(3)",
    "time without time zone": "time(6)",
    "interval": "interval",
    "interval year": "interval year",
    "INTERVAL  year TO month": "interval year to month",
    "interval day to second": "interval day to second",
    "interval hour to minute": "interval hour to minute",
    "geometry(4326)": "geometry(4326)",
    "geography(ANY)": "geography(any)",
    "string": "string",
    "string collate unicode_ci": "string collate UNICODE_CI",
    "array<int>": "array<int>",
    "array< array < INTEGER > >": "array<array<int>>",
    "map<string,long>": "map<string,bigint>",
    "struct<>": "struct<>",
    "struct<a:int, b: decimal(3)>": "struct<a:int,b:decimal(3,0)>",
    "STRUCT<A int, b string NOT NULL COMMENT 'it\\'s, <odd>'>": "struct<A:int,b:string>",
    "struct<`a.b`:int,`c``d`:int>": "struct<a.b:int,c`d:int>",
    "struct<`,`:int,`>`:array<int>,`not`:int>": "struct<,:int,>:array<int>,not:int>",
    "struct<select:int,1a:int,_b:int,a:int,A:int>": "struct<select:int,1a:int,_b:int,a:int,A:int>",
    "array<struct<a:map<string,array<struct<b:date>>>>>": (
        "array<struct<a:map<string,array<struct<b:date>>>>>"
    ),
}

# What Spark writes without quotes around odd names is read, too.
LENIENT = {
    "struct<ä:int,a.b:int,a-b:int,$c:int>": "struct<ä:int,a.b:int,a-b:int,$c:int>",
    "struct<a:varchar(3)>": "struct<a:string>",
}


@pytest.mark.parametrize(("text", "said"), [*NAMES.items(), *LENIENT.items()])
def test_a_name_becomes_the_one_that_spark_writes(text: str, said: str) -> None:
    assert str(parse_type(text).shape) == said


@pytest.mark.parametrize(
    ("text", "longest"),
    [("varchar(10)", 10), ("CHAR(3)", 3), ("character( 2 )", 2), ("string", None)],
)
def test_limited_texts_are_strings_with_a_limit(text: str, longest: int | None) -> None:
    typed = parse_type(text)
    assert (str(typed.shape), typed.max_length) == ("string", longest)


def test_limits_inside_are_kept_with_the_part() -> None:
    [items] = parse_type("array<varchar(5)>").shape.parts
    assert (items.name, items.max_length) == ("items", 5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a name is missing at the end"),
        ("strng", "Spark has no type 'strng'. Did you mean 'string'?"),
        ("str", "Did you mean 'string'?"),
        ("bool", "Did you mean 'boolean'?"),
        ("int64", "Did you mean 'bigint'?"),
        ("datetime", "Did you mean 'timestamp'?"),
        ("decmal(10,2)", "Did you mean 'decimal'?"),
        ("decimal(39,1)", "decimal(p,s) needs 1 to 38 digits p"),
        ("decimal(0)", "decimal(p,s) needs 1 to 38 digits p"),
        ("decimal(5,6)", "and s of them after the point"),
        ("decimal(5,-2)", "a number is needed, not '-2'"),
        ("decimal(1,2,3)", "decimal(p,s) needs"),
        ("decimal()", "a name is missing before ')'"),
        ("decimal(1²)", "a number is needed, not '1²'"),
        ("varchar", "varchar needs a number in brackets"),
        ("string(10)", "what does '(' mean there?"),
        ("long int", "what does 'int' mean there?"),
        ("timestamp(3)", "a timestamp has 6 digits of seconds"),
        ("time(7)", "seconds have at most 6 digits"),
        ("interval month to year", "an interval does not go from month to year"),
        ("interval day to month", "an interval does not go from day to month"),
        ("interval day to", "a name is missing at the end"),
        ("geometry", "geometry needs a number in brackets"),
        ("array", "'<' is missing at the end"),
        ("array<int", "'>' is missing at the end"),
        ("array<int>>", "what does '>' mean there?"),
        ("array<>", "a name is missing before '>'"),
        ("map<int>", "',' is missing before '>'"),
        ("struct<a:int,>", "a name is missing before '>'"),
        ("struct<a b:int>", "Spark has no type 'b'"),
        ("struct<a:int b:int>", "',' is missing before 'b'"),
        ("struct<a:int,a:int>", "the field 'a' is there twice"),
        ("struct<`a:int>", "what does '`a:int>' mean?"),
        ("array<" * 60 + "int" + ">" * 60, "nested more than 50 levels deep"),
        ("x" * 10_000, "…' is not a type"),
    ],
)
def test_what_is_no_type_is_reported(text: str, reason: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the text is compared)
        parse_type(text)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 10_200
