"""A place in the tokens of one expression, and the ways to move on from it."""

from __future__ import annotations

from typing import NoReturn

from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import Kind, Refused, Token

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

    def expect_kind(self, kind: Kind, expected: str) -> Token:
        """The next token, which must be of this kind."""
        if self.peek().kind is not kind:
            self.fail(expected)
        return self.step()

    def fail(self, expected: str) -> NoReturn:
        """Stops reading, because the next token is not what grammar asks for."""
        token = self.peek()
        if token.kind is Kind.END:
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
