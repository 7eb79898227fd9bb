"""The front door for SQL that users write: about single rows, and about aggregates of all rows.

The text is judged alone, as plain Python and without Spark, so the answer is the same when rules
are declared, on classic Spark and on Spark Connect. A text without refusals is one complete
expression; it stays one when it is put between brackets in a larger one. Whether its columns
exist and whether it is a condition at all, Spark says later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dq_dagster.sql.findings import MAX_LENGTH, MAX_NESTING, AggregateCall, Findings, Place
from dq_dagster.sql.grammar import Grammar
from dq_dagster.sql.keywords import AFTER_VALUES, STATEMENT_STARTS
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import NAMES, Cursor, Refused, Token, TokenKind, tokenise

# Rules, metrics and plans ask about the same few texts many times.
_REMEMBERED = 1024


def read(text: str, place: Place) -> Findings:
    """What the text names and calls, and why it is refused, if it is."""
    try:
        return _read(text, place)
    except RecursionError:
        # The caller's own stack was nearly full. The next one's may not be.
        findings = Findings(place)
        findings.refusals[Refusal.too_deep(MAX_NESTING)] = None
        return findings


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str, place: Place) -> Findings:
    findings = Findings(place)
    try:
        Grammar(Cursor(text, _tokens(text)), findings).read()
    except Refused as stop:
        findings.refusals[stop.refusal] = None
    return findings


def _tokens(text: str) -> tuple[Token, ...]:
    """The tokens, unless the text is of another sort than an expression."""
    if len(text) > MAX_LENGTH:
        raise Refused(Refusal.too_long(len(text), MAX_LENGTH))
    tokens = tokenise(text)
    first, second = (*tokens, tokens[-1])[:2]
    if first.kind is TokenKind.END:
        raise Refused(Refusal.empty())
    if first.key in {"select", "with", "from"}:
        raise Refused(Refusal.subquery(text))
    goes_on = second.key in AFTER_VALUES
    if first.key in STATEMENT_STARTS and second.kind in NAMES and not goes_on:
        raise Refused(Refusal.statement(text))
    return tokens


def refusals(text: str) -> tuple[Refusal, ...]:
    """Why the text is not taken as a row expression; nothing if it is taken."""
    return tuple(read(text, Place.ROW).refusals)


def columns_used(text: str) -> tuple[str, ...]:
    """The columns an accepted text names, in order: of ``address.city`` it is ``address``.

    Check that they exist before the text runs: where a column is missing, Spark looks for a
    session variable, a user or an alias of the same name.
    """
    return tuple(read(text, Place.ROW).columns)


def aggregate_refusals(text: str) -> tuple[Refusal, ...]:
    """Why the text is not taken as an aggregate expression; nothing if it is taken."""
    found = _findings(text)
    if found.refusals:
        return tuple(found.refusals)
    if not found.calls:
        return (Refusal.no_aggregate(),)
    return tuple(Refusal.loose_column(name) for name in found.loose)


def aggregate_columns_used(text: str) -> tuple[str, ...]:
    """The columns an accepted text names, in order. Check that they exist before it runs."""
    return tuple(_findings(text).columns)


def aggregate_calls(text: str) -> tuple[AggregateCall, ...]:
    """The aggregates of an accepted text in order, those that are written alike only once."""
    by_words: dict[tuple[str, ...], AggregateCall] = {}
    for call in _findings(text).calls:
        by_words.setdefault(_words(call.text), call)
    return tuple(by_words.values())


def restricted(text: str, where: str | None) -> str:
    """The same expression, whose aggregates see only the rows that pass ``where``.

    Filters of the aggregates themselves are put into their arguments too.
    """
    return _with_calls(text, lambda call: call.sql(where))


def filter_refusals(text: str) -> tuple[Refusal, ...]:
    """Why the text is not taken as a row filter; for an aggregate, also where it may go."""
    found = refusals(text)
    if all(refusal.fits != "agg_dq" for refusal in found):
        return found
    others = tuple(refusal for refusal in found if refusal.fits != "agg_dq")
    calls = _findings(text).calls
    first = calls[0].text if calls else text
    if not aggregate_refusals(text):
        return (Refusal.condition_in_filter(first, text),)
    if others or _findings(text).refusals:
        return (*others, Refusal.aggregate_in_filter(first))
    # Nothing of this runs: it is shown to the author.
    rows = _with_calls(text, lambda call: f"(select {_shown(call)} from {{table}})")  # noqa: S608
    query = f"select count(*) from {{table}} where {rows}"  # noqa: S608
    return (Refusal.aggregate_in_filter(first, query),)


def _shown(call: AggregateCall) -> str:
    """As it was written, unless it gathers what can be counted."""
    is_written = call.text.lower().startswith(call.function)
    return call.text if is_written else call.sql(None)


def _with_calls(text: str, written: Callable[[AggregateCall], str]) -> str:
    """The text with its aggregates written otherwise."""
    pieces, position = [], 0
    for call in _findings(text).calls:
        pieces += [text[position : call.start], written(call)]
        position = call.stop
    return "".join([*pieces, text[position:]])


@dataclass(frozen=True, slots=True)
class OrderTerm:
    """An expression that rows are put in order by, and how: ``DESC NULLS LAST``, or nothing."""

    expression: str
    direction: str = ""

    @property
    def sql(self) -> str:
        return f"({self.expression}) {self.direction}".rstrip()


def order_terms(text: str) -> tuple[OrderTerm, ...]:
    """What rows are put in order by, such as ``updated_at DESC, id``. Raises Refused."""
    pieces: list[list[Token]] = [[]]
    depth = 0
    for token in _tokens(text)[:-1]:
        depth += (token.key in {"(", "["}) - (token.key in {")", "]"})
        if token.key == "," and depth == 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return tuple(_order_term(text, piece) for piece in pieces)


def _order_term(text: str, tokens: list[Token]) -> OrderTerm:
    words = [token.key for token in tokens]
    size = 2 if words[-2:-1] == ["nulls"] and words[-1] in {"first", "last"} else 0
    if words[: len(words) - size][-1:] in (["asc"], ["desc"]):
        size += 1
    body = tokens[: len(tokens) - size]
    if not body:
        raise Refused(Refusal.ends_early("something to order by"))
    direction = " ".join(token.text.upper() for token in tokens[len(body) :])
    return OrderTerm(text[body[0].start : body[-1].stop], direction)


def order_refusals(text: str) -> tuple[Refusal, ...]:
    """Why rows cannot be put in order by the text; nothing if they can."""
    try:
        terms = order_terms(text)
    except Refused as stop:
        return (stop.refusal,)
    return tuple(refusal for term in terms for refusal in refusals(term.expression))


def handles_nan(text: str) -> bool:
    """Whether the text says itself what is to become of NaN."""
    return not _findings(text).functions.isdisjoint({"isnan", "nanvl"})


def _findings(text: str) -> Findings:
    return read(text, Place.DATASET)


def _words(text: str) -> tuple[str, ...]:
    return tuple(token.key or token.text for token in tokenise(text))
