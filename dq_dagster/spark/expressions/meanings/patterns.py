"""Regular expressions of built-in meanings, in Java's syntax; a valid value matches as a whole.

Java matches a repeated group by recursion, which ends the stack on a long text, unless the
repetition is possessive (``*+``, ``++``). So every unbounded repetition of a group is possessive
here; it also never goes back, so a match takes time in proportion to the text.

The pattern of geometries (well-known text of OGC Simple Features) first makes sure, looking ahead,
that every point has as many numbers as the geometry's tag (Z, M, ZM or none) demands. What is left
to check then is how points and brackets follow each other.
"""

from __future__ import annotations

from dq_dagster.rules.fields.regex import whole
from dq_dagster.spark.frames.columns import text_literal

_DIGITS = "[0-9]"
_HEX = "[0-9A-Fa-f]"
_ALNUM = "[A-Za-z0-9]"
_ESCAPED = f"%{_HEX}{{2}}"

INTEGER = r"[+-]?[0-9]++"
DECIMAL = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
BOOLEAN = "(?i)true|false|t|f|yes|no|y|n|1|0"
UUID = f"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"
PHONE = r"\+[1-9][0-9]{6,14}"

# --- times --------------------------------------------------------------------------------------

YEAR = "(?!0000)[0-9]{4}"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_MOMENT = rf"{YEAR}-[0-9]{{2}}-[0-9]{{2}}[T ]{_CLOCK}:[0-5][0-9](?:\.[0-9]++)?"
DATE = f"{YEAR}-[0-9]{{2}}-[0-9]{{2}}"
DATETIME_WITHOUT_ZONE = _MOMENT
DATETIME_WITH_ZONE = f"{_MOMENT}(?:Z|[+-]{_CLOCK})"

# --- places -------------------------------------------------------------------------------------

LATITUDE = r"[+-]?(?:90(?:\.0++)?|[0-8]?[0-9](?:\.[0-9]++)?)"
LONGITUDE = r"[+-]?(?:180(?:\.0++)?|(?:1[0-7][0-9]|0?[0-9]{1,2})(?:\.[0-9]++)?)"
_BLANK = r"[ \t\r\n]"
GEOPOINT = rf"(?i)POINT{_BLANK}*+\({_BLANK}*+{LONGITUDE}{_BLANK}++{LATITUDE}{_BLANK}*+\)"

# --- networks -----------------------------------------------------------------------------------

_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4 = rf"(?:{_BYTE}\.){{3}}{_BYTE}"


def _ipv6() -> str:
    """The nine alternatives of RFC 3986, appendix A: how many groups stand around ``::``."""
    group = f"{_HEX}{{1,4}}"
    last_two = f"(?:{group}:{group}|{IPV4})"
    ways = [f"(?:{group}:){{6}}{last_two}"]
    for after in range(5, -1, -1):
        before = f"(?:(?:{group}:){{0,{4 - after}}}{group})?" if after < 5 else ""
        ways.append(f"{before}::(?:{group}:){{{after}}}{last_two}")
    ways.append(f"(?:(?:{group}:){{0,5}}{group})?::{group}")
    ways.append(f"(?:(?:{group}:){{0,6}}{group})?::")
    return f"(?:{'|'.join(ways)})"


IPV6 = _ipv6()
IP_ADDRESS = f"{IPV4}|{IPV6}"

_LABEL = f"{_ALNUM}(?:[A-Za-z0-9-]{{0,61}}{_ALNUM})?"
# The last label of a name is not a number, so that 256.1.1.1 is not a name either.
_NAME_ENDS = r"(?![A-Za-z0-9.-])"
_LAST_LABEL = f"(?!{_DIGITS}++{_NAME_ENDS}){_LABEL}{_NAME_ENDS}"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]++"
EMAIL = (
    r"(?=[^@]{1,64}@)(?=[\x21-\x7e]{1,254}\z)"
    rf"{_ATOM}(?:\.{_ATOM})*+@(?:{_LABEL}\.)++{_LAST_LABEL}"
)


def _chars(allowed: str, repeat: str) -> str:
    """A run of allowed characters and percent-escapes."""
    return f"(?:[{allowed}]|{_ESCAPED}){repeat}"


_UNRESERVED = r"A-Za-z0-9._~\-"
_SUB_DELIMS = r"!$&'()*+,;="
_PORT = "(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[0-5]?[0-9]{1,4})"
_HOST_NAME = rf"(?=[A-Za-z0-9.-]{{1,253}}{_NAME_ENDS})(?:{_LABEL}\.)*+{_LAST_LABEL}"
_HOST = rf"(?:\[{IPV6}\]|{IPV4}{_NAME_ENDS}|{_HOST_NAME})"
_SEGMENT = rf"{_UNRESERVED}{_SUB_DELIMS}:@"
URL = (
    rf"(?i:https?|ftp)://(?:{_chars(rf'{_UNRESERVED}{_SUB_DELIMS}:', '*+')}@)?{_HOST}(?::{_PORT})?"
    rf"(?:/{_chars(rf'{_SEGMENT}/', '*+')})?"
    rf"(?:\?{_chars(rf'{_SEGMENT}/?', '*+')})?"
    rf"(?:#{_chars(rf'{_SEGMENT}/?', '*+')})?"
)
_QUERY_CHARS = rf"{_UNRESERVED}!$'()*+,;:@/?"
_PAIR = f"{_chars(_QUERY_CHARS, '++')}={_chars(f'{_QUERY_CHARS}=', '*+')}"
HTTP_QUERY = rf"\??{_PAIR}(?:&{_PAIR})*+"

_HTTP_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"


def _comment(depth: int) -> str:
    r"""Text in parentheses: visible characters, spaces, ``\`` before any of them, comments."""
    plain = r"[\t\x20-\x27\x2a-\x5b\x5d-\x7e]|\\[\t\x20-\x7e]"
    inside = f"{plain}|{_comment(depth - 1)}" if depth > 1 else plain
    return rf"\((?:{inside})*+\)"


_PRODUCT = f"{_HTTP_WORD}(?:/{_HTTP_WORD})?"
# Words alone are products too, by the RFC; so is every sentence without a comma, and so is NULL.
_VERSIONED = f"{_HTTP_WORD}/{_HTTP_WORD}"
USER_AGENT = (
    rf"(?:{_VERSIONED}|(?:{_HTTP_WORD}[ \t]++)++(?:{_VERSIONED}|{_comment(3)}))"
    rf"(?:[ \t]++(?:{_PRODUCT}|{_comment(3)}))*+"
)

# --- language -----------------------------------------------------------------------------------

_SPACE = r"[\p{Z}\t\r\n]"
_IN_WORD = r"[^\p{Z}\t\r\n]"
_BEFORE_LETTER = r"[^\p{L}\p{Z}\t\r\n]"
# Anything up to a word with a letter, then the rest of that word.
_WORD = rf"(?:{_BEFORE_LETTER}*+{_SPACE}++)*+{_BEFORE_LETTER}*+\p{{L}}{_IN_WORD}*+"
# The blocks of scripts written without spaces. Naming the scripts instead is ten times slower.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\x{20000}-\x{3ffff}"
)
_UNSPACED_LETTER = rf"(?:[^{_UNSPACED}]|(?!\p{{L}})[{_UNSPACED}])*+[{_UNSPACED}]"
NATURAL_LANGUAGE = (
    r"(?=[^\p{Cc}]*+(?:[\t\r\n][^\p{Cc}]*+)*+\z)"
    rf"(?s:{_WORD}(?:{_SPACE}++{_WORD}){{2}}.*+|{_UNSPACED_LETTER}(?:{_UNSPACED_LETTER}){{7}}.*+)"
)


_BLANKS = r"[ \t\r\n]*+"
_GAP = r"[ \t\r\n]++"
_NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_NO_NUMBER = "[^0-9.+-]*+"
# The numbers of a point were matched before: anything up to its end will do.
_POINT = r"[-+.0-9][^(),]*+"
_NAMES = "(?:(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)"
_DEEPEST = 2


def _points_of(numbers: int, tag: str) -> str:
    """True at the start of a geometry with that tag in which all points have that many numbers."""
    point = rf"{_NUMBER}(?:{_GAP}{_NUMBER}){{{numbers - 1}}}(?={_BLANKS}[,)])"
    return rf"(?={_NAMES}{_BLANKS}{tag}(?:{_NO_NUMBER}{point})*+{_NO_NUMBER}\z)"


def _brackets(inside: str) -> str:
    return rf"\({_BLANKS}{inside}{_BLANKS}\)"


def _list(item: str, at_least: int = 1) -> str:
    """Items with commas between, each followed by a comma or the end of the list."""
    repeat = f"{{{at_least},}}+" if at_least > 1 else "++"
    return rf"\({_BLANKS}(?:{item}{_BLANKS}(?:,{_BLANKS}(?!\))|(?=\)))){repeat}\)"


def _or_empty(text: str) -> str:
    return f"(?:{text}|EMPTY)"


def _geometry(depth: int) -> str:
    line, polygon = _list(_POINT, at_least=2), _list(_or_empty(_list(_POINT, at_least=4)))
    shapes = {
        "POINT": _brackets(_POINT),
        "LINESTRING": line,
        "POLYGON": polygon,
        # Points of a multipoint are written with or without brackets of their own.
        "MULTIPOINT": _list(f"(?:{_brackets(_POINT)}|{_POINT}|EMPTY)"),
        "MULTILINESTRING": _list(_or_empty(line)),
        "MULTIPOLYGON": _list(_or_empty(polygon)),
    }
    if depth:
        shapes["GEOMETRYCOLLECTION"] = _list(_geometry(depth - 1))
    shapes[_NAMES] = r"(?<=[ \t\r\n])EMPTY"
    ways = (rf"{name}{_BLANKS}\1{_BLANKS}{shape}" for name, shape in shapes.items())
    return f"(?:{'|'.join(ways)})"


# The geometries of a collection have its tag, hence the reference to it.
GEOMETRY = (
    f"(?i)(?={_NAMES}{_BLANKS}(ZM|Z|M|))"
    f"(?:{_points_of(2, '(?![ZM])')}|{_points_of(3, '(?:Z(?!M)|M)')}|{_points_of(4, 'ZM')})"
    f"{_geometry(_DEEPEST)}"
)


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH_NAME = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY_NAME = (
    "(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?"
    "|sat(?:urday)?|sun(?:day)?)"
)
_SMALL = "([0-9]{1,2})"
_MINUTES = r":[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?"
_CLOCK_OR_ZONE = (
    f"(?:(?:[01]?[0-9]|2[0-3]){_MINUTES}|(?:0?[1-9]|1[0-2])(?:{_MINUTES})? ?[ap]m)"
    "(?: ?(?:Z|UTC|GMT|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9]))?"
)
_TIME = f"(?:(?:T|,? ){_CLOCK_OR_ZONE})?"

_YEAR_FIRST = f"({YEAR})([-/.]){_SMALL}\\2{_SMALL}{_TIME}"
_COMPACT = f"({YEAR})([0-9]{{2}})([0-9]{{2}})(?:T?(?:[01][0-9]|2[0-3])[0-5][0-9](?:[0-5][0-9])?)?"
_YEAR_LAST = f"{_SMALL}([-/.]){_SMALL}\\2({YEAR}){_TIME}"
_DAY_THEN_NAME = f"(?:{_DAY_NAME},? )?{_SMALL}([- ]){_MONTH_NAME}\\2({YEAR}){_TIME}"
_NAME_THEN_DAY = f"(?:{_DAY_NAME},? )?{_MONTH_NAME} {_SMALL},? ({YEAR}){_TIME}"


def exists(value: str) -> str:
    """True for a text that Spark reads as a date that is in the calendar."""
    return f"try_cast({value} AS DATE) IS NOT NULL"


def is_date(value: str) -> str:
    return f"{_matches(value, DATE)} AND {exists(value)}"


def starts_with_date(value: str, pattern: str) -> str:
    return f"{_matches(value, pattern)} AND {exists(f'substr({value}, 1, 10)')}"


def is_date_to_parse(value: str) -> str:
    """Each way to write a date, turned into year, month and day for Spark."""

    def turned(pattern: str, groups: str) -> str:
        regex, new = text_literal(_anchored(pattern)), text_literal(groups)
        return exists(f"regexp_replace({value}, {regex}, {new})")

    ways = {
        _YEAR_FIRST: turned(_YEAR_FIRST, "$1-$3-$4"),
        _COMPACT: turned(_COMPACT, "$1-$2-$3"),
        _YEAR_LAST: f"{turned(_YEAR_LAST, '$4-$3-$1')} OR {turned(_YEAR_LAST, '$4-$1-$3')}",
        _DAY_THEN_NAME: _named(value, _DAY_THEN_NAME, year=4, month=3, day=1),
        _NAME_THEN_DAY: _named(value, _NAME_THEN_DAY, year=3, month=1, day=2),
    }
    cases = [f"WHEN {_matches(value, f'(?i){way}')} THEN {then}" for way, then in ways.items()]
    return f"CASE {' '.join(cases)} ELSE false END"


def _named(value: str, pattern: str, *, year: int, month: int, day: int) -> str:
    regex = text_literal(_anchored(pattern))

    def part(group: int) -> str:
        return f"regexp_extract({value}, {regex}, {group})"

    # Where the first three letters stand in "janfebmar...": 1, 4, 7 and so on.
    number = f"(locate(lower(left({part(month)}, 3)), '{''.join(_MONTHS)}') + 2) DIV 3"
    return exists(f"concat({part(year)}, '-', {number}, '-', {part(day)})")


def _matches(value: str, pattern: str) -> str:
    return f"{value} RLIKE {text_literal(whole(pattern))}"


def _anchored(pattern: str) -> str:
    return whole(f"(?i){pattern}")
