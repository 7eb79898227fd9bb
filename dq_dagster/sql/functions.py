"""Which Spark functions a row expression may call, and why the others may not.

Only names listed in ``ALLOWED`` are ever accepted. The families below it exist to say why a
known function is refused and what to use instead; a name in neither is refused as unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_STRING = """
    ascii base64 bit_length btrim char char_length character_length chr collate collation
    concat_ws contains decode elt encode endswith find_in_set format_number
    from_base32 initcap instr is_valid_utf8 jaro_winkler_similarity lcase left len length
    levenshtein locate lower lpad ltrim luhn_check make_valid_utf8 mask octet_length overlay
    position quote replace right rpad rtrim sentences soundex split split_part startswith
    substr substring substring_index to_base32 to_binary to_char to_number to_varchar translate
    trim try_to_binary try_to_number try_validate_utf8 ucase unbase64 upper
"""
_REGEX = """
    regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace
    regexp_substr
"""
_MATH = """
    abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot csc
    degrees e exp expm1 factorial floor greatest hex hypot isnan least ln log log10 log1p log2 mod
    nanvl negative pi pmod positive pow power radians rint round sec sign signum sin sinh sqrt tan
    tanh try_add try_divide try_mod try_multiply try_subtract unhex width_bucket
"""
_BITWISE = "bit_count bit_get getbit shiftleft shiftright shiftrightunsigned"
# The functions that read the clock are here too: Spark fixes them once per query, and "not in
# the future" is an everyday rule.
_DATE_AND_TIME = """
    add_months convert_timezone curdate current_date current_time current_timestamp date_add
    date_diff date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff
    datepart day dayname dayofmonth dayofweek dayofyear extract from_unixtime from_utc_timestamp
    hour last_day localtime localtimestamp make_date make_dt_interval make_interval make_time
    make_timestamp make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month monthname
    months_between next_day now quarter second time_diff time_trunc timediff timestamp_micros
    timestamp_millis timestamp_seconds timestampadd timestampdiff to_date to_time to_timestamp
    to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp trunc try_make_interval
    try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_time
    try_to_timestamp unix_date unix_micros unix_millis unix_seconds unix_timestamp weekday
    weekofyear year
"""
_COLLECTION = """
    array array_append array_compact array_contains array_distinct array_except array_insert
    array_intersect array_join array_max array_min array_position array_prepend array_remove
    array_size array_union arrays_overlap arrays_zip cardinality concat element_at flatten get map
    map_concat map_contains_key map_entries map_from_arrays map_from_entries map_keys map_values
    named_struct reverse size slice sort_array str_to_map struct try_element_at
"""
_JSON_CSV_VARIANT = """
    from_csv from_json get_json_object is_variant_null json_array_length json_object_keys
    parse_json schema_of_csv schema_of_json schema_of_variant to_csv to_json to_variant_object
    try_parse_json try_variant_get variant_get
"""
_URL = "parse_url try_parse_url try_url_decode url_decode url_encode"
_HASH = "crc32 hash md5 sha sha1 sha2 xxhash64"
_CONDITIONAL = """
    coalesce equal_null if ifnull isnotnull isnull nullif nullifzero nvl nvl2 typeof zeroifnull
"""
_CONVERSION = """
    bigint binary boolean date decimal double float int smallint string time timestamp tinyint
"""

#: Functions whose arguments may be lambdas (``x -> ...``).
HIGHER_ORDER = frozenset(
    """
    aggregate array_sort exists filter forall map_filter map_zip_with reduce transform
    transform_keys transform_values zip_with
    """.split()
)

#: Functions whose first of three arguments is a bare unit word: ``dateadd(DAY, 1, ts)``.
UNIT_FIRST = frozenset(
    "date_add date_diff dateadd datediff timediff timestampadd timestampdiff".split()
)

#: Functions whose second argument says how large the result is: a few characters of text could
#: otherwise exhaust the memory of the driver or an executor.
SIZE_SECOND = frozenset(
    "array_insert bround ceil ceiling floor format_number lpad round rpad".split()
)

#: Every function a row expression may call: deterministic, free of side effects, one row in and
#: one value out.
ALLOWED = HIGHER_ORDER.union(
    *(
        group.split()
        for group in (
            _STRING,
            _REGEX,
            _MATH,
            _BITWISE,
            _DATE_AND_TIME,
            _COLLECTION,
            _JSON_CSV_VARIANT,
            _URL,
            _HASH,
            _CONDITIONAL,
            _CONVERSION,
        )
    )
)


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
WINDOW = Family(
    "is a window function, which looks at other rows",
    "put the condition into a rule of type query_dq",
    fits="query_dq",
)
GENERATOR = Family(
    "is a generator: it makes several rows out of one",
    "look into the array with exists() or forall(), or use a rule of type query_dq",
    fits="query_dq",
)
TABLE_FUNCTION = Family(
    "is a table function: it returns rows, not a value",
    "put the condition into a rule of type query_dq",
    fits="query_dq",
)
_JAVA = Family("runs arbitrary Java code", "write the condition with Spark's own functions")
_RANDOM = Family(
    "is not deterministic: the same row would get another answer each time", "remove it"
)
_PLACEMENT = Family(
    "depends on how files and partitions are laid out, not on the row",
    "use a column of the table",
)
_SESSION = Family(
    "depends on the session that runs the rule, not on the row",
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
_DYNAMIC_NAME = Family(
    "turns a text into a name when the query runs, past every check",
    "write the name itself, in backquotes where needed",
)

_REFUSED_NAMES: tuple[tuple[Family, str], ...] = (
    (
        AGGREGATE,
        """
        any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
        approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg
        bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set collect_union
        corr count count_if count_min_sketch covar_pop covar_samp every first first_value grouping
        grouping_id histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint
        kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double
        kll_sketch_agg_float kurtosis last last_value listagg max max_by mean measure median min
        min_by mode percentile percentile_approx percentile_cont percentile_disc regr_avgx
        regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
        schema_of_variant_agg skewness some std stddev stddev_pop stddev_samp
        string_agg sum theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum
        tuple_intersection_agg_double tuple_intersection_agg_integer tuple_sketch_agg_double
        tuple_sketch_agg_integer tuple_union_agg_double tuple_union_agg_integer var_pop var_samp
        variance vector_avg vector_sum
        """,
    ),
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
