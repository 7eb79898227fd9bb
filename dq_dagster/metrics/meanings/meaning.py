"""The built-in meanings: what each accepts, and by which standard."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dq_dagster.metrics.constant import Constant

Match: TypeAlias = Literal["exact", "ignore_case", "ignore_accents"]


@dataclass(frozen=True, slots=True)
class Validity(ABC):
    """Tells valid values from invalid ones."""

    @property
    @abstractmethod
    def key(self) -> str:
        """A stable text that tells this meaning from all others."""

    @property
    def from_user(self) -> bool:
        """Whether it holds text that Java may refuse, or fail on with some values."""
        return False


@dataclass(frozen=True, slots=True)
class BuiltIn(Validity):
    """One of the meanings that every installation knows."""

    name: str

    @property
    def key(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class OneOf(Validity):
    """The value is one of these.

    ``as_text``: the values were written as text whatever the column's type, as the keys of a
    mapping in YAML are.
    """

    values: tuple[Constant, ...]
    match: Match = "exact"
    as_text: bool = False

    @property
    def key(self) -> str:
        listed = ", ".join(value.key for value in self.values)
        how = "" if self.match == "exact" else f" ({self.match})"
        return f"one_of [{listed}]{how}{' (as text)' if self.as_text else ''}"


@dataclass(frozen=True, slots=True)
class Shaped(Validity):
    """The whole value matches a regular expression."""

    pattern: str

    @property
    def key(self) -> str:
        return f"pattern {self.pattern!r}"

    @property
    def from_user(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Anything(Validity):
    """Every value is valid: the meaning is there to be read."""

    @property
    def key(self) -> str:
        return "anything"


@dataclass(frozen=True, slots=True)
class Definition:
    """A built-in meaning in words.

    ``noun`` is what a valid value is called in messages. ``fits`` names the column types that can
    be judged besides strings; their values are judged as they are, without a detour over text.
    """

    noun: str
    text: str
    fits: str = ""


DEFINITIONS: Mapping[str, Definition] = {
    "text": Definition(
        "text",
        "Any text. Only bytes that are not well-formed UTF-8 are invalid.",
    ),
    "decimal": Definition(
        "decimal number",
        "A number as XML Schema 1.1 writes doubles: an optional sign, ASCII digits with at most "
        "one point, an optional exponent. No separators of thousands, no NaN, no infinity, no "
        "spaces.",
        fits="numbers",
    ),
    "integer": Definition(
        "whole number",
        "A whole number as XML Schema 1.1 writes integers: an optional sign and ASCII digits, as "
        "many as there are. In columns of decimals and floating-point numbers, a value without a "
        "fraction.",
        fits="numbers",
    ),
    "boolean": Definition(
        "boolean",
        "One of true, false, t, f, yes, no, y, n, 1 and 0; case is ignored.",
        fits="booleans",
    ),
    "date": Definition(
        "date",
        "A calendar date of ISO 8601 in its extended form YYYY-MM-DD that exists in the Gregorian "
        "calendar, from year 0001 to 9999.",
        fits="dates",
    ),
    "datetime_with_zone": Definition(
        "time with a zone",
        "A date and time of RFC 3339 with a zone, such as 2024-02-29T23:05:43.123Z: T or one "
        "space in the middle, seconds with an optional fraction, then Z or an offset such as "
        "+05:30. Letters are upper case; leap seconds and hour 24 are invalid.",
        fits="timestamps",
    ),
    "datetime_without_zone": Definition(
        "time without a zone",
        "A date and time such as 2024-02-29 23:05:43: T or one space in the middle, seconds with "
        "an optional fraction, no zone. Leap seconds and hour 24 are invalid.",
        fits="timestamps without time zone",
    ),
    "date_to_parse": Definition(
        "date",
        "A date that exists, in one of the usual ways to write it: year, month and day (also "
        "without separators), day, month and year, or month, day and year, with - / or . between; "
        "or with an English name of the month, with or without a name of the day, which is not "
        "compared with the date. Years have four digits. A time of day and a zone may follow.",
    ),
    "json_object": Definition(
        "JSON object",
        "A JSON text of RFC 8259 whose value is an object. As in I-JSON (RFC 7493), names within "
        "an object are unique and surrogates come in pairs; at most 998 levels, and at most 1,000 "
        "characters in a number.",
    ),
    "json_array": Definition(
        "JSON array",
        "A JSON text of RFC 8259 whose value is an array, within the limits of json_object.",
    ),
    "natural_language": Definition(
        "text in natural language",
        "At least three words apart by white space, each with a letter of any script; or at least "
        "eight letters of a script that is written without spaces (Chinese characters, kana, "
        "Thai, Lao, Khmer, Myanmar). No control characters but tabs and line breaks.",
    ),
    "latitude": Definition(
        "latitude",
        "Degrees from -90 to 90 as a plain decimal number: an optional sign, one or two digits, "
        "and an optional point followed by digits.",
        fits="numbers",
    ),
    "longitude": Definition(
        "longitude",
        "Degrees from -180 to 180 as a plain decimal number: an optional sign, one to three "
        "digits, and an optional point followed by digits.",
        fits="numbers",
    ),
    "geopoint": Definition(
        "geopoint",
        "A point in the well-known text of OGC Simple Features, POINT(longitude latitude), the "
        "numbers written and limited as for longitude and latitude; case is ignored, and more "
        "white space allowed between the parts.",
    ),
    "geometry": Definition(
        "geometry",
        "Well-known text of OGC Simple Features (ISO 19125): point, linestring, polygon, their "
        "multi forms, and collections of these, at most two deep; EMPTY, Z, M and ZM. A linestring "
        "has at least 2 points, a ring at least 4; whether rings close is not checked.",
    ),
    "country": Definition(
        "country",
        "An alpha-2 or alpha-3 code of ISO 3166-1, or the English short name of the standard or "
        "another English name in wide use; case is ignored.",
    ),
    "us_state": Definition(
        "US state",
        "A state of the United States or the District of Columbia, by its two-letter postal code "
        "or its name; case is ignored. Territories are invalid.",
    ),
    "ip_address": Definition(
        "IP address",
        "An IPv4 or an IPv6 address, as in ipv4 and ipv6.",
    ),
    "ipv4": Definition(
        "IPv4 address",
        "Four decimal numbers from 0 to 255 with points between, without leading zeros.",
    ),
    "ipv6": Definition(
        "IPv6 address",
        "The text forms of RFC 4291, section 2.2: eight groups of one to four hexadecimal digits, "
        ":: once for one or more groups of zeros, the last two groups also as an IPv4 address. No "
        "zone and no prefix length.",
    ),
    "url": Definition(
        "URL",
        "An absolute URL of RFC 3986 with scheme http, https or ftp and a host: a name of "
        "letters, digits and hyphens (whose last part is not a number), an IPv4 address, or an "
        "IPv6 address in brackets. ASCII only; a port is a number up to 65535.",
    ),
    "http_query": Definition(
        "HTTP query string",
        "One or more name=value pairs with & between, optionally after a question mark, in the "
        "characters RFC 3986 allows in a query; names are not empty.",
    ),
    "user_agent": Definition(
        "user agent",
        "The field value of RFC 9110, section 10.1.5, in ASCII: a product, then products and "
        "comments in parentheses (nested at most three deep), spaces between; at least one of "
        "them is a comment, or has a version behind a slash.",
    ),
    "email": Definition(
        "e-mail address",
        "An addr-spec of RFC 5322 with an unquoted local part of at most 64 characters and a "
        "domain name of at least two labels, the last of which is not a number; at most 254 "
        "characters, ASCII only.",
    ),
    "uuid": Definition(
        "UUID",
        "The text form of RFC 9562: 32 hexadecimal digits in groups of 8-4-4-4-12, in either "
        "case, of any version. No braces and no urn:uuid: in front.",
    ),
    "currency": Definition(
        "currency code",
        "An alphabetic code of ISO 4217, funds and precious metals included, as well as codes "
        "withdrawn since 2021; case is ignored.",
    ),
    "language": Definition(
        "language code",
        "A two-letter code of ISO 639-1 or a three-letter code of ISO 639-2, without a region; "
        "case is ignored.",
    ),
    "phone": Definition(
        "phone number",
        "An international number of ITU-T E.164 with its plus sign: + and 7 to 15 ASCII digits, "
        "the first of which is not 0. No spaces, hyphens or brackets.",
    ),
    "iban": Definition(
        "IBAN",
        "An International Bank Account Number of ISO 13616: the length that its country has in "
        "the registry, and check digits from 02 to 98 that are right (mod 97). Upper case, "
        "together or in groups of four with one space between.",
    ),
}  # fmt: skip
