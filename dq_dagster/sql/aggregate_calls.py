"""Reads calls of aggregates: ``count(*)``, ``sum(DISTINCT a) FILTER (WHERE b > 0)``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dq_dagster.sql.aggregate_call import AggregateCall, Argument
from dq_dagster.sql.aggregates import AGGREGATES, Role
from dq_dagster.sql.limits import bounded
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.subquery import take_subquery
from dq_dagster.sql.tokens import Kind, Token

if TYPE_CHECKING:
    from dq_dagster.sql.cursor import Cursor
    from dq_dagster.sql.findings import Findings
    from dq_dagster.sql.grammar import Grammar

_DECIMAL = re.compile(r"[0-9]*\.?[0-9]+|[0-9]+\.")
_WHOLE = re.compile(r"[0-9]{1,6}")
_DEVIATIONS = (0.01, 0.39)


class AggregateCalls:
    """Reads one call whose name was taken; its arguments go back to the grammar."""

    def __init__(self, cursor: Cursor, findings: Findings, grammar: Grammar) -> None:
        self._cursor = cursor
        self._findings = findings
        self._grammar = grammar
        self._height = 0

    def call(self, name: Token) -> int:
        """The arguments, and the filter if there is one; returns the height."""
        self._height = 0
        with self._findings.aggregate():
            distinct, arguments = self._arguments(name)
            condition = self._filter()
        self._findings.call(
            AggregateCall(
                self._cursor.since(name), name.start, name.key, arguments, distinct, condition
            )
        )
        return bounded(1 + self._height)

    def _arguments(self, name: Token) -> tuple[bool, tuple[Argument, ...]]:
        cursor = self._cursor
        if take_subquery(cursor, self._findings):
            return False, ()
        cursor.expect("(")
        if name.key == "count" and cursor.at("*", ")"):
            cursor.step()
            cursor.step()
            return False, (Argument("1", Role.VALUE),)
        distinct = cursor.take("distinct") is not None
        arguments = [] if cursor.at(")") else [self._argument(name, 0)]
        while cursor.take(","):
            arguments.append(self._argument(name, len(arguments)))
        if not cursor.take(")"):
            cursor.fail("a comma or the end of the arguments")
        self._check(name, len(arguments), distinct=distinct)
        return distinct, tuple(arguments)

    def _check(self, name: Token, arguments: int, *, distinct: bool) -> None:
        signature = AGGREGATES[name.key]
        call = self._cursor.since(name)
        if arguments < signature.least or signature.role(arguments - 1) is None:
            self._findings.refuse(Refusal.arguments(call, name.key, signature))
        if distinct and not signature.distinct:
            self._findings.refuse(
                Refusal.spelling(call, f"holds DISTINCT, which {name.key}() can not")
            )

    def _argument(self, name: Token, number: int) -> Argument:
        role = AGGREGATES[name.key].role(number) or Role.VALUE
        first = self._cursor.peek()
        self._height = max(self._height, self._grammar.expression())
        argument = Argument(self._cursor.since(first), role)
        if not _is_fit(argument, first):
            self._findings.refuse(Refusal.setting(name.key, number + 1, role.value))
        return argument

    def _filter(self) -> str | None:
        cursor = self._cursor
        if not cursor.take("filter"):
            return None
        cursor.expect("(")
        cursor.expect("where")
        first = cursor.peek()
        self._height = max(self._height, 1 + self._grammar.expression())
        condition = cursor.since(first)
        cursor.expect(")")
        return condition


def _is_fit(argument: Argument, first: Token) -> bool:
    """Whether a setting is the literal that it must be. Spark would compute others itself."""
    match argument.role:
        case Role.VALUE:
            return True
        case Role.TRUE:
            return argument.text.lower() == "true"
        case _ if first.kind is not Kind.NUMBER or first.text != argument.text:
            return False
        case Role.ACCURACY:
            return bool(_WHOLE.fullmatch(argument.text)) and int(argument.text) > 0
        case Role.FRACTION:
            return bool(_DECIMAL.fullmatch(argument.text)) and float(argument.text) <= 1
        case Role.DEVIATION:
            low, high = _DEVIATIONS
            return bool(_DECIMAL.fullmatch(argument.text)) and low <= float(argument.text) <= high
