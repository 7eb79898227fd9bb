"""Which Spark functions an expression may call on the values of a row.

Only names listed in ``ALLOWED`` are ever accepted, and aggregates where they are in place.
"""

from __future__ import annotations

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
    ilike like regexp regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like
    regexp_replace regexp_substr rlike
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
    months_between next_day now quarter second time_bucket time_diff time_from_micros
    time_from_millis time_from_seconds time_to_micros time_to_millis time_to_seconds time_trunc
    timediff timestamp_micros timestamp_millis timestamp_nanos timestamp_seconds timestampadd
    timestampdiff to_date to_time to_timestamp to_timestamp_ltz to_timestamp_ntz
    to_unix_timestamp to_utc_timestamp trunc try_make_interval try_make_timestamp
    try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_time try_to_timestamp
    unix_date unix_micros unix_millis unix_nanos unix_seconds unix_timestamp weekday weekofyear
    year
"""
_COLLECTION = """
    array array_append array_compact array_contains array_distinct array_except array_insert
    array_intersect array_join array_max array_min array_position array_prepend array_remove
    array_size array_union arrays_overlap arrays_zip cardinality concat element_at flatten get map
    map_concat map_contains_key map_entries map_from_arrays map_from_entries map_keys map_values
    named_struct reverse size slice sort_array str_to_map struct try_element_at
"""
_JSON_CSV_VARIANT = """
    from_csv from_json get_json_object is_valid_variant is_variant_null json_array_length
    json_object_keys parse_json schema_of_csv schema_of_json schema_of_variant to_csv to_json
    to_variant_object try_parse_json try_variant_get variant_get
"""
_URL = "parse_url try_parse_url try_url_decode url_decode url_encode"
_VECTOR = """
    vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm vector_normalize
"""
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

#: Functions that may have words instead of commas between their arguments, and the words that
#: tell: ``position('x' IN a)``.
SPELLED = MappingProxyType(
    {
        "extract": ("from",),
        "overlay": ("placing",),
        "position": ("in",),
        "substr": ("from", "for"),
        "substring": ("from", "for"),
        "trim": ("from",),
    }
)

#: Words between two values that are functions too, where a bracket follows instead of a value.
ALSO_CALLED = frozenset("collate ilike like regexp rlike".split())

#: Functions that say how many elements an array has.
SIZES = frozenset("array_size cardinality size".split())

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
            _VECTOR,
            _HASH,
            _CONDITIONAL,
            _CONVERSION,
        )
    )
)
