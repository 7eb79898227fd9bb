"""Texts that are nearly valid: valid ones and others, changed in a few places."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from dq_dagster.metrics.meanings import codes
from tests.oracle.meaning_examples import HOSTILE, INVALID, SMILE, VALID

_LONGEST = 400
_ODD = ["\x00", "\n", "\r", "\t", " ", "\u00a0", "\u0661", "\uff11", "é", "e\u0301", SMILE,
        "\u212a", "\u017f", "\u0131", "\u3042", "\u200b"]  # fmt: skip
_SIGNS = list("0123456789aAbBeEfFgGzZTtMmPp+-.,:;/\\()[]{}<>\"'`=&?#%@_~!$^*| ")


def texts(random: Random, meaning: str, many: int) -> list[str]:
    """Some as they are, most with one to three changes."""
    pool = [text for text in [*VALID[meaning], *INVALID[meaning]] if len(text) <= _LONGEST]
    pool += VALID[meaning][:12] * 2
    return [_text(random, meaning, pool) for _ in range(many)]


def _text(random: Random, meaning: str, pool: list[str]) -> str:
    make = _MAKERS.get(meaning)
    text = make(random) if make and random.random() < 0.5 else random.choice(pool)
    if random.random() < 0.02:
        return random.choice(HOSTILE)
    for _ in range(random.choice((0, 0, 1, 1, 1, 2, 3))):
        text = random.choice(_CHANGES)(random, text)
    return text


def _insert(random: Random, text: str) -> str:
    place = random.randint(0, len(text))
    return text[:place] + random.choice(_ODD if random.random() < 0.2 else _SIGNS) + text[place:]


def _delete(random: Random, text: str) -> str:
    place = random.randint(0, len(text))
    return text[:place] + text[place + 1 :]


def _replace(random: Random, text: str) -> str:
    return _insert(random, _delete(random, text))


def _repeat(random: Random, text: str) -> str:
    start, end = sorted(random.choices(range(len(text) + 1), k=2))
    return text[:end] + text[start:]


def _swap(random: Random, text: str) -> str:
    place = random.randint(0, max(len(text) - 2, 0))
    return text[:place] + text[place + 1 : place + 2] + text[place : place + 1] + text[place + 2 :]


def _digit(random: Random, text: str) -> str:
    places = [n for n, char in enumerate(text) if char.isdecimal()]
    if not places:
        return text
    place = random.choice(places)
    return text[:place] + random.choice("0123456789") + text[place + 1 :]


def _case(random: Random, text: str) -> str:
    return random.choice((str.upper, str.lower, str.swapcase, str.title))(text)


def _cut(random: Random, text: str) -> str:
    return text[: random.randint(0, len(text))] if random.random() < 0.3 else text


_CHANGES: list[Callable[[Random, str], str]] = [
    _insert, _delete, _replace, _replace, _digit, _digit, _digit, _repeat, _swap, _case, _cut,
]  # fmt: skip


def _iban(random: Random) -> str:
    country = random.choice(list(codes.IBAN_LENGTHS))
    length = codes.IBAN_LENGTHS[country] + random.choice((0, 0, 0, 0, 1, -1))
    account = "".join(random.choices("0123456789ABCXYZ", k=length - 4))
    rest = int("".join(str(int(char, 36)) for char in f"{account}{country}00")) % 97
    whole = f"{country}{98 - rest + random.choice((0, 0, 0, 0, 1)):02d}{account}"
    if random.random() < 0.3:
        return " ".join(whole[n : n + 4] for n in range(0, len(whole), 4))
    return whole


def _ipv6(random: Random) -> str:
    groups = [
        f"{random.getrandbits(random.choice((4, 8, 16))):x}"
        for _ in range(random.choice((6, 7, 8, 8)))
    ]
    if random.random() < 0.3:
        groups[-2:] = [_ipv4(random)]
    if random.random() < 0.6:
        start, end = sorted(random.choices(range(len(groups) + 1), k=2))
        return ":".join(groups[:start]) + "::" + ":".join(groups[end:])
    return ":".join(groups)


def _ipv4(random: Random) -> str:
    return ".".join(str(random.choice((0, 9, 99, 199, 249, 255, 256))) for _ in range(4))


def _day(random: Random) -> tuple[int, int, int]:
    year = random.choice((1, 4, 100, 400, 1900, 1999, 2000, 2023, 2024, 2100, 9999))
    return year, random.randint(0, 13), random.choice((0, 1, 9, 28, 29, 30, 31, 32))


def _iso(random: Random) -> str:
    return "{:04}-{:02}-{:02}".format(*_day(random))


def _clock(random: Random) -> str:
    hour, rest = random.choice((0, 9, 12, 13, 23, 24)), random.choices((0, 9, 59, 60), k=2)
    fraction = random.choice(("", "", ".5", ",123456789", "."))
    return f"{hour:02}:{rest[0]:02}:{rest[1]:02}{fraction}"


def _moment(random: Random) -> str:
    zone = random.choice(("", "", "Z", "+05:30", "-23:59", "+24:00", "+0530", " UTC"))
    return f"{_iso(random)}{random.choice('T T ')}{_clock(random)}{zone}"


_MONTHS = ["Jan", "feb", "MARCH", "Apr", "May", "June", "jul", "Sept", "sep", "October", "Decem"]


def _loose(random: Random) -> str:
    year, month, day = _day(random)
    sign, name = random.choice("-/. "), random.choice(_MONTHS)
    form = random.choice((
        "{y:04}{s}{m}{s}{d}", "{d}{s}{m}{s}{y:04}", "{m:02}{s}{d:02}{s}{y:04}",
        "{y:04}{m:02}{d:02}", "{d} {n} {y:04}", "{d}-{n}-{y:04}", "{n} {d}, {y:04}",
        "Fri, {d:02} {n} {y:04}", "Sunday {n} {d} {y:04}",
    ))  # fmt: skip
    text = form.format(y=year, m=month, d=day, s=sign, n=name)
    if random.random() < 0.3:
        tail = random.choice((_clock(random), "5pm", "12:00 AM", "0:30", "1530", "153000"))
        text += (
            random.choice((" ", "T", ", ", "")) + tail + random.choice(("", "Z", " GMT", "+0100"))
        )
    return text


def _degrees(limit: int) -> Callable[[Random], str]:
    def make(random: Random) -> str:
        whole = random.choice((0, 7, limit - 1, limit, limit + 1))
        fraction = random.choice(("", "", ".0", ".000", ".5", ".", ".00000000000000000001"))
        return f"{random.choice(('', '', '-', '+'))}{whole}{fraction}"

    return make


def _point(random: Random) -> str:
    gaps = random.choices(("", " ", "\t", "  "), k=4)
    return (
        f"{random.choice(('POINT', 'point', 'Point'))}{gaps[0]}({gaps[1]}{_degrees(180)(random)}"
        f"{gaps[2] or ' '}{_degrees(90)(random)}{gaps[3]})"
    )


def _geometry(random: Random, tag: str | None = None, depth: int = 0) -> str:
    mark = random.choice(("", "", "", "Z", " Z", " M", "ZM")) if tag is None else tag
    numbers = {"": 2, "Z": 3, "M": 3, "ZM": 4}[mark.strip()]

    def point() -> str:
        return " ".join(random.choice(("0", "1.5", "-2", "3e1", ".5")) for _ in range(numbers))

    def many(make: Callable[[], str], *counts: int) -> str:
        comma = random.choice((",", ", ", " ,"))
        return f"({comma.join(make() for _ in range(random.choice(counts)))})"

    def line() -> str:
        return many(point, 2, 3, 2, 1)

    def polygon() -> str:
        return many(lambda: many(point, 4, 5, 4, 3), 1, 2)

    shapes: dict[str, Callable[[], str]] = {
        "POINT": lambda: many(point, 1),
        "LINESTRING": line,
        "POLYGON": polygon,
        "MULTIPOINT": lambda: many(random.choice((point, lambda: f"({point()})")), 1, 2),
        "MULTILINESTRING": lambda: many(line, 1, 2),
        "MULTIPOLYGON": lambda: many(polygon, 1, 2),
        "GEOMETRYCOLLECTION": lambda: many(lambda: _geometry(random, mark, depth + 1), 1, 2),
    }
    kind = random.choice(list(shapes))
    if depth > 3:
        return f"{kind}{mark} EMPTY"
    return f"{kind}{mark}{random.choice(('', ' '))}{shapes[kind]()}"


def _value(random: Random, depth: int = 0) -> str:
    if depth < 3 and random.random() < 0.5:
        return _json(random, depth)
    return random.choice(("1", "-0.5e3", '"a"', '"\\u00e9"', "null", "true", '"{"', "01", "nul"))


def _json(random: Random, depth: int = 0) -> str:
    gap = random.choice(("", "", " ", "\n"))
    values = [_value(random, depth + 1) for _ in range(random.randint(0, 3))]
    if random.random() < 0.5:
        return f"[{gap}{f',{gap}'.join(values)}{gap}]"
    pairs = [f'"{random.choice("abcdefgh")}"{gap}:{value}' for value in values]
    return f"{{{gap}{','.join(pairs)}}}"


def _one_of(*sets: frozenset[str]) -> Callable[[Random], str]:
    words = sorted(word for words in sets for word in words)
    return lambda random: random.choice(words)


def _words(random: Random) -> str:
    words = ("one", "2", "Straße", "día", "今日は天気が", "-", "a1", "это", SMILE, "ไทย", "\u0301x")
    gaps = (" ", " ", "  ", "\n", "\u00a0", "\u3000", "")
    return "".join(random.choice(words) + random.choice(gaps) for _ in range(random.randint(1, 5)))


_MAKERS: dict[str, Callable[[Random], str]] = {
    "iban": _iban,
    "ipv6": _ipv6,
    "ip_address": _ipv6,
    "ipv4": _ipv4,
    "date": _iso,
    "datetime_with_zone": _moment,
    "datetime_without_zone": _moment,
    "date_to_parse": _loose,
    "latitude": _degrees(90),
    "longitude": _degrees(180),
    "geopoint": _point,
    "geometry": _geometry,
    "json_object": _json,
    "json_array": _json,
    "natural_language": _words,
    "country": _one_of(codes.COUNTRY_ALPHA_2, codes.COUNTRY_ALPHA_3, codes.COUNTRY_NAMES),
    "us_state": _one_of(codes.US_STATE_CODES, codes.US_STATE_NAMES),
    "currency": _one_of(codes.CURRENCY_CODES),
    "language": _one_of(codes.LANGUAGE_ALPHA_2, codes.LANGUAGE_ALPHA_3),
}
