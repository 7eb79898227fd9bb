"""JSON in texts, read by Spark's parser of variants."""

from __future__ import annotations

from typing import Literal

from dq_dagster.spark import quoting


def is_json(value: str, opening: Literal["{", "["]) -> str:
    r"""True for a JSON text that is an object, or an array.

    The parser stops where a value ends and does not mind what follows. So the text is read as the
    first element of an array, with its own checksum as the second: whatever else it holds, it can
    not hold that. Names that stand twice are refused unless the session is set to allow them
    (``spark.sql.variant.allowDuplicateKeys``).
    """
    array = f"concat('[', {value}, ',\"', md5({value}), '\"]')"
    second = f"try_variant_get(try_parse_json({array}), {quoting.text('$[1]')}, 'string')"
    starts = quoting.text(rf"\A[ \t\r\n]*+\{opening}")
    return f"{value} RLIKE {starts} AND {second} = md5({value})"
