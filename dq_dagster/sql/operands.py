"""The operands of an expression that are not literals: columns, brackets, CASE and calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from dq_dagster.sql.calls import Calls
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
from dq_dagster.sql.limits import bounded
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.subquery import take_subquery
from dq_dagster.sql.tokens import NAMES, Refused, Token, unquoted

if TYPE_CHECKING:
    from dq_dagster.sql.cursor import Cursor
    from dq_dagster.sql.findings import Findings
    from dq_dagster.sql.grammar import Grammar


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
            # NOT = 1: not a slip in an operator, but a column of that name.
            raise Refused(Refusal.misplaced_keyword(before.text))
        self._cursor.fail("a value")

    def group(self) -> int:
        """A bracket around one expression, a row of them, or the list after IN and LIKE ANY."""
        if take_subquery(self._cursor, self._findings):
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
