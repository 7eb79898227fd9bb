"""Whether a text is valid for a built-in meaning, told by Python's own libraries."""

from __future__ import annotations

import ipaddress
import json
import string
import unicodedata
import uuid
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from dq_dagster.metrics.meanings import codes
from tests.oracle.meaning_dates import (
    is_date,
    is_date_to_parse,
    is_time_with_zone,
    is_time_without_zone,
)
from tests.oracle.well_known_text import is_geometry, is_number

HEX = set(string.hexdigits)
ALNUM = set(string.ascii_letters + string.digits)
BLANKS = " \t\r\n"


def digits(text: str) -> bool:
    return bool(text) and set(text) <= set(string.digits)


def is_integer(text: str) -> bool:
    return digits(text[1:] if text[:1] in {"+", "-"} else text)


def within(limit: int, most_digits: int) -> Callable[[str], bool]:
    def valid(text: str) -> bool:
        unsigned = text[1:] if text[:1] in {"+", "-"} else text
        whole, point, fraction = unsigned.partition(".")
        if not digits(whole) or len(whole) > most_digits or (point and not digits(fraction)):
            return False
        return Decimal(unsigned) <= limit

    return valid


is_latitude, is_longitude = within(90, 2), within(180, 3)


def is_geopoint(text: str) -> bool:
    name, bracket, rest = text.partition("(")
    if not name.isascii() or name.rstrip(BLANKS).upper() != "POINT" or not bracket:
        return False
    inside, bracket, after = rest.partition(")")
    words = inside.translate(dict.fromkeys(map(ord, BLANKS), " ")).split(" ")
    numbers = [word for word in words if word]
    return (
        bool(bracket)
        and not after
        and len(numbers) == 2
        and is_longitude(numbers[0])
        and is_latitude(numbers[1])
    )


# --- JSON ---------------------------------------------------------------------------------------


def _refuse(text: str) -> Any:
    raise ValueError(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def is_json(kind: type) -> Callable[[str], bool]:
    def valid(text: str) -> bool:
        with suppress(ValueError, RecursionError):
            value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
            json.dumps(value, ensure_ascii=False).encode()
            return isinstance(value, kind)
        return False

    return valid


# --- language -----------------------------------------------------------------------------------

_UNSPACED = [(0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x4DBF),
             (0x4E00, 0x9FFF), (0x20000, 0x3FFFF)]  # fmt: skip


def is_natural_language(text: str) -> bool:
    kinds = [(char, unicodedata.category(char)) for char in text]
    if any(kind == "Cc" and char not in "\t\r\n" for char, kind in kinds):
        return False
    spaced = "".join(" " if kind[0] == "Z" or char in "\t\r\n" else char for char, kind in kinds)
    words = sum(any(map(is_letter, word)) for word in spaced.split(" "))
    unspaced = sum(
        is_letter(char) and any(low <= ord(char) <= high for low, high in _UNSPACED)
        for char in text
    )
    return words >= 3 or unspaced >= 8


def is_letter(char: str) -> bool:
    return unicodedata.category(char).startswith("L")


# --- networks -----------------------------------------------------------------------------------


def is_ipv4(text: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.IPv4Address(text))
    return False


def is_ipv6(text: str) -> bool:
    with suppress(ValueError):
        return "%" not in text and bool(ipaddress.IPv6Address(text))
    return False


def is_host_name(text: str, *, least: int) -> bool:
    labels = text.split(".")
    return (
        len(text) <= 253
        and len(labels) >= least
        and not digits(labels[-1])
        and all(
            1 <= len(label) <= 63 and set(label) <= ALNUM | {"-"} and label.strip("-") == label
            for label in labels
        )
    )


def escaped(text: str, allowed: str) -> bool:
    """Whether it has only allowed characters, and percent signs only before two digits."""
    first, *others = text.split("%")
    bare = first + "".join(other[2:] for other in others)
    return set(bare) <= ALNUM | set(allowed) and all(
        len(other) >= 2 and set(other[:2]) <= HEX for other in others
    )


def is_url(text: str) -> bool:
    if not text.isascii() or not text.isprintable():
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    scheme = text.partition(":")[0].lower()
    if scheme not in {"http", "https", "ftp"} or not text[len(scheme) :].startswith("://"):
        return False
    marks = "-._~!$&'()*+,;=:@/"
    return (
        _is_authority(parts.netloc)
        and escaped(parts.path, marks)
        and escaped(parts.query, marks + "?")
        and escaped(parts.fragment, marks + "?")
    )


def _is_authority(text: str) -> bool:
    user, at, place = text.rpartition("@")
    if at and not escaped(user, "-._~!$&'()*+,;=:"):
        return False
    if place.startswith("["):
        host, closing, port = place[1:].partition("]")
        return bool(closing) and is_ipv6(host) and _is_port(port)
    host, colon, port = place.partition(":")
    return (is_ipv4(host) or is_host_name(host, least=1)) and _is_port(colon + port)


def _is_port(text: str) -> bool:
    return not text or (
        text[0] == ":" and digits(text[1:]) and len(text) < 7 and int(text[1:]) < 65536
    )


def is_http_query(text: str) -> bool:
    marks = "-._~!$'()*+,;:@/?"
    return all(
        _is_pair(pair, marks) for pair in text.removeprefix("?").split("&")
    ) or all(_is_pair(pair, marks) for pair in text.split("&"))  # fmt: skip


def _is_pair(text: str, marks: str) -> bool:
    name, sign, value = text.partition("=")
    return bool(name and sign) and escaped(name, marks) and escaped(value, marks + "=")


_TOKEN = ALNUM | set("!#$%&'*+-.^_`|~")


def is_user_agent(text: str) -> bool:
    """Reads words and comments from left to right."""
    pieces = _pieces(text)
    if not pieces or pieces[0].startswith("("):
        return False
    if not any(piece.startswith("(") or "/" in piece for piece in pieces):
        return False
    return all(piece.startswith("(") or _is_product(piece) for piece in pieces)


def _is_product(text: str) -> bool:
    return text.count("/") <= 1 and all(part and set(part) <= _TOKEN for part in text.split("/"))


def _pieces(text: str) -> list[str] | None:
    """Words and whole comments with blanks between; None if the text is not made of such."""
    pieces: list[str] = []
    place = 0
    while place < len(text):
        start = place
        while text[place : place + 1] in {" ", "\t"}:
            place += 1
        if (place == start) != (not pieces) or place == len(text):
            return None
        end = _comment_end(text, place) if text[place] == "(" else _word_end(text, place)
        if end is None:
            return None
        pieces.append(text[place:end])
        place = end
    return pieces


def _word_end(text: str, place: int) -> int | None:
    end = place
    while end < len(text) and text[end] not in " \t(":
        end += 1
    return end


def _comment_end(text: str, place: int) -> int | None:
    depth = 0
    while place < len(text):
        char = text[place]
        if char == "\\":
            place += 1
            char = text[place : place + 1]
            if not char or char not in "\t" + string.printable[:95]:
                return None
        elif char == "(":
            depth += 1
            if depth > 3:
                return None
        elif char == ")":
            depth -= 1
            if not depth:
                return place + 1
        elif char not in "\t" + string.printable[:95]:
            return None
        place += 1
    return None


def is_email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    atoms = local.split(".")
    allowed = ALNUM | set("!#$%&'*+-/=?^_`{|}~")
    return (
        bool(at)
        and len(text) <= 254
        and len(local) <= 64
        and all(atom and set(atom) <= allowed for atom in atoms)
        and is_host_name(domain, least=2)
    )


# --- identifiers --------------------------------------------------------------------------------


def is_uuid(text: str) -> bool:
    with suppress(ValueError):
        return str(uuid.UUID(text)) == text.lower()
    return False


def is_phone(text: str) -> bool:
    return text[:1] == "+" and digits(text[1:]) and 7 <= len(text[1:]) <= 15 and text[1] != "0"


def is_iban(text: str) -> bool:
    together = text.replace(" ", "")
    groups = [together[n : n + 4] for n in range(0, len(together), 4)]
    if text not in {together, " ".join(groups)} or not set(together) <= ALNUM:
        return False
    if together != together.upper() or len(together) != codes.IBAN_LENGTHS.get(together[:2]):
        return False
    if not digits(together[2:4]) or not 2 <= int(together[2:4]) <= 98:
        return False
    return int("".join(str(int(char, 36)) for char in together[4:] + together[:4])) % 97 == 1


def listed(*sets: frozenset[str]) -> Callable[[str], bool]:
    words = {word.lower() for words in sets for word in words}
    return lambda text: text.lower() in words


ORACLE: dict[str, Callable[[str], bool]] = {
    "text": lambda text: True,
    "decimal": is_number,
    "integer": is_integer,
    "boolean": lambda text: text.isascii() and text.lower() in {
        "true", "false", "t", "f", "yes", "no", "y", "n", "1", "0",
    },
    "date": is_date,
    "datetime_with_zone": is_time_with_zone,
    "datetime_without_zone": is_time_without_zone,
    "date_to_parse": is_date_to_parse,
    "json_object": is_json(dict),
    "json_array": is_json(list),
    "natural_language": is_natural_language,
    "latitude": is_latitude,
    "longitude": is_longitude,
    "geopoint": is_geopoint,
    "geometry": is_geometry,
    "country": listed(codes.COUNTRY_ALPHA_2, codes.COUNTRY_ALPHA_3, codes.COUNTRY_NAMES),
    "us_state": listed(codes.US_STATE_CODES, codes.US_STATE_NAMES),
    "ip_address": lambda text: is_ipv4(text) or is_ipv6(text),
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "url": is_url,
    "http_query": is_http_query,
    "user_agent": is_user_agent,
    "email": is_email,
    "uuid": is_uuid,
    "currency": listed(codes.CURRENCY_CODES),
    "language": listed(codes.LANGUAGE_ALPHA_2, codes.LANGUAGE_ALPHA_3),
    "phone": is_phone,
    "iban": is_iban,
}  # fmt: skip
