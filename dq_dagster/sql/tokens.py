"""Splits an expression into tokens exactly as Spark does, or refuses to.

Only spellings are taken that every Spark 4 splits the same way. Anything else (comments, hints,
parameters, templates, unusual characters) is refused here, so that no later step has to guess
where a string or a name ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from dq_dagster.sql.refusal import Refusal


class Kind(Enum):
    """What a token is."""

    STRING = "string"
    QUOTED = "quoted"
    NUMBER = "number"
    WORD = "word"
    SYMBOL = "symbol"
    END = "end"


#: Tokens that can be the name of something.
NAMES = frozenset({Kind.WORD, Kind.QUOTED})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; ``key`` is what grammar compares: lower case, nothing for literals."""

    kind: Kind
    text: str
    key: str
    start: int

    @property
    def stop(self) -> int:
        """Where the text goes on after this token."""
        return self.start + len(self.text)


class Refused(Exception):
    """Reading can not go on; carries the reason to its only catcher."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.reason)


# Strings end at a quote that is neither escaped nor doubled. The possessive quantifiers (*+)
# keep an unclosed one from matching up to an earlier quote.
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n]+)
    | (?P<string>
          r'[^']*' | r"[^"]*" | '(?:[^'\\]|\\.|'')*+' | "(?:[^"\\]|\\.|"")*+" )
    | (?P<quoted>`(?:[^`]|``)++`)
    | (?P<number>(?:
          [0-9]+[lsy] | (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?(?:bd|[fd])?
      )(?![a-z0-9_]))
    | (?P<word>[a-z_][a-z0-9_]*)
    | (?P<outlaw>--|/\*|\*/|//|<<|>>|=>|\|>|!<|!>|:(?!:)|[;?@\#$\\{}'"`])
    | (?P<symbol><=>|<>|!=|==|<=|>=|\|\||->|::|[-+*/%~&|^=<>!().,\[\]])
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,
)

_COMMENT = "starts or ends a comment or hint, and these are not allowed: remove it"
_PARAMETER = (
    "is a parameter marker or variant path, which are not allowed: write the value itself, or "
    "use variant_get() or get_json_object()"
)
_UNCLOSED = "opens a quotation that is never closed: close it, or double the quote inside it"
_TEMPLATE = "belongs to a template, and templates are not filled in here: write the value itself"
_OUTLAWED = {
    "--": _COMMENT,
    "/*": _COMMENT,
    "*/": _COMMENT,
    "//": "is no operator: for a whole-number division write div",
    "<<": "is not allowed: use shiftleft()",
    ">>": "is not allowed: use shiftright(); between types leave a space",
    "=>": "names an argument, which is not allowed: pass arguments by position",
    "|>": "is the pipe of a query: only one condition is allowed",
    "!<": "is ambiguous: write >=",
    "!>": "is ambiguous: write <=",
    ":": _PARAMETER,
    "?": _PARAMETER,
    ";": "ends a statement: only one condition is allowed",
    "{": _TEMPLATE,
    "}": _TEMPLATE,
    "'": _UNCLOSED,
    '"': _UNCLOSED,
    "`": _UNCLOSED,
}
_STRANGE = "is not a character of an expression: write names that need it in backquotes"
_NO_NUMBER = "starts neither a number nor a name: write names that start with a digit in backquotes"

# Control characters hide what a text says, and lone surrogates can not be sent to Spark.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def tokenise(text: str) -> tuple[Token, ...]:
    """The tokens of the text, closed by an END token."""
    # Spark fills in ${...} before it parses, in strings too, so no quoting makes it harmless.
    if "${" in text:
        raise Refused(Refusal.substitution())
    if unprintable := _UNPRINTABLE.search(text):
        code = f"U+{ord(unprintable[0]):04X}"
        raise Refused(Refusal.spelling(code, "is a control character: remove it"))
    tokens = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup == "outlaw":
            raise Refused(_outlaw(match[0] if match else text[position]))
        if match.lastgroup != "space":
            tokens.append(_token(Kind(match.lastgroup), match[0], position))
        position = match.end()
    return (*tokens, Token(Kind.END, "", "", len(text)))


def _token(kind: Kind, text: str, start: int) -> Token:
    return Token(kind, text, text.lower() if kind in {Kind.WORD, Kind.SYMBOL} else "", start)


def _outlaw(fragment: str) -> Refusal:
    strange = _NO_NUMBER if fragment in "0123456789" else _STRANGE
    return Refusal.spelling(fragment, _OUTLAWED.get(fragment, strange))


def unquoted(token: Token) -> str:
    """The name a WORD or QUOTED token stands for."""
    if token.kind is Kind.QUOTED:
        return token.text[1:-1].replace("``", "`")
    return token.text
