"""Whether a value of a column is valid for a meaning, as a rule declares it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from tests.oracle import kinds
from tests.oracle.meaning_texts import ORACLE
from tests.oracle.patterns import matches
from tests.oracle.values import Misfit, constant, exactly, is_nan

Judge = Callable[[Any], bool]


def _finite(value: Any) -> bool:
    return math.isfinite(value)


def _whole(value: Any) -> bool:
    return _finite(value) and exactly(value).denominator == 1


#: Which types besides text a built-in meaning fits, and what is valid there.
TYPED: dict[str, tuple[tuple[str, ...], Judge]] = {
    "decimal": (kinds.NUMERIC, _finite),
    "integer": (kinds.NUMERIC, _whole),
    "boolean": ((kinds.BOOLEAN,), lambda value: True),
    "date": ((kinds.DATE,), lambda value: True),
    "datetime_with_zone": ((kinds.TIMESTAMP,), lambda value: True),
    "datetime_without_zone": ((kinds.WALL_CLOCK,), lambda value: True),
    "latitude": (kinds.NUMERIC, lambda value: -90 <= value <= 90),
    "longitude": (kinds.NUMERIC, lambda value: -180 <= value <= 180),
}


def judge_of(meaning: str | Mapping[str, Any], kind: str) -> Judge:
    """Tells the valid values of a column of that type; Misfit if there are none to tell."""
    if isinstance(meaning, str):
        return _built_in(meaning, kind)
    if "pattern" in meaning:
        if kind not in {kinds.TEXT, kinds.VOID}:
            raise Misfit
        return lambda value: matches(meaning["pattern"], value, whole=True)
    members = meaning.get("values", meaning.get("mapping"))
    return (lambda value: True) if members is None else _members(meaning, list(members), kind)


def _built_in(name: str, kind: str) -> Judge:
    if kind == kinds.TEXT:
        return ORACLE[name]
    fits, judge = TYPED.get(name, ((), lambda value: True))
    if kind not in {*fits, kinds.VOID}:
        raise Misfit
    return judge


def _members(meaning: Mapping[str, Any], members: list[Any], kind: str) -> Judge:
    if kind == kinds.VOID:
        return lambda value: False
    known = [constant(member, kind) for member in members]
    if kind == kinds.TEXT:
        fold = FOLDS[meaning.get("match", "exact")]
        texts = set(map(fold, known))
        return lambda value: fold(value) in texts
    return lambda value: exactly(value) in known or (is_nan(value) and any(map(is_nan, known)))


def without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    kept = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", kept).lower()


FOLDS: dict[str, Callable[[str], str]] = {
    "exact": str,
    "ignore_case": str.lower,
    "ignore_accents": without_accents,
}
