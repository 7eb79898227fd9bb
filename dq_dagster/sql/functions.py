"""Which Spark functions an expression may call on the values of a row.

Only names listed in ``ALLOWED`` are ever accepted, and aggregates where they are in place.

Of aggregates, those are listed whose answer depends on the rows alone, not on their order, and is
one small value. All of them leave NULLs out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
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


class Role(Enum):
    """What an argument is: a value of each row, or a setting written as a literal."""

    VALUE = "a value of each row"
    FRACTION = "a number from 0 to 1, written as such"
    ACCURACY = "a whole number of at most 6 digits, written as such"
    DEVIATION = "a number from 0.01 to 0.39, written as such"
    TRUE = "the word true"


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of an aggregate, of which the first ``least`` must be there.

    ``repeats``: there may be any number of arguments like the first one.
    """

    roles: tuple[Role, ...]
    least: int
    repeats: bool = False
    distinct: bool = True

    def role(self, number: int) -> Role | None:
        """What the argument of that number is; nothing if there is no such argument."""
        if self.repeats:
            return self.roles[0]
        return self.roles[number] if number < len(self.roles) else None

    def words(self) -> str:
        """Such as "1 or 2 arguments: a value of each row; a number"."""
        if not self.roles:
            return "no arguments beside its order"
        if self.repeats:
            return "at least 1 argument"
        if self == _ONE:
            return "1 argument"
        counts = range(self.least, len(self.roles) + 1)
        roles = "; ".join(role.value for role in self.roles)
        return f"{' or '.join(map(str, counts))} arguments: {roles}"


_ONE = Signature((Role.VALUE,), 1)
_TWO = Signature((Role.VALUE, Role.VALUE), 2)

_SIGNATURES: tuple[tuple[Signature, str], ...] = (
    (Signature((Role.VALUE,), 1, repeats=True), "count"),
    (
        _ONE,
        """
        any avg bit_and bit_or bit_xor bool_and bool_or count_if every kurtosis max mean median min
        skewness some std stddev stddev_pop stddev_samp sum try_avg try_sum var_pop var_samp
        variance
        """,
    ),
    (
        _TWO,
        """
        corr covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
        regr_sxx regr_sxy regr_syy
        """,
    ),
    (Signature((Role.VALUE, Role.FRACTION, Role.VALUE), 2), "percentile"),
    (
        Signature((Role.VALUE, Role.FRACTION, Role.ACCURACY), 2),
        "approx_percentile percentile_approx",
    ),
    (Signature((Role.VALUE, Role.DEVIATION), 1), "approx_count_distinct"),
    # Of several most frequent values, mode(x) takes any; mode(x, true) takes the smallest.
    (Signature((Role.VALUE, Role.TRUE), 2, distinct=False), "mode"),
    (Signature((Role.FRACTION,), 1, distinct=False), "percentile_cont percentile_disc"),
)

#: Every aggregate that may be called.
AGGREGATES: Mapping[str, Signature] = MappingProxyType(
    {name: signature for signature, names in _SIGNATURES for name in names.split()}
)

#: Aggregates that may be written with an order, ``mode() WITHIN GROUP (ORDER BY x)``, with what
#: they take beside it. Of those with an order, only mode() can do without.
ORDERED: Mapping[str, Signature] = MappingProxyType(
    {
        "mode": Signature((), 0, distinct=False),
        **{name: AGGREGATES[name] for name in ("percentile_cont", "percentile_disc")},
    }
)

#: Aggregates that gather values, of which at most the number is taken, and whether they leave out
#: what comes again. What they gather may be as large as the data.
GATHERED: Mapping[str, bool] = MappingProxyType(
    {"array_agg": False, "collect_list": False, "collect_set": True}
)

#: Aggregates that keep more than a few numbers. Spark runs them, and all that is computed beside
#: them, without compiling the loop over the rows.
BULKY = frozenset(
    """
    approx_count_distinct approx_percentile median mode percentile percentile_approx
    percentile_cont percentile_disc
    """.split()
)


# Also within quotes, where Spark knows words such as DATE 'today': rather too many than too few.
_CLOCK = re.compile(
    r"(?<!\w)(?:now|today|yesterday|tomorrow|curdate|localtime|localtimestamp|unix_timestamp"
    r"|current_\w+)(?!\w)",
    re.IGNORECASE,
)


def reads_the_clock(sql: str | None) -> bool:
    """Whether the text may mean something else tomorrow."""
    return sql is not None and _CLOCK.search(sql) is not None
