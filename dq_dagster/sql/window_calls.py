"""Reads calls over windows: ``count(*) OVER (PARTITION BY a ORDER BY b)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dq_dagster.sql.findings import bounded
from dq_dagster.sql.functions import AGGREGATES, GATHERED
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.refused_functions import AGGREGATE
from dq_dagster.sql.tokens import Refused, TokenKind

if TYPE_CHECKING:
    from dq_dagster.sql.findings import Findings
    from dq_dagster.sql.grammar import Grammar
    from dq_dagster.sql.tokens import Cursor, Token

_RANKING = frozenset(
    """
    cume_dist dense_rank first first_value lag last last_value lead nth_value ntile percent_rank
    rank row_number
    """.split()
)
#: Every function that may be called over a window.
WINDOWED = _RANKING.union(AGGREGATES, GATHERED)
_NAMED = "names a window: write the window itself between brackets"


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A call over a window: where it stands in the expression, and what it is made of.

    ``opening`` and ``rest`` are the places behind the window's bracket and behind what it is
    divided by, ``first`` is that of the first argument, all counted from the start of the call.
    """

    text: str
    start: int
    function: str
    arguments: tuple[str, ...]
    among: tuple[str, ...]
    order: str
    frame: str
    first: int
    opening: int
    rest: int

    @property
    def stop(self) -> int:
        return self.start + len(self.text)

    def within(self, keys: Sequence[str], where: str | None = None) -> str:
        """The call, whose window holds only rows that are alike in these keys too.

        ``where`` is true for rows whose value is wanted: that of others, which may raise, is not
        computed.
        """
        call = self.text[: self.opening]
        if where is not None and self.arguments and self.arguments[0] != "*" and not self._is_size:
            stop = self.first + len(self.arguments[0])
            guarded = f"if({where}, {self.arguments[0]}, NULL)"
            call = f"{call[: self.first]}{guarded}{call[stop:]}"
        if not keys:
            return call + self.text[self.opening :]
        listed = ", ".join([*keys, *self.among])
        gap = "" if self.text[self.rest :].startswith(")") else " "
        return f"{call}PARTITION BY {listed}{gap}{self.text[self.rest :]}"

    @property
    def _is_size(self) -> bool:
        """Whether the argument is no value of a row, but a number of parts."""
        return self.function == "ntile"


class WindowCalls:
    """Reads one call whose name was taken; what it computes with goes back to the grammar."""

    def __init__(self, cursor: Cursor, findings: Findings, grammar: Grammar) -> None:
        self._cursor = cursor
        self._findings = findings
        self._grammar = grammar
        self._height = 0

    def call(self, name: Token) -> int:
        """The arguments and the window; returns the height."""
        cursor = self._cursor
        self._height = 0
        with self._findings.aggregate():
            first = cursor.peek(1)
            arguments = self._arguments(name)
            if cursor.take("ignore", "respect"):
                cursor.expect("nulls")
            if not cursor.take("over"):
                self._findings.refuse(Refusal.of_family(cursor.since(name), AGGREGATE))
                return 1
            if not cursor.at("("):
                raise Refused(Refusal.spelling(f"over {cursor.peek().text}", _NAMED))
            opening = cursor.step()
            among = self._listed() if self._takes("partition", "by") else ()
            rest = cursor.peek().start
            order = self._order() if self._takes("order", "by") else ""
            frame = self._frame()
            cursor.expect(")")
        text, start = cursor.since(name), name.start
        places = first.start - start, opening.stop - start, rest - start
        found = WindowCall(text, start, name.key, arguments, among, order, frame, *places)
        self._findings.windows.append(found)
        return bounded(1 + self._height)

    def _takes(self, *words: str) -> bool:
        if not self._cursor.at(*words):
            return False
        for _ in words:
            self._cursor.step()
        return True

    def _arguments(self, name: Token) -> tuple[str, ...]:
        cursor = self._cursor
        cursor.expect("(")
        if name.key == "count" and cursor.at("*", ")"):
            cursor.step()
            cursor.step()
            return ("*",)
        if cursor.take("distinct"):
            call = f"{name.text}(distinct ...)"
            raise Refused(Refusal.distinct_over_window(call))
        listed = () if cursor.at(")") else self._listed()
        if not cursor.take(")"):
            cursor.fail("a comma or the end of the arguments")
        return listed

    def _listed(self) -> tuple[str, ...]:
        found = [self._expression()]
        while self._cursor.take(","):
            found.append(self._expression())
        return tuple(found)

    def _expression(self) -> str:
        first = self._cursor.peek()
        self._height = max(self._height, self._grammar.expression())
        return self._cursor.since(first)

    def _order(self) -> str:
        cursor = self._cursor
        first = cursor.peek()
        while True:
            self._expression()
            cursor.take("asc", "desc")
            if cursor.take("nulls") and not cursor.take("first", "last"):
                cursor.fail("FIRST or LAST")
            if not cursor.take(","):
                return cursor.since(first)

    def _frame(self) -> str:
        cursor = self._cursor
        first = cursor.take("rows", "range")
        if first is None:
            return ""
        if cursor.take("between"):
            self._bound()
            cursor.expect("and")
        self._bound()
        return cursor.since(first)

    def _bound(self) -> None:
        cursor = self._cursor
        if cursor.take("current"):
            cursor.expect("row")
            return
        if not cursor.take("unbounded"):
            if cursor.peek().kind is TokenKind.END:
                cursor.fail("a bound of the window")
            self._height = max(self._height, self._grammar.value_within())
        if not cursor.take("preceding", "following"):
            cursor.fail("PRECEDING or FOLLOWING")
