"""Each built-in meaning as the SQL that is true for the texts that are valid for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from dq_dagster.metrics.meanings import countries, currencies, languages, us_states
from dq_dagster.rules.regex import whole
from dq_dagster.spark import quoting
from dq_dagster.spark.meanings import patterns
from dq_dagster.spark.meanings.accounts import is_iban
from dq_dagster.spark.meanings.dates import is_date, is_date_to_parse, starts_with_date
from dq_dagster.spark.meanings.geometry import GEOMETRY
from dq_dagster.spark.meanings.json_texts import is_json


def _matching(pattern: str) -> Callable[[str], str]:
    regex = quoting.text(whole(pattern))
    return lambda value: f"{value} RLIKE {regex}"


def _one_of(*sets: Iterable[str]) -> Callable[[str], str]:
    words = sorted({word.lower() for words in sets for word in words})
    listed = ", ".join(map(quoting.text, words))
    return lambda value: f"lower({value}) IN ({listed})"


VALID_TEXTS: Mapping[str, Callable[[str], str]] = {
    "text": lambda value: f"is_valid_utf8({value})",
    "decimal": _matching(patterns.DECIMAL),
    "integer": _matching(patterns.INTEGER),
    "boolean": _matching(patterns.BOOLEAN),
    "date": is_date,
    "datetime_with_zone": lambda value: starts_with_date(value, patterns.DATETIME_WITH_ZONE),
    "datetime_without_zone": lambda value: starts_with_date(value, patterns.DATETIME_WITHOUT_ZONE),
    "date_to_parse": is_date_to_parse,
    "json_object": lambda value: is_json(value, "{"),
    "json_array": lambda value: is_json(value, "["),
    "natural_language": _matching(patterns.NATURAL_LANGUAGE),
    "latitude": _matching(patterns.LATITUDE),
    "longitude": _matching(patterns.LONGITUDE),
    "geopoint": _matching(patterns.GEOPOINT),
    "geometry": _matching(GEOMETRY),
    "country": _one_of(countries.ALPHA_2, countries.ALPHA_3, countries.NAMES),
    "us_state": _one_of(us_states.CODES, us_states.NAMES),
    "ip_address": _matching(patterns.IP_ADDRESS),
    "ipv4": _matching(patterns.IPV4),
    "ipv6": _matching(patterns.IPV6),
    "url": _matching(patterns.URL),
    "http_query": _matching(patterns.HTTP_QUERY),
    "user_agent": _matching(patterns.USER_AGENT),
    "email": _matching(patterns.EMAIL),
    "uuid": _matching(patterns.UUID),
    "currency": _one_of(currencies.CODES),
    "language": _one_of(languages.ALPHA_2, languages.ALPHA_3),
    "phone": _matching(patterns.PHONE),
    "iban": is_iban,
}
