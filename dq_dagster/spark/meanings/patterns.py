r"""Regular expressions of built-in meanings, in Java's syntax; a valid value matches as a whole.

Java matches a repeated group by recursion, which ends the stack on a long text, unless the
repetition is possessive (``*+``, ``++``). So every unbounded repetition of a group is possessive
here; it also never goes back, so a match takes time in proportion to the text.
"""

from __future__ import annotations

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
