"""The front door for SQL that users write about all rows together: conditions on aggregates.

Like row expressions, these texts are judged alone and without Spark. Around and within aggregates
the same functions and operators are allowed as in a row expression; every column stands within
an aggregate, no aggregate within another, and there is at least one.
"""

from __future__ import annotations

from collections.abc import Callable

from dq_dagster.sql.aggregate_call import AggregateCall
from dq_dagster.sql.findings import Findings, Place
from dq_dagster.sql.reading import read
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.row_expression import refusals
from dq_dagster.sql.tokens import tokenise


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


def handles_nan(text: str) -> bool:
    """Whether the text says itself what is to become of NaN."""
    return not _findings(text).functions.isdisjoint({"isnan", "nanvl"})


def _findings(text: str) -> Findings:
    return read(text, Place.DATASET)


def _words(text: str) -> tuple[str, ...]:
    return tuple(token.key or token.text for token in tokenise(text))
