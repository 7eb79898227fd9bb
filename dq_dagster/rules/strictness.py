"""Whether a rule became weaker or tighter: what two declarations of it say, field by field.

A rule promises that data for which it is an Error is not there. It is weaker if some data that was
an Error is none any more, tighter if some data that was none is one now. Where neither can be said
from the declarations alone, the two are different, which is the answer for every field that is not
known here: a new type of rule needs no entry to be treated with care.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dq_dagster.errors import Misfit
from dq_dagster.judging.ranges import aligned
from dq_dagster.judging.wording import show_bound
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.fields.schema_columns import DECLARED, fields_of
from dq_dagster.rules.fields.threshold import AtLeast, AtMost
from dq_dagster.sql.tokens import Refused, tokenise


class Effect(StrEnum):
    """What a change does to the promise of a rule."""

    SAME = "same"
    ADVICE = "advice"
    """Only what is a Warning changes."""
    TIGHTER = "tighter"
    WEAKER = "weaker"
    DIFFERENT = "different"
    """Weaker for some data and tighter for other, or nobody can say."""


_OPPOSITE = {Effect.WEAKER: Effect.TIGHTER, Effect.TIGHTER: Effect.WEAKER}
_SERIOUS = (Effect.DIFFERENT, Effect.WEAKER, Effect.TIGHTER, Effect.ADVICE)


def together(effects: Sequence[Effect]) -> Effect:
    """What several changes do: one way, both ways, or nothing."""
    found = set(effects)
    if {Effect.WEAKER, Effect.TIGHTER} <= found:
        return Effect.DIFFERENT
    return next((one for one in _SERIOUS if one in found), Effect.SAME)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that says something else now, and what that does."""

    field: str
    effect: Effect
    words: str


def field_changes(old: Rule, new: Rule) -> list[FieldChange]:
    """All that differs between two declarations of a rule, but for its name."""
    if old.type != new.type:
        effect = _TYPES.get((old.type, new.type), Effect.DIFFERENT)
        return [FieldChange("type", effect, f"type: {new.type} instead of {old.type}")]
    found: list[FieldChange] = []
    for name in type(new).model_fields:
        before, after = getattr(old, name), getattr(new, name)
        if name in _SILENT or _alike(before, after, old, new, name):
            continue
        compare = _OF_TYPES.get((new.type, name)) or _FIELDS.get(name, _different)
        effect = compare(before, after, old, new)
        found.append(FieldChange(name, effect, _words(name, before, after)))
    return found


def is_advice(rule: Rule) -> bool:
    """Whether it is never an Error because of the data: all of its bounds are soft."""
    bounds = [getattr(rule, name) for name in ("min", "max") if hasattr(rule, name)]
    if bounds and all(bound is None for bound in bounds):
        return True
    threshold = getattr(rule, "threshold", None)
    return isinstance(threshold, AtMost | AtLeast) and threshold.tolerance.hard is None


_SILENT = {"type", "name"}
_TYPES = {
    ("schema_equals", "schema_contains"): Effect.WEAKER,
    ("schema_contains", "schema_equals"): Effect.TIGHTER,
}
_Compare = Callable[[Any, Any, Rule, Rule], Effect]


def _alike(before: Any, after: Any, old: Rule, new: Rule, name: str) -> bool:
    if name == "expected" and (before, after) == (DECLARED, DECLARED):
        return getattr(old, "_declared", None) == getattr(new, "_declared", None)
    if isinstance(before, str) and isinstance(after, str) and name in {"where", "expectation"}:
        return _pieces(before) == _pieces(after)
    return bool(before == after)


def _pieces(sql: str) -> Sequence[str]:
    """What SQL is made of: white space between its pieces means nothing, within texts it does."""
    try:
        return [token.text for token in tokenise(sql, slots=True)]
    except Refused:
        return sql


def _words(name: str, before: Any, after: Any) -> str:
    """Such as "min: 5 instead of 1", or "values: without a, and also b"."""
    if before is None or after is None:
        said = f"{_shown(after)}, not given before" if before is None else "not given any more"
        return f"{name}: {said}{'' if before is None else f', was {_shown(before)}'}"
    are_lists = isinstance(before, tuple) and isinstance(after, tuple)
    if are_lists and _hashable(before, after):
        gone = [one for one in before if one not in after]
        come = [one for one in after if one not in before]
        parts = [f"without {_listed(gone)}"] if gone else []
        parts += [f"also {_listed(come)}"] if come else []
        return f"{name}: {', and '.join(parts) or 'in another order'}"
    if name == "expected" and are_lists:
        return f"{name}: {', '.join(_columns(before, after)) or 'in another order'}"
    return f"{name}: {_shown(after)} instead of {_shown(before)}"


def _columns(before: Any, after: Any) -> Iterator[str]:
    was, now = ({one.name: one for one in fields_of(columns)} for columns in (before, after))
    yield from (f"without {name}" for name in was if name not in now)
    yield from (f"also {name}" for name in now if name not in was)
    yield from (f"{name} changed" for name in was if name in now and was[name] != now[name])


_MOST_SHOWN = 5
_LONGEST = 80


def _listed(values: Sequence[Any]) -> str:
    more = f" and {len(values) - _MOST_SHOWN} more" if len(values) > _MOST_SHOWN else ""
    return ", ".join(_shown(one) for one in values[:_MOST_SHOWN]) + more


def _shown(value: Any) -> str:
    if isinstance(value, AtMost | AtLeast):
        return value.tolerance.words()
    if isinstance(value, bool | int | float):
        return show_bound(value) if not isinstance(value, bool) else str(value).lower()
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _hashable(*values: tuple[Any, ...]) -> bool:
    return all(isinstance(one, str | int | float | bool) for some in values for one in some)


# --- comparisons --------------------------------------------------------------------------------


def _different(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    return Effect.DIFFERENT


def _same(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    return Effect.SAME


def _advice(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    return Effect.ADVICE


def _lower_bound(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    """A higher one is tighter; one that is gone is weaker."""
    if before is None or after is None:
        return Effect.TIGHTER if before is None else Effect.WEAKER
    try:
        return Effect.TIGHTER if after > aligned(before, after) else Effect.WEAKER
    except (Misfit, TypeError):
        return Effect.DIFFERENT


def _upper_bound(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    if before is None or after is None:
        return Effect.TIGHTER if before is None else Effect.WEAKER
    found = _lower_bound(before, after, old, new)
    return _OPPOSITE.get(found, found)


def _exclusive(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    sides = {None: set(), "min": {"min"}, "max": {"max"}, "both": {"min", "max"}}
    # A bound that moved says itself what it does; one that came or went did so with its side.
    still: set[str] = {side for side in ("min", "max") if getattr(old, side) == getattr(new, side)}
    was, now = sides[before] & still, sides[after] & still
    found = [Effect.TIGHTER] * bool(now - was) + [Effect.WEAKER] * bool(was - now)
    return together(found)


def _ranked(order: Sequence[Any]) -> _Compare:
    """Values from the weakest to the tightest."""

    def compare(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
        if before not in order or after not in order:
            return Effect.DIFFERENT
        tighter = order.index(after) > order.index(before)
        return Effect.TIGHTER if tighter else Effect.WEAKER

    return compare


def _larger(effect: Effect) -> _Compare:
    """Numbers of which a larger one does that; no number is like none at all."""

    def compare(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
        return effect if (after or 0) > (before or 0) else _OPPOSITE[effect]

    return compare


def _more(effect: Effect) -> _Compare:
    """Collections of which one with more in it does that."""

    def compare(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
        was, now = set(before), set(after)
        if was == now:
            return Effect.SAME
        found = [effect] * bool(now - was) + [_OPPOSITE[effect]] * bool(was - now)
        return together(found)

    return compare


def _threshold(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    was, now = _tolerated(before), _tolerated(after)
    if was == now:
        return Effect.ADVICE
    if was is None or now is None:
        # Without a hard bound nothing is an Error.
        return Effect.TIGHTER if was is None else Effect.WEAKER
    units = {was[0], now[0]}
    if len(units) > 1 and (0 not in {was[1], now[1]} or "good" in units):
        # None at all is the same number and share; else one says nothing of the other.
        return Effect.DIFFERENT
    if was[1] == now[1]:
        return Effect.SAME
    return Effect.WEAKER if now[1] > was[1] else Effect.TIGHTER


def _tolerated(threshold: Any) -> tuple[str, Any] | None:
    """How many bad rows are fine, and in which unit; None if any number is."""
    if not isinstance(threshold, AtMost | AtLeast):
        return ("proportion", 0)
    tolerance = threshold.tolerance
    if tolerance.hard is None:
        return None
    shares = tolerance.bad_shares()
    if shares:
        return ("proportion", shares[-1])
    # So many good ones are no limit on bad ones: more of either is more rows.
    return ("good", -tolerance.hard) if tolerance.of_good else ("count", tolerance.hard)


def _tolerate_nothing(*rules: Rule) -> bool:
    """Whether any bad row is an Error, so that fewer rows to judge can only break less."""
    return all(
        rule.counts_rows and (_tolerated(getattr(rule, "threshold", None)) or ("", 1))[1] == 0
        for rule in rules
    )


def _filter(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    if not _tolerate_nothing(old, new) or (before is not None and after is not None):
        return Effect.DIFFERENT
    return Effect.WEAKER if before is None else Effect.TIGHTER


def _blank(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    """Blank strings that are empty are not judged as values."""
    if bool(before) == bool(after):
        return Effect.SAME
    found = _BLANKS.get(new.type)
    if found is None:
        is_odd = hasattr(new, "empty_is_valid") or _compares_empties(old) or _compares_empties(new)
        if is_odd or not _tolerate_nothing(old, new):
            return Effect.DIFFERENT
        found = Effect.WEAKER
    return found if after else _OPPOSITE[found]


def _compares_empties(rule: Rule) -> bool:
    """Whether empties of a key equal each other, so that more of them are more that repeat."""
    several = len(getattr(rule, "columns", ())) > 1
    return rule.type == "unique_key" and (several or bool(getattr(rule, "empty_is_key", False)))


_BLANKS = {"column_not_empty": Effect.TIGHTER, "column_empty": Effect.WEAKER}


def _key(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    """What is unique by fewer columns is so by more, but for rows without any value there."""
    if set(before) < set(after):
        return Effect.WEAKER
    all_keys = all(getattr(one, "empty_is_key", False) for one in (old, new))
    if set(after) < set(before) and all_keys:
        return Effect.TIGHTER
    return Effect.SAME if set(before) == set(after) else Effect.DIFFERENT


def _on_empty(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    was, now = (before or "pass") == "error", (after or "pass") == "error"
    return Effect.ADVICE if was == now else Effect.TIGHTER if now else Effect.WEAKER


def _scope(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    if "both" not in {before, after}:
        return Effect.DIFFERENT
    return Effect.TIGHTER if after == "both" else Effect.WEAKER


def _window(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    """In a longer time there are more rows: enough sooner, too many sooner."""
    low, high = getattr(new, "min", None), getattr(new, "max", None)
    if (low is None) == (high is None):
        return Effect.DIFFERENT
    longer = after > before
    return Effect.WEAKER if longer == (high is None) else Effect.TIGHTER


def _operator(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    implied = {("<", "<="), (">", ">="), ("=", "<="), ("=", ">="), ("<", "!="), (">", "!=")}
    if (before, after) in implied:
        return Effect.WEAKER
    return Effect.TIGHTER if (after, before) in implied else Effect.DIFFERENT


def _schema(before: Any, after: Any, old: Rule, new: Rule) -> Effect:
    """The columns by name; those that are gone are not looked for any more."""
    if DECLARED in (before, after):
        return Effect.DIFFERENT
    was, now = ({one.name: one for one in fields_of(columns)} for columns in (before, after))
    found = [Effect.WEAKER] * bool(was.keys() - now.keys())
    found += [Effect.TIGHTER] * bool(now.keys() - was.keys())
    for name in was.keys() & now.keys():
        found += _column(was[name], now[name])
    return together(found)


def _column(was: Any, now: Any) -> Iterator[Effect]:
    if was.shape != now.shape or was.meaning != now.meaning:
        yield Effect.DIFFERENT
    if was.max_length != now.max_length:
        endless = float("inf")
        before, after = (
            endless if one.max_length is None else one.max_length for one in (was, now)
        )
        yield Effect.WEAKER if after > before else Effect.TIGHTER


_FIELDS: Mapping[str, _Compare] = {
    **dict.fromkeys(
        ("description", "dimensions", "top_dimensions", "quality_dimension", "tags", "owners"),
        _same,
    ),
    **dict.fromkeys(("soft_min", "soft_max", "soft_iqr_factor"), _advice),
    "enabled": _ranked((False, True)),
    "run": _ranked(("on_demand", "after_build", "with_build")),
    "blocking": _ranked((False, True)),
    "scope": _scope,
    "action_if_failed": _ranked(("ignore", "drop", "fail")),
    "on": _scope,
    "where": _filter,
    "on_empty": _on_empty,
    "empty_includes_blank": _blank,
    "columns": _more(Effect.TIGHTER),
    "threshold": _threshold,
    "min": _lower_bound,
    "max": _upper_bound,
    "exclusive": _exclusive,
    "values": _more(Effect.WEAKER),
    "ignore_case": _ranked((True, False)),
    "match": _ranked(("search", "full")),
    "empty_is_valid": _ranked((True, False)),
    "empty_is_key": _ranked((False, True)),
    "null_is": _ranked(("pass", "fail")),
    "approximate": _ranked((True, False)),
    "top": _larger(Effect.TIGHTER),
    "ties": _ranked(("any", "all")),
    "window": _window,
    "learning_period": _larger(Effect.WEAKER),
    "iqr_factor": _larger(Effect.WEAKER),
    "min_iqr": _larger(Effect.WEAKER),
}
# Fields that mean something else, or work the other way round, in rules of other types.
_OF_TYPES: Mapping[tuple[str, str], _Compare] = {
    ("schema_contains", "expected"): _schema,
    ("compare_metrics", "operator"): _operator,
    ("unique_key", "columns"): _key,
    ("column_values_in_reference", "columns"): _different,
    ("column_values_not_in_set", "values"): _more(Effect.TIGHTER),
    ("column_values_not_in_set", "ignore_case"): _ranked((False, True)),
    ("column_values_not_match", "match"): _ranked(("full", "search")),
}
