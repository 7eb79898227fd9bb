"""Splits an expression into tokens exactly as Spark does, or refuses to.

Only spellings are taken that every Spark 4 splits the same way. Anything else (comments, hints,
unusual characters) is refused here, so that no later step has to guess where a string or a name
ends. Templates have slots for what they call by name, ``{table}`` and ``:value``; other texts have
none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from dq_dagster.sql.refusal import Refusal


class TokenKind(Enum):
    """What a token is."""

    STRING = "string"
    QUOTED = "quoted"
    NUMBER = "number"
    WORD = "word"
    SYMBOL = "symbol"
    SLOT = "slot"
    END = "end"


#: Tokens that can be the name of something.
NAMES = frozenset({TokenKind.WORD, TokenKind.QUOTED})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; ``key`` is what grammar compares: lower case, nothing for literals."""

    kind: TokenKind
    text: str
    key: str
    start: int

    @property
    def stop(self) -> int:
        """Where the text goes on after this token."""
        return self.start + len(self.text)


class Refused(Exception):
    """Reading cannot go on; carries the reason to its only catcher."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.reason)


# Strings end at a quote that is neither escaped nor doubled. The possessive quantifiers (*+)
# keep an unclosed one from matching up to an earlier quote.
_SPELLINGS = r"""
      (?P<space>[ \t\r\n]+)
    | (?P<string>
          r'[^']*' | r"[^"]*" | '(?:[^'\\]|\\.|'')*+' | "(?:[^"\\]|\\.|"")*+" )
    | (?P<quoted>`(?:[^`]|``)++`)
    | (?P<number>(?:
          [0-9]+[lsy] | (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?(?:bd|[fd])?
      )(?![a-z0-9_]))
    | (?P<word>[a-z_][a-z0-9_]*)
    | (?P<slot>{slots})
    | (?P<outlaw>--|/\*|\*/|//|<<|>>|=>|\|>|!<|!>|:(?!:)|[;?@\#$\\{}'"`])
    | (?P<symbol><=>|<>|!=|==|<=|>=|\|\||->|::|[-+*/%~&|^=<>!().,\[\]])
    """
_FLAGS = re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII
_NO_SLOTS, _SLOTS = r"(?!)", r"\{[a-z_][a-z0-9_]*\}|:[a-z_][a-z0-9_]*"
_EXPRESSION = re.compile(_SPELLINGS.replace("{slots}", _NO_SLOTS), _FLAGS)
_QUERY = re.compile(_SPELLINGS.replace("{slots}", _SLOTS), _FLAGS)

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
_NO_SLOT = (
    "belongs to no name: write {table} for the rows, {name} for a reference or a column, and :name "
    "for the value of a parameter"
)
_OUTLAWED_IN_QUERIES = {
    **_OUTLAWED,
    **dict.fromkeys(("{", "}", ":", "?"), _NO_SLOT),
    "|>": "is a pipe, which is not allowed: write a query with SELECT and FROM",
    ";": "ends a statement: only one query or condition is allowed",
}
_PATH = "is a variant path, which is not allowed: use variant_get() or get_json_object()"
_STRANGE = "is not a character of an expression: write names that need it in backquotes"
_NO_NUMBER = "starts neither a number nor a name: write names that start with a digit in backquotes"

# Control characters hide what a text says, and lone surrogates cannot be sent to Spark.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def tokenise(text: str, *, slots: bool = False) -> tuple[Token, ...]:
    """The tokens of the text, closed by an END token; ``slots``: it may call things by name."""
    # Spark fills in ${...} before it parses, in strings too, so no quoting makes it harmless.
    if "${" in text:
        raise Refused(Refusal.substitution())
    if unprintable := _UNPRINTABLE.search(text):
        code = f"U+{ord(unprintable[0]):04X}"
        raise Refused(Refusal.spelling(code, "is a control character: remove it"))
    pattern, outlawed = (_QUERY, _OUTLAWED_IN_QUERIES) if slots else (_EXPRESSION, _OUTLAWED)
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = pattern.match(text, position)
        if match is None or match.lastgroup == "outlaw":
            raise Refused(_outlaw(match[0] if match else text[position], outlawed))
        if match.lastgroup != "space":
            tokens.append(_token(TokenKind(match.lastgroup), match[0], position))
            _refuse_path(tokens)
        position = match.end()
    return (*tokens, Token(TokenKind.END, "", "", len(text)))


# Kinds that grammar compares without regard to case; names of slots are taken as they are.
_FOLDED = {TokenKind.WORD, TokenKind.SYMBOL}


def _token(kind: TokenKind, text: str, start: int) -> Token:
    if kind is TokenKind.SLOT:
        return Token(kind, text, text, start)
    return Token(kind, text, text.lower() if kind in _FOLDED else "", start)


def _refuse_path(tokens: list[Token]) -> None:
    """``payload:price`` is no value of a parameter, but a path into a variant."""
    last = tokens[-1]
    if last.kind is not TokenKind.SLOT or not last.text.startswith(":") or len(tokens) == 1:
        return
    before = tokens[-2]
    if before.stop == last.start and (before.kind in NAMES or before.key in {")", "]"}):
        raise Refused(Refusal.spelling(before.text + last.text, _PATH))


def _outlaw(fragment: str, outlawed: Mapping[str, str]) -> Refusal:
    strange = _NO_NUMBER if fragment in "0123456789" else _STRANGE
    return Refusal.spelling(fragment, outlawed.get(fragment, strange))


def unquoted(token: Token) -> str:
    """The name a WORD or QUOTED token stands for."""
    if token.kind is TokenKind.QUOTED:
        return token.text[1:-1].replace("``", "`")
    return token.text


_CLOSING = {"(": ")", "[": "]"}


class Cursor:
    """Walks over the tokens; brackets are matched before the first step."""

    def __init__(self, text: str, tokens: tuple[Token, ...]) -> None:
        self._text = text
        self._tokens = tokens
        self._partners = _partners(tokens)
        self._index = 0

    def peek(self, ahead: int = 0) -> Token:
        """A token that was not taken yet; past the end it is the END token."""
        return self._tokens[min(self._index + ahead, len(self._tokens) - 1)]

    def at(self, *keys: str) -> bool:
        """Whether the next tokens are these words or symbols, in this order."""
        return all(self.peek(ahead).key == key for ahead, key in enumerate(keys))

    def take(self, *keys: str) -> Token | None:
        """The next token if it is one of these words or symbols."""
        return self.step() if self.peek().key in keys else None

    def take_in(self, keys: frozenset[str]) -> Token | None:
        """The next token if it is one of these words."""
        return self.step() if self.peek().key in keys else None

    def step(self) -> Token:
        """The next token, whatever it is."""
        token = self.peek()
        self._index += 1
        return token

    def expect(self, key: str) -> Token:
        """The next token, which must be this word or symbol."""
        return self.take(key) or self.fail(f"'{key.upper()}'")

    def expect_kind(self, kind: TokenKind, expected: str) -> Token:
        """The next token, which must be of this kind."""
        if self.peek().kind is not kind:
            self.fail(expected)
        return self.step()

    def fail(self, expected: str) -> NoReturn:
        """Stops reading, because the next token is not what grammar asks for."""
        token = self.peek()
        if token.kind is TokenKind.END:
            raise Refused(Refusal.ends_early(expected))
        raise Refused(Refusal.unexpected(token.text, expected))

    def after_bracket(self) -> Token:
        """The token behind the bracket that closes the one at the cursor."""
        return self._tokens[self._partners[self._index] + 1]

    def skip_bracket(self) -> None:
        """Moves behind the bracket that closes the one at the cursor."""
        self._index = self._partners[self._index] + 1

    def arguments(self) -> int:
        """How many arguments the bracket at the cursor holds, if it holds any."""
        commas, index = 0, self._index + 1
        while index < self._partners[self._index]:
            commas += self._tokens[index].key == ","
            index = self._partners.get(index, index) + 1
        return commas + 1

    def holds(self, *words: str) -> bool:
        """Whether any of the words stands in the bracket at the cursor, and in none within it."""
        index = self._index + 1
        while index < self._partners[self._index]:
            if self._tokens[index].key in words:
                return True
            index = self._partners.get(index, index) + 1
        return False

    def behind(self, ahead: int) -> Token:
        """The token behind the bracket that closes the one so many tokens ahead."""
        return self._tokens[self._partners[self._index + ahead] + 1]

    def since(self, token: Token) -> str:
        """The text from this token up to the last one taken."""
        return self._text[token.start : self._tokens[self._index - 1].stop]


def _partners(tokens: tuple[Token, ...]) -> dict[int, int]:
    """For each opening bracket's index the index of the one that closes it."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.key in _CLOSING:
            opened.append(index)
        elif token.key in _CLOSING.values():
            if not opened or _CLOSING[tokens[opened[-1]].key] != token.key:
                raise Refused(Refusal.bracket(token.text, "closes nothing"))
            partners[opened.pop()] = index
    if opened:
        raise Refused(Refusal.bracket(tokens[opened[-1]].text, "is never closed"))
    return partners
