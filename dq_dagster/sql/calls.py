"""Calls of functions, casts and lambdas in an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dq_dagster.sql.aggregate_calls import AggregateCalls
from dq_dagster.sql.findings import MAX_DIGITS, Place, bounded, take_subquery
from dq_dagster.sql.functions import (
    AGGREGATES,
    ALLOWED,
    GATHERED,
    HIGHER_ORDER,
    SIZE_SECOND,
    SIZES,
    SPELLED,
    UNIT_FIRST,
)
from dq_dagster.sql.keywords import (
    ARGUMENT_UNITS,
    CALL_SUFFIXES,
    CLOCKS,
    HIDDEN,
    SESSION_NAMES,
    SHAPING,
)
from dq_dagster.sql.literals import take_type
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.refused_functions import (
    AGGREGATE,
    IN_LAMBDA,
    NESTED,
    OUTSIDE_SUBQUERIES,
    REFUSED,
    SUFFIXED,
    WINDOW,
    Family,
)
from dq_dagster.sql.tokens import NAMES, Refused, Token, TokenKind, unquoted
from dq_dagster.sql.window_calls import WINDOWED, WindowCalls

if TYPE_CHECKING:
    from dq_dagster.sql.findings import Findings
    from dq_dagster.sql.grammar import Grammar
    from dq_dagster.sql.tokens import Cursor

# dateadd(unit, amount, time): with fewer arguments the first one is an ordinary value.
_ARGUMENTS_WITH_UNIT = 3
# Spark reads some of these as the session even where a lambda variable has the name; left and
# right are what its own examples call such variables.
_NO_VARIABLES = (SHAPING | CLOCKS | SESSION_NAMES | HIDDEN.keys()) - {"left", "right"}


class Calls:
    """Reads whatever is a word in front of a bracket; arguments go back to the grammar."""

    def __init__(self, cursor: Cursor, findings: Findings, grammar: Grammar) -> None:
        self._cursor = cursor
        self._findings = findings
        self._grammar = grammar
        self._aggregates = AggregateCalls(cursor, findings, grammar)
        self._windows = WindowCalls(cursor, findings, grammar)

    def call(self) -> int:
        """A function and its arguments, or a cast."""
        name = self._cursor.step()
        if name.key in {"cast", "try_cast"}:
            return self._cast()
        if name.key in WINDOWED and self._findings.place is Place.ACROSS_ROWS:
            return self._windows.call(name)
        is_aggregate = name.key in AGGREGATES and self._findings.place is Place.DATASET
        if is_aggregate or self._counts_what_is_gathered(name):
            height = self._aggregate(name)
        elif name.key in ALLOWED:
            self._findings.functions.add(name.key)
            height = bounded(1 + self._arguments(name.key))
        else:
            self._cursor.skip_bracket()
            self._refuse(name, self._family(name))
            return 1
        if self._cursor.peek().key in CALL_SUFFIXES:
            self._refuse(name, AGGREGATE if self._findings.place is Place.ROW else SUFFIXED)
        return height

    def _counts_what_is_gathered(self, name: Token) -> bool:
        """Whether it is ``size(collect_set(x))`` or its like, which can be counted instead."""
        cursor = self._cursor
        return (
            name.key in SIZES
            and cursor.peek(1).key in GATHERED
            and cursor.peek(2).key == "("
            and cursor.behind(2).key in {")", "filter"}
        )

    def _aggregate(self, name: Token) -> int:
        if self._findings.place is Place.DATASET and not self._findings.in_lambda:
            return self._aggregates.call(name)
        self._cursor.skip_bracket()
        families = {
            Place.ROW: AGGREGATE,
            Place.AGGREGATE: NESTED,
            Place.DATASET: IN_LAMBDA,
            Place.QUERY: OUTSIDE_SUBQUERIES,
            Place.ACROSS_ROWS: AGGREGATE,
        }
        self._refuse(name, families[self._findings.place])
        return 1

    def _family(self, name: Token) -> Family | None:
        """Why a function is refused at this place; nothing if it is not known."""
        if name.key in AGGREGATES and self._findings.place is Place.AGGREGATE:
            return NESTED
        if name.key in AGGREGATES and self._findings.place is Place.QUERY:
            return OUTSIDE_SUBQUERIES
        return REFUSED.get(name.key)

    def _refuse(self, name: Token, family: Family | None) -> None:
        """Says why a call is refused; the cursor is behind its bracket."""
        cursor = self._cursor
        while suffix := cursor.take_in(CALL_SUFFIXES):
            if self._findings.place is not Place.ACROSS_ROWS:
                family = WINDOW if suffix.key == "over" else family or AGGREGATE
            cursor.take("group", "nulls")
            if cursor.at("("):
                cursor.skip_bracket()
            elif suffix.key == "over":
                cursor.step()
        if name.kind is TokenKind.QUOTED:
            self._findings.refuse(Refusal.named_function(name.text))
        elif family:
            self._findings.refuse(Refusal.of_family(cursor.since(name), family))
        else:
            self._findings.refuse(Refusal.unknown_function(name.text, self._known))

    @property
    def _known(self) -> frozenset[str]:
        in_place = self._findings.place is Place.DATASET
        return ALLOWED.union(AGGREGATES) if in_place else ALLOWED

    def _cast(self) -> int:
        self._cursor.expect("(")
        height = self._grammar.expression()
        self._cursor.expect("as")
        take_type(self._cursor)
        self._cursor.expect(")")
        return bounded(1 + height)

    def _arguments(self, function: str) -> int:
        cursor = self._cursor
        if take_subquery(cursor, self._findings, is_value=False):
            return 1
        with_unit = function in UNIT_FIRST and cursor.arguments() == _ARGUMENTS_WITH_UNIT
        is_spelled = function in SPELLED and cursor.holds(*SPELLED[function])
        cursor.expect("(")
        # Spark reads current_date(a) as current_date with an alias, so clocks have no arguments.
        if cursor.at(")") or function in CLOCKS:
            height = 0
        elif is_spelled:
            height = self._spelled(function)
        elif with_unit:
            height = self._with_unit()
        else:
            height = self._listed(function)
        if not cursor.take(")"):
            cursor.fail("a comma or the end of the arguments")
        return height

    def _spelled(self, function: str) -> int:
        """Arguments with words between them; where those stand, conditions need brackets."""
        match function:
            case "extract":
                return self._extracted()
            case "trim":
                return self._trimmed()
            case "position":
                return self._in_turn("in", or_commas=True)
            case "overlay":
                return self._in_turn("placing", "from", "for")
            case _:
                return self._in_turn("from", "for", or_commas=True)

    def _in_turn(self, needed: str, *others: str, or_commas: bool = False) -> int:
        """``overlay(a PLACING 'x' FROM 1 FOR 2)``: values with these words between them."""
        cursor, value = self._cursor, self._grammar.value_within
        comma = (",",) if or_commas else ()
        heights = [value()]
        if not cursor.take(needed, *comma):
            cursor.fail(f"'{needed.upper()}'")
        heights.append(value())
        words = list(others)
        if needed == "placing":
            cursor.expect(words.pop(0))
            heights.append(value())
        if words and cursor.take(*words, *comma):
            heights.append(value())
        return max(heights)

    def _trimmed(self) -> int:
        """``trim(BOTH 'x' FROM a)``, ``trim(LEADING FROM a)`` or ``trim('x' FROM a)``."""
        cursor, value = self._cursor, self._grammar.value_within
        sided = cursor.take("both", "leading", "trailing")
        height = 0 if sided and cursor.at("from") else value()
        if not sided and not cursor.at("from"):
            # The word belonged to a CASE within.
            return max(height, value()) if cursor.take(",") else height
        cursor.expect("from")
        return max(height, value())

    def _extracted(self) -> int:
        """``extract(year FROM ts)``."""
        if self._cursor.peek().kind not in NAMES:
            self._cursor.fail("a field like YEAR")
        self._cursor.step()
        self._cursor.expect("from")
        return self._grammar.value()

    def _with_unit(self) -> int:
        """``dateadd(DAY, amount, time)``; with conditions in it, DAY would be a column."""
        if not self._cursor.take_in(ARGUMENT_UNITS):
            self._cursor.fail("a unit like DAY")
        self._cursor.expect(",")
        amount = self._grammar.value()
        self._cursor.expect(",")
        return max(amount, self._grammar.value())

    def _listed(self, function: str) -> int:
        cursor = self._cursor
        heights = [self._argument(function)]
        if function in SIZE_SECOND and cursor.take(","):
            self._size(function)
        while cursor.take(","):
            heights.append(self._argument(function))
        return max(heights)

    def _size(self, function: str) -> None:
        """The argument that sets the size of the result: a small number, written as such."""
        cursor = self._cursor
        if function == "format_number" and cursor.peek().kind is TokenKind.STRING:
            cursor.step()
            return
        cursor.take("-")
        size = cursor.step().text
        if not size.isdigit() or len(size) > MAX_DIGITS:
            raise Refused(Refusal.size(function, MAX_DIGITS))

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
        if token.kind not in NAMES or token.key in _NO_VARIABLES:
            self._cursor.fail("the name of a lambda variable")
        return unquoted(self._cursor.step())
