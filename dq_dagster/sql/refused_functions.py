"""Known functions of Spark that are refused: why, and what to use instead.

They are named for the sake of the reason only; a name that is listed nowhere is refused as unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dq_dagster.sql.functions import AGGREGATES


@dataclass(frozen=True, slots=True)
class Family:
    """Functions that are refused for one and the same reason."""

    is_a: str
    instead: str
    fits: str | None = None


AGGREGATE = Family(
    "is an aggregate over many rows, while a row expression sees one row at a time",
    "put the condition into a rule of type agg_dq",
    fits="agg_dq",
)
NESTED = Family(
    "is an aggregate within an aggregate", "aggregate the values of the rows themselves"
)
IN_LAMBDA = Family(
    "is an aggregate within a lambda", "aggregate first, or put the lambda into the aggregate"
)
OUTSIDE_SUBQUERIES = Family(
    "is an aggregate outside every subquery, where there are no rows",
    "put it into one, such as (select sum(amount) from {table})",
)
SUFFIXED = Family(
    "ends in what is not possible here",
    "only FILTER (WHERE ...) may follow, and only an aggregate",
)
UNORDERED = Family(
    "is an aggregate that takes any of several values, so that the same rows could get another "
    "answer each time",
    "use min() or max(), or mode(x, true) for the smallest of the most frequent values",
)
GATHERING = Family(
    "is an aggregate that gathers the values themselves, as many as there are",
    "count them instead, as count(distinct x) does",
)
SKETCH = Family(
    "is an aggregate that returns a summary no condition can read",
    "use approx_count_distinct() or percentile_approx()",
)
GROUPED = Family(
    "is an aggregate that says something about groups, and there are none here", "remove it"
)
WINDOW = Family(
    "is a window function, which compares a row with others",
    "window functions are not possible here",
)
GENERATOR = Family(
    "is a generator: it makes several rows out of one",
    "look into the array with exists() or forall()",
)
TABLE_FUNCTION = Family("is a table function: it returns rows, not a value", "name a column")
_JAVA = Family("runs arbitrary Java code", "write the condition with Spark's own functions")
_RANDOM = Family(
    "is not deterministic: the same data would get another answer each time", "remove it"
)
_PLACEMENT = Family(
    "depends on how files and partitions are laid out, not on the data",
    "use a column of the table",
)
_SESSION = Family(
    "depends on the session that runs the rule, not on the data",
    "write the expected value as a literal",
)
_RAISING = Family(
    "is there to raise an error, which would stop the whole query instead of failing one row",
    "write the condition itself",
)
_KEYED = Family("takes a key, and a key does not belong in a rule", "check a decrypted column")
_SIZED = Family(
    "can build values of any size from a few characters of text", "compare without building them"
)
_FOREIGN = Family(
    "decodes a foreign format with code outside Spark's core", "decode the column beforehand"
)
_FILES = Family(
    "reads files by their path",
    "name them under references, such as {rates: {files: ...}}, and write {rates}",
)
_DYNAMIC_NAME = Family(
    "turns a text into a name when the query runs, past every check",
    "write the name itself, in backquotes where needed",
)

_REFUSED_NAMES: tuple[tuple[Family, str], ...] = (
    (AGGREGATE, " ".join(AGGREGATES)),
    (UNORDERED, "any_value first first_value last last_value max_by min_by"),
    (
        GATHERING,
        "array_agg collect_list collect_set collect_union histogram_numeric listagg string_agg",
    ),
    (
        SKETCH,
        """
        approx_top_k approx_top_k_accumulate approx_top_k_combine bitmap_and_agg
        bitmap_construct_agg bitmap_or_agg count_min_sketch hll_sketch_agg hll_union_agg
        kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint
        kll_sketch_agg_double kll_sketch_agg_float schema_of_variant_agg theta_intersection_agg
        theta_sketch_agg theta_union_agg tuple_intersection_agg_double
        tuple_intersection_agg_integer tuple_sketch_agg_double tuple_sketch_agg_integer
        tuple_union_agg_double tuple_union_agg_integer vector_avg vector_sum
        """,
    ),
    (GROUPED, "grouping grouping_id measure"),
    (
        WINDOW,
        """
        counter_diff cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number
        session_window window window_time
        """,
    ),
    (
        GENERATOR,
        """
        explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
        variant_explode variant_explode_outer
        """,
    ),
    (TABLE_FUNCTION, "collations json_table range read_files sql_keywords table unnest values"),
    (_JAVA, "java_method reflect try_reflect"),
    (_RANDOM, "rand randn random randstr shuffle uniform uuid"),
    (
        _PLACEMENT,
        """
        input_file_block_length input_file_block_start input_file_name
        monotonically_increasing_id spark_partition_id
        """,
    ),
    (
        _SESSION,
        """
        current_catalog current_database current_path current_schema current_timezone current_user
        session_user user version
        """,
    ),
    (_RAISING, "assert_true raise_error validate_utf8"),
    (_KEYED, "aes_decrypt aes_encrypt hmac try_aes_decrypt"),
    (_SIZED, "array_repeat format_string printf repeat sequence space"),
    (
        _FOREIGN,
        """
        from_avro from_protobuf from_xml schema_of_avro schema_of_xml to_avro to_protobuf to_xml
        xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short
        xpath_string
        """,
    ),
    (_DYNAMIC_NAME, "identifier"),
)

#: Known functions that are refused, with the family that says why.
REFUSED: Mapping[str, Family] = MappingProxyType(
    {name: family for family, names in _REFUSED_NAMES for name in names.split()}
)

# What a query may not call either. It is written by somebody who is trusted, but its answer must
# come from the data that it names, and its errors must not quote rows.
_OUT_OF_QUERIES = (
    _JAVA,
    _RANDOM,
    _PLACEMENT,
    _SESSION,
    _RAISING,
    _KEYED,
    _FOREIGN,
    _DYNAMIC_NAME,
)

#: Known functions that are refused in whole queries, with the family that says why.
REFUSED_IN_QUERIES: Mapping[str, Family] = MappingProxyType(
    {
        "read_files": _FILES,
        **{name: family for name, family in REFUSED.items() if family in _OUT_OF_QUERIES},
    }
)
