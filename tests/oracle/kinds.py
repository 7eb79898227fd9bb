"""The column types of the generated tables, by the name Spark gives them."""

from __future__ import annotations

WHOLE = ("tinyint", "smallint", "int", "bigint")
DECIMAL = ("decimal(10,2)", "decimal(38,0)", "decimal(38,18)")
EXACT = (*WHOLE, *DECIMAL)
FLOATING = ("float", "double")
NUMERIC = (*EXACT, *FLOATING)
TEXT = "string"
BOOLEAN = "boolean"
DATE = "date"
TIMESTAMP = "timestamp"
WALL_CLOCK = "timestamp_ntz"
VOID = "void"
ORDERED = (*NUMERIC, TEXT, BOOLEAN, DATE, TIMESTAMP, WALL_CLOCK)
NESTED = ("array<int>", "map<string,int>", "struct<x:int,y:string>")
OPAQUE = ("binary", *NESTED)
ALL = (*ORDERED, VOID, *OPAQUE)

WHOLE_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
DIGITS = {"decimal(10,2)": (10, 2), "decimal(38,0)": (38, 0), "decimal(38,18)": (38, 18)}
