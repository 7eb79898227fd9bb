"""Reads a whole text as one expression. The text is judged alone, in plain Python."""

from __future__ import annotations

from functools import lru_cache

from dq_dagster.sql.cursor import Cursor
from dq_dagster.sql.findings import Findings, Place
from dq_dagster.sql.grammar import Grammar
from dq_dagster.sql.keywords import AFTER_VALUES, STATEMENT_STARTS
from dq_dagster.sql.limits import MAX_LENGTH, MAX_NESTING
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import NAMES, Kind, Refused, Token, tokenise

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
    if first.kind is Kind.END:
        raise Refused(Refusal.empty())
    if first.key in {"select", "with", "from"}:
        raise Refused(Refusal.subquery(text))
    goes_on = second.key in AFTER_VALUES
    if first.key in STATEMENT_STARTS and second.kind in NAMES and not goes_on:
        raise Refused(Refusal.statement(text))
    return tokens
