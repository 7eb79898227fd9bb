"""The operands of a row expression: columns, brackets, CASE, casts, calls and lambdas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dq_dagster.sql.functions import AGGREGATE, ALLOWED, HIGHER_ORDER, REFUSED, UNIT_FIRST, WINDOW
from dq_dagster.sql.keywords import (
    ARGUMENT_UNITS,
    CALL_SUFFIXES,
    CLOCKS,
    HIDDEN,
    NEVER_CALLED,
    QUERY_STARTS,
    SESSION_NAMES,
    SESSION_QUALIFIERS,
    SHAPING,
)
from dq_dagster.sql.limits import bounded
from dq_dagster.sql.literals import take_type
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import Kind, Refused, Token, unquoted

if TYPE_CHECKING:
    from dq_dagster.sql.cursor import Cursor
    from dq_dagster.sql.findings import Findings
    from dq_dagster.sql.grammar import Grammar

_NAMES = frozenset({Kind.WORD, Kind.QUOTED})
# Spark reads some of these as the session even where a lambda variable has the name; left and
# right are what its own examples call such variables.
_NO_VARIABLES = (SHAPING | CLOCKS | SESSION_NAMES | HIDDEN.keys()) - {"left", "right"}
# dateadd(unit, amount, time): with fewer arguments the first one is an ordinary value.
_ARGUMENTS_WITH_UNIT = 3


class Operands:
    """Reads single operands; what stands between brackets goes back to the grammar."""

    def __init__(self, cursor: Cursor, findings: Findings, grammar: Grammar) -> None:
        self._cursor = cursor
        self._findings = findings
        self._grammar = grammar

    def operand(self) -> int:
        """Any operand but a literal."""
        token = self._cursor.peek()
        if token.key == "(":
            return self.group()
        if token.key == "case":
            return self._case()
        if token.key == "*":
            raise Refused(Refusal.star())
        if token.kind not in _NAMES or token.key in NEVER_CALLED:
            self._cursor.fail("a value")
        if self._cursor.peek(1).key == "(":
            return self._call()
        self._column()
        return 1

    def group(self) -> int:
        """A bracket around one expression, a row of them, or the list after IN and LIKE ANY."""
        if self._subquery():
            return 1
        self._cursor.expect("(")
        height = self._grammar.expression()
        while self._cursor.take(","):
            height = max(height, self._grammar.expression())
        self._cursor.expect(")")
        return bounded(1 + height)

    def _subquery(self) -> bool:
        """Moves over the bracket at the cursor if it holds a query, which is refused."""
        opening = self._cursor.peek()
        if opening.key != "(" or self._cursor.peek(1).key not in QUERY_STARTS:
            return False
        self._cursor.skip_bracket()
        self._findings.refuse(Refusal.subquery(self._cursor.since(opening)))
        return True

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
        elif what := HIDDEN.get(name.lower()):
            self._findings.refuse(Refusal.spelling(token.text, what))
        elif self._is_ambiguous(token):
            self._findings.refuse(Refusal.session_name(token.text))
        elif token.key not in CLOCKS or self._cursor.at("."):
            self._findings.columns[name] = None

    def _is_ambiguous(self, token: Token) -> bool:
        qualifies = token.key in SESSION_QUALIFIERS and self._cursor.at(".")
        return qualifies or token.key in SESSION_NAMES

    def field(self) -> None:
        """The name behind a dot."""
        token = self._cursor.peek()
        if token.key == "*":
            raise Refused(Refusal.star())
        if token.kind not in _NAMES:
            self._cursor.fail("the name of a field")
        self._cursor.step()
        if self._cursor.at("("):
            self._findings.refuse(Refusal.named_function("." + token.text))
            self._cursor.skip_bracket()

    def _call(self) -> int:
        name = self._cursor.step()
        if name.key in {"cast", "try_cast"}:
            return self._cast()
        if name.key not in ALLOWED:
            self._cursor.skip_bracket()
            self._refuse_call(name)
            return 1
        height = bounded(1 + self._arguments(name.key))
        if self._cursor.peek().key in CALL_SUFFIXES:
            self._refuse_call(name)
        return height

    def _refuse_call(self, name: Token) -> None:
        """Says why a call is refused; the cursor is behind its bracket."""
        cursor = self._cursor
        family = REFUSED.get(name.key)
        while suffix := cursor.take_in(CALL_SUFFIXES):
            family = WINDOW if suffix.key == "over" else family or AGGREGATE
            cursor.take("group", "nulls")
            if cursor.at("("):
                cursor.skip_bracket()
            elif suffix.key == "over":
                cursor.step()
        if name.kind is Kind.QUOTED:
            self._findings.refuse(Refusal.named_function(name.text))
        elif family:
            self._findings.refuse(Refusal.of_family(cursor.since(name), family))
        else:
            self._findings.refuse(Refusal.unknown_function(name.text, ALLOWED))

    def _cast(self) -> int:
        self._cursor.expect("(")
        height = self._grammar.expression()
        self._cursor.expect("as")
        take_type(self._cursor)
        self._cursor.expect(")")
        return bounded(1 + height)

    def _arguments(self, function: str) -> int:
        cursor = self._cursor
        if self._subquery():
            return 1
        with_unit = function in UNIT_FIRST and cursor.arguments() == _ARGUMENTS_WITH_UNIT
        cursor.expect("(")
        if cursor.take(")"):
            return 0
        if function in CLOCKS:
            # Spark reads current_date(a) as current_date with an alias.
            cursor.fail("')'")
        if with_unit:
            _ = cursor.take_in(ARGUMENT_UNITS) or cursor.fail("a unit like DAY")
            height = 1
        elif function == "extract":
            height = self._extracted()
        else:
            height = self._argument(function)
        while cursor.take(","):
            height = max(height, self._argument(function))
        if not cursor.take(")"):
            cursor.fail("a comma or the end of the arguments")
        return height

    def _extracted(self) -> int:
        """``extract(year FROM ts)``."""
        if self._cursor.peek().kind not in _NAMES:
            self._cursor.fail("a field like YEAR")
        self._cursor.step()
        self._cursor.expect("from")
        return self._grammar.value()

    def _argument(self, function: str) -> int:
        cursor = self._cursor
        behind = cursor.after_bracket() if cursor.at("(") else cursor.peek(1)
        if behind.key != "->":
            return self._grammar.expression()
        if function not in HIGHER_ORDER:
            problem = f"makes a lambda, and {function}() takes none"
            raise Refused(Refusal.spelling("->", problem))
        return self._lambda()

    def _lambda(self) -> int:
        cursor = self._cursor
        if cursor.take("("):
            names = [self._variable()]
            cursor.expect(",")
            names.append(self._variable())
            while cursor.take(","):
                names.append(self._variable())
            cursor.expect(")")
        else:
            names = [self._variable()]
        cursor.expect("->")
        with self._findings.variables(names):
            return bounded(1 + self._grammar.expression())

    def _variable(self) -> str:
        token = self._cursor.peek()
        if token.kind not in _NAMES or token.key in _NO_VARIABLES:
            self._cursor.fail("the name of a lambda variable")
        return unquoted(self._cursor.step())
