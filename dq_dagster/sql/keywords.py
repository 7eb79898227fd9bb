"""Words with a meaning of their own in Spark's expressions."""

from __future__ import annotations

#: Words that open a query when they follow a bracket.
QUERY_STARTS = frozenset("from select table values with".split())

#: Words that open a command when another word follows.
STATEMENT_STARTS = frozenset(
    """
    add alter analyze begin cache call clear comment commit convert copy create declare delete
    desc describe drop execute explain export grant import insert kill list load lock merge msck
    optimize put reduce refresh remove repair replace reset restore revoke rollback set show start
    truncate uncache undrop unlock unset update use vacuum
    """.split()
)

#: Words that show that what stands before them is a value: ``comment is not null``.
AFTER_VALUES = frozenset("and between collate div ilike in is like not or regexp rlike".split())

#: Words that are never read as a column unless they stand in backquotes: they shape expressions
#: and queries, and some Spark settings reserve them.
SHAPING = QUERY_STARTS.union(
    """
    all and any as between both case cast collate cross distinct div else end escape except
    filter for full group having ilike in inner intersect interval into is join lateral leading
    left like map natural not null on only or order outer over reduce regexp right rlike some
    then to trailing true false try_cast union unknown using when where within
    """.split()
)

#: Words that begin something else than a value, even in front of a bracket: ``not (a)``.
NEVER_CALLED = frozenset(
    """
    and as between collate distinct div else end escape for from having ilike in interval is like
    not null on or over regexp rlike select then to union unknown using when where with
    """.split()
)

#: Operators between two values.
BINARY = frozenset("= == <=> <> != < <= > >= + - * / % div || & | ^".split())

#: What may follow a call and makes it an aggregate or a window function.
CALL_SUFFIXES = frozenset("filter ignore over respect within".split())

#: Words in front of a string that make it a typed literal: ``date '2024-01-31'``.
TYPED_LITERALS = frozenset("date time timestamp timestamp_ltz timestamp_ntz x".split())

#: Units after ``interval 1``, and as the first argument of ``dateadd`` and its like.
INTERVAL_UNITS = frozenset(
    """
    day days hour hours microsecond microseconds millisecond milliseconds minute minutes month
    months second seconds week weeks year years
    """.split()
)
ARGUMENT_UNITS = frozenset(
    """
    day dayofyear hour microsecond millisecond minute month quarter second week year
    """.split()
)
#: ``interval '1-2' year to month``: the units that may follow each unit.
INTERVAL_RANGES = {
    "year": frozenset({"month"}),
    "day": frozenset({"hour", "minute", "second"}),
    "hour": frozenset({"minute", "second"}),
    "minute": frozenset({"second"}),
}

#: Types a value may be cast to, apart from arrays and maps of them.
PLAIN_TYPES = frozenset(
    """
    bigint binary boolean byte date double float int integer long real short smallint string time
    timestamp timestamp_ltz timestamp_ntz tinyint variant
    """.split()
)
DECIMAL_TYPES = frozenset("dec decimal numeric".split())
CHARACTER_TYPES = frozenset("char character varchar".split())

#: Spark reads these as the clock when no column has the name.
CLOCKS = frozenset("current_date current_time current_timestamp localtime".split())

#: Names that Spark reads as the session's, or as one of its variables, where no column has them.
SESSION_NAMES = frozenset(
    "current_catalog current_database current_path current_schema user".split()
)
SESSION_QUALIFIERS = frozenset("session system".split())

#: Names that no backquotes make safe.
HIDDEN = {
    "_metadata": "is the hidden column of file paths, not a column of the table: remove it",
    "current_user": "is the user who runs the rule, not a column of the table: remove it",
    "session_user": "is the user who runs the rule, not a column of the table: remove it",
}
