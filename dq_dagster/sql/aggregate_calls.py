"""Reads calls of aggregates: ``count(*)``, ``sum(DISTINCT a) FILTER (WHERE b > 0)``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from dq_dagster.sql.findings import AggregateCall, Argument, bounded, take_subquery
from dq_dagster.sql.functions import AGGREGATES, GATHERED, ORDERED, SIZES, Role
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import Token, TokenKind

if TYPE_CHECKING:
    from dq_dagster.sql.findings import Findings
    from dq_dagster.sql.grammar import Grammar
    from dq_dagster.sql.tokens import Cursor


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
        """The arguments, and the order and the filter if there are any; returns the height."""
        self._height = 0
        with self._findings.aggregate():
            call = self._counted(name) if name.key in SIZES else self._plain(name)
        self._findings.call(replace(call, text=self._cursor.since(name)))
        return bounded(1 + self._height)

    def _plain(self, name: Token) -> AggregateCall:
        distinct, arguments = self._arguments(name)
        may_have = name.key in ORDERED and len(arguments) <= len(ORDERED[name.key].roles)
        order, direction = self._order() if may_have else (None, "")
        self._check(name, len(arguments), distinct=distinct, is_ordered=order is not None)
        return AggregateCall(
            "", name.start, name.key, arguments, distinct, self._filter(), order, direction
        )

    def _counted(self, name: Token) -> AggregateCall:
        """``size(collect_set(x))``: nothing is gathered, as counting says the same."""
        self._cursor.expect("(")
        gathering = self._cursor.step()
        distinct, arguments = self._arguments(gathering)
        if len(arguments) != 1:
            call = self._cursor.since(gathering)
            self._findings.refuse(Refusal.arguments(call, gathering.key, AGGREGATES["max"]))
        condition = self._filter()
        self._cursor.expect(")")
        distinct = distinct or GATHERED[gathering.key]
        return AggregateCall("", name.start, "count", arguments, distinct, condition)

    def _order(self) -> tuple[Argument | None, str]:
        """``WITHIN GROUP (ORDER BY x DESC)``, if it is there."""
        cursor = self._cursor
        if not cursor.take("within"):
            return None, ""
        for word in ("group", "(", "order", "by"):
            cursor.expect(word)
        first = cursor.peek()
        self._height = max(self._height, 1 + self._grammar.expression())
        order = Argument(cursor.since(first), Role.VALUE)
        direction = cursor.take("asc", "desc")
        cursor.expect(")")
        return order, f" {direction.key.upper()}" if direction else ""

    def _arguments(self, name: Token) -> tuple[bool, tuple[Argument, ...]]:
        cursor = self._cursor
        if take_subquery(cursor, self._findings, is_value=False):
            return False, ()
        cursor.expect("(")
        if name.key == "count" and cursor.at("*", ")"):
            cursor.step()
            cursor.step()
            return False, (Argument("1", Role.VALUE),)
        distinct = cursor.take("distinct") is not None
        if not distinct and cursor.at("all") and cursor.peek(1).key not in {"(", ")", ",", "."}:
            # The opposite of DISTINCT, which is what happens anyway.
            cursor.step()
        arguments = [] if cursor.at(")") else [self._argument(name, 0)]
        while cursor.take(","):
            arguments.append(self._argument(name, len(arguments)))
        if not cursor.take(")"):
            cursor.fail("a comma or the end of the arguments")
        return distinct, tuple(arguments)

    def _check(self, name: Token, arguments: int, *, distinct: bool, is_ordered: bool) -> None:
        signature = ORDERED[name.key] if is_ordered else AGGREGATES[name.key]
        call = self._cursor.since(name)
        if name.key in ORDERED.keys() - {"mode"} and not is_ordered:
            self._findings.refuse(Refusal.no_order(call, name.key))
        too_many = arguments > 0 and signature.role(arguments - 1) is None
        if arguments < signature.least or too_many:
            self._findings.refuse(Refusal.arguments(call, name.key, signature))
        if distinct and not signature.distinct:
            self._findings.refuse(
                Refusal.spelling(call, f"holds DISTINCT, which {name.key}() cannot")
            )

    def _argument(self, name: Token, number: int) -> Argument:
        signature = AGGREGATES.get(name.key)
        role = (signature.role(number) if signature else None) or Role.VALUE
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
        case _ if first.kind is not TokenKind.NUMBER or first.text != argument.text:
            return False
        case Role.ACCURACY:
            return bool(_WHOLE.fullmatch(argument.text)) and int(argument.text) > 0
        case Role.FRACTION:
            return bool(_DECIMAL.fullmatch(argument.text)) and float(argument.text) <= 1
        case Role.DEVIATION:
            low, high = _DEVIATIONS
            return bool(_DECIMAL.fullmatch(argument.text)) and low <= float(argument.text) <= high
