"""The front door for SQL that users write about single rows: row predicates and row filters.

The text is judged alone, as plain Python and without Spark, so the answer is the same when rules
are declared, on classic Spark and on Spark Connect. A text without refusals is one complete
expression; it stays one when it is put between brackets in a larger one. Whether its columns
exist and whether it is a condition at all, Spark says later.
"""

from __future__ import annotations

from dq_dagster.sql.cursor import Cursor
from dq_dagster.sql.findings import Findings
from dq_dagster.sql.grammar import Grammar
from dq_dagster.sql.keywords import STATEMENT_STARTS
from dq_dagster.sql.limits import MAX_LENGTH, MAX_NESTING
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import NAMES, Kind, Refused, Token, tokenise


def refusals(text: str) -> tuple[Refusal, ...]:
    """Why the text is not taken as a row expression; nothing if it is taken."""
    return tuple(_read(text).refusals)


def columns_used(text: str) -> tuple[str, ...]:
    """The columns an accepted text names, in order: of ``address.city`` it is ``address``.

    Check that they exist before the text runs: where a column is missing, Spark looks for a
    session variable, a user or an alias of the same name.
    """
    return tuple(_read(text).columns)


def _read(text: str) -> Findings:
    findings = Findings()
    try:
        Grammar(Cursor(text, _tokens(text)), findings).read()
    except Refused as stop:
        findings.refusals[stop.refusal] = None
    except RecursionError:
        # The caller's own stack was nearly full.
        findings.refusals[Refusal.too_deep(MAX_NESTING)] = None
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
    if first.key in STATEMENT_STARTS and second.kind in NAMES:
        raise Refused(Refusal.statement(text))
    return tokens
