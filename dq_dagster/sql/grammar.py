"""The part of Spark's expression grammar that may be used.

Whatever is not written down here and in ``operands`` is refused: this is a list of what is
allowed. The methods follow Spark's own rules (boolean expression, predicate, value), so that a
text accepted here is one expression for Spark too, with the same names, calls and literals. (A
general SQL parser would not do: those at hand read some texts otherwise than Spark does, and need
minutes for some short ones.) Each method returns the height of Spark's tree for what it read, so
that it can be limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from dq_dagster.sql.calls import Calls
from dq_dagster.sql.findings import MAX_NESTING, bounded, take_subquery
from dq_dagster.sql.functions import ALSO_CALLED
from dq_dagster.sql.keywords import (
    BINARY,
    CLOCKS,
    HIDDEN,
    NEVER_CALLED,
    SESSION_NAMES,
    SESSION_QUALIFIERS,
    SHAPING,
)
from dq_dagster.sql.literals import take_literal, take_plain_type, take_strings
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import NAMES, Refused, Token, TokenKind, unquoted

if TYPE_CHECKING:
    from dq_dagster.sql.findings import Findings
    from dq_dagster.sql.tokens import Cursor


class Operands:
    """Reads single operands; what stands between brackets goes back to the grammar."""

    def __init__(self, cursor: Cursor, findings: Findings, grammar: Grammar) -> None:
        self._cursor = cursor
        self._findings = findings
        self._grammar = grammar
        self._calls = Calls(cursor, findings, grammar)

    def operand(self) -> int:
        """Any operand but a literal."""
        token = self._cursor.peek()
        if token.key == "(":
            return self.group()
        if token.key == "case":
            return self._case()
        if token.key == "*":
            raise Refused(Refusal.star())
        is_call = self._cursor.peek(1).key == "("
        if token.key in NEVER_CALLED and not (is_call and token.key in ALSO_CALLED):
            raise Refused(Refusal.misplaced_keyword(token.text))
        if token.kind not in NAMES:
            self._no_value(token)
        if is_call:
            return self._calls.call()
        self._column()
        return 1

    def _no_value(self, token: Token) -> NoReturn:
        before = self._cursor.peek(-1)
        is_operator = token.key in BINARY
        if before.key == "case" or (before.key == "not" and is_operator):
            # NOT = 1: not a mistake in an operator, but a column of that name.
            raise Refused(Refusal.misplaced_keyword(before.text))
        self._cursor.fail("a value")

    def group(self) -> int:
        """A bracket around one expression, a row of them, or the list after IN and LIKE ANY."""
        if take_subquery(self._cursor, self._findings, is_value=True):
            return 1
        self._cursor.expect("(")
        height = self._grammar.expression()
        while self._cursor.take(","):
            height = max(height, self._grammar.expression())
        self._cursor.expect(")")
        return bounded(1 + height)

    def _case(self) -> int:
        cursor, expression = self._cursor, self._grammar.expression
        cursor.expect("case")
        heights = [] if cursor.at("when") else [expression()]
        cursor.expect("when")
        while True:
            heights.append(expression())
            cursor.expect("then")
            heights.append(expression())
            if not cursor.take("when"):
                break
        if cursor.take("else"):
            heights.append(expression())
        cursor.expect("end")
        return bounded(1 + max(heights))

    def _column(self) -> None:
        token = self._cursor.step()
        name = unquoted(token)
        if self._findings.is_variable(name):
            return
        if token.key in SHAPING:
            self._findings.refuse(Refusal.keyword(token.text))
        # Upper case first, as Spark does: it takes \u017f for an s.
        elif what := HIDDEN.get(name.upper().lower()):
            self._findings.refuse(Refusal.spelling(token.text, what))
        elif self._is_ambiguous(token):
            self._findings.refuse(Refusal.session_name(token.text))
        elif token.key not in CLOCKS or self._cursor.at("."):
            self._findings.use(name)

    def _is_ambiguous(self, token: Token) -> bool:
        qualifies = token.key in SESSION_QUALIFIERS and self._cursor.at(".")
        return qualifies or token.key in SESSION_NAMES

    def field(self) -> None:
        """The name behind a dot."""
        token = self._cursor.peek()
        if token.key == "*":
            raise Refused(Refusal.star())
        if token.kind not in NAMES:
            self._cursor.fail("the name of a field")
        self._cursor.step()
        if self._cursor.at("("):
            self._findings.refuse(Refusal.named_function("." + token.text))
            self._cursor.skip_bracket()


_COLLATION = re.compile(
    r"(?:utf8_binary|utf8_lcase|unicode|[a-z]{2,3}(?:_[a-z]{4})?(?:_[a-z]{3})?)"
    r"(?:_c[is])?(?:_a[is])?(?:_rtrim)?"
)


class Grammar:
    """Reads one expression from the cursor, from the loosest operators down to the tightest."""

    def __init__(self, cursor: Cursor, findings: Findings) -> None:
        self._cursor = cursor
        self._operands = Operands(cursor, findings, self)
        self._nesting = 0

    def read(self) -> None:
        """Reads the whole text as one expression."""
        self.expression()
        if self._cursor.peek().kind is not TokenKind.END:
            self._cursor.fail("an operator or the end")

    def expression(self) -> int:
        """Predicates joined by AND and OR."""
        with self._deeper():
            heights = [self._negated()]
            while self._cursor.take("and", "or"):
                heights.append(self._negated())
        # Spark turns long chains of AND and of OR into balanced trees.
        return bounded(max(heights) + len(heights).bit_length())

    def value_within(self) -> int:
        """A value between brackets, where words keep it from being a condition."""
        with self._deeper():
            return self.value()

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise Refused(Refusal.too_deep(MAX_NESTING))
        yield
        self._nesting -= 1

    def _negated(self) -> int:
        negations = 0
        while self._cursor.take("not", "!"):
            negations += 1
        return bounded(negations + self._predicated())

    def _predicated(self) -> int:
        height = self.value()
        cursor = self._cursor
        if cursor.take("is"):
            return 1 + max(height, self._is())
        negated = cursor.take("not")
        if cursor.take("between"):
            low = self.value()
            cursor.expect("and")
            return 1 + max(height, low, self.value())
        if cursor.take("in"):
            is_parameter = cursor.peek().kind is TokenKind.SLOT
            return 1 + max(height, self.value() if is_parameter else self._operands.group())
        if cursor.take("like", "ilike"):
            return 1 + max(height, self._pattern())
        if cursor.take("rlike", "regexp"):
            return 1 + max(height, self.value())
        if negated:
            cursor.fail("IN, BETWEEN, LIKE or RLIKE")
        return height

    def _is(self) -> int:
        self._cursor.take("not")
        if self._cursor.take("distinct"):
            self._cursor.expect("from")
            return self.value()
        if not self._cursor.take("null", "true", "false", "unknown"):
            self._cursor.fail("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")
        return 0

    def _pattern(self) -> int:
        if self._cursor.take("any", "some", "all"):
            # Strings only: Spark computes other constants here while it still parses.
            take_strings(self._cursor)
            return 1
        height = self.value()
        if self._cursor.take("escape"):
            self._cursor.expect_kind(TokenKind.STRING, "a string with the escape character")
        return height

    def _collation(self) -> None:
        """The name of a collation, such as UTF8_LCASE; behind a dot Spark would read on."""
        if not _COLLATION.fullmatch(self._cursor.peek().key) or self._cursor.peek(1).key == ".":
            self._cursor.fail("the name of a collation")
        self._cursor.step()

    def value(self) -> int:
        """Operands joined by comparison, arithmetic and other operators between two values."""
        height = self._signed()
        while self._cursor.take_in(BINARY):
            height = bounded(1 + max(height, self._signed()))
        return height

    def _signed(self) -> int:
        signs = 0
        while self._cursor.take("-", "+", "~"):
            signs += 1
        return bounded(signs + self._accessed())

    def _accessed(self) -> int:
        """An operand with all that hangs on it: casts, fields, indexes."""
        cursor = self._cursor
        literal = take_literal(cursor)
        height = 1 if literal else self._operands.operand()
        while True:
            if cursor.take("::"):
                # No map<k, v>: between brackets Spark reads its comma as the end of a value.
                take_plain_type(cursor)
                literal = False
            elif cursor.take("collate"):
                self._collation()
            elif not literal and cursor.take("."):
                self._operands.field()
            elif not literal and cursor.take("["):
                height = max(height, self.value())
                cursor.expect("]")
            else:
                return height
            height = bounded(height + 1)
