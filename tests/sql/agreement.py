"""Whether Spark's parser reads an accepted text as the front door does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from pyspark.errors import ParseException

from dq_dagster.sql import columns_used
from dq_dagster.sql.keywords import CLOCKS
from dq_dagster.sql.tokens import TokenKind, tokenise
from tests.sql.spark_reading import Reading, SparkParser

Columns = Callable[[str], tuple[str, ...]]

#: All that Spark's parser may make of an accepted text: no query, no window, no alias, no star.
HARMLESS_NODES = frozenset(
    """
    Add And BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CaseWhen Cast Collate Concat
    CreateNamedStruct Divide EqualNullSafe EqualTo GreaterThan GreaterThanOrEqual ILike In
    IntegralDivide IsNotNull IsNotUnknown IsNull IsUnknown LambdaFunction LessThan
    LessThanOrEqual Like LikeAll LikeAny Literal Lower Multiply Not NotLikeAll NotLikeAny Or
    Overlay RLike Remainder SortOrder StringLocate StringTrim StringTrimLeft StringTrimRight
    Substring Subtract TimestampAdd TimestampDiff UnaryMinus UnaryPositive UnresolvedAttribute
    UnresolvedCollation UnresolvedExtractValue UnresolvedFunction UnresolvedNamedLambdaVariable
    """.split()
)
#: Operators that Spark's parser turns into calls.
OPERATOR_FUNCTIONS = frozenset({"[between]"})


def disagreements(parser: SparkParser, text: str, columns: Columns = columns_used) -> Iterator[str]:
    """How Spark's reading of an accepted text differs from ours."""
    try:
        alone, embedded = parser.read(text), parser.read(f"({text})")
    except ParseException as error:
        yield f"Spark does not read it: {error.getCondition()}"
        return
    if not re.fullmatch(expected_tokens(text), parser.tokens(text)):
        yield "other tokens"
    if alone != embedded:
        yield "another meaning between brackets"
    if alone:
        yield from differences(text, alone, columns(text))


def differences(text: str, reading: Reading, used: tuple[str, ...]) -> Iterator[str]:
    if strange := reading.nodes - HARMLESS_NODES:
        yield f"nodes {sorted(strange)}"
    functions = {name.lower() for name in reading.functions}
    if unseen := functions - {f"[{name}]" for name in calls(text)} - OPERATOR_FUNCTIONS:
        yield f"calls of {sorted(unseen)}"
    named = {name for name in reading.columns if name[1:-1].lower() not in CLOCKS}
    if unseen := {name for name in named if not starts_with_one_of(used, name)}:
        yield f"columns {sorted(unseen)}"
    if invented := [name for name in used if not is_start_of_one_of(reading, name)]:
        yield f"no columns {invented}"


def calls(text: str) -> set[str]:
    return {token.key for token, behind in pairwise(tokenise(text)) if behind.key == "("}


def starts_with_one_of(names: tuple[str, ...], parts: str) -> bool:
    return any(parts == f"[{name}]" or parts.startswith(f"[{name}, ") for name in names)


def is_start_of_one_of(reading: Reading, name: str) -> bool:
    return any(
        starts_with_one_of((name,), parts) for parts in reading.columns | reading.lambda_names
    )


def expected_tokens(text: str) -> str:
    """A pattern for ANTLR's notation of our tokens and the spaces between them."""
    pieces, position = [], 0
    for token in tokenise(text):
        if token.start > position:
            pieces.append(antlr_notation(text, position, token.start, r"channel=1,"))
        if token.kind is not TokenKind.END:
            pieces.append(antlr_notation(text, token.start, token.stop, ""))
        position = token.stop
    return rf"\[{', '.join(pieces)}\]"


def antlr_notation(text: str, start: int, stop: int, channel: str) -> str:
    shown = text[start:stop].replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")
    return re.escape(f"[@-1,{start}:{stop - 1}='{shown}',<") + rf"\d+>,{channel}\d+:\d+\]"
