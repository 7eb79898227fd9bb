"""What changes between two states of some rules: for those who rely on data, and who deliver it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from dq_dagster.judging.wording import plural
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.strictness import Effect, field_changes, is_advice, together
from dq_dagster.ruleset import RuleSet
from dq_dagster.sources.contracts.document import is_contract
from dq_dagster.sources.contracts.load import load_contract
from dq_dagster.sources.yaml.files import load_rules


class ChangeLevel(StrEnum):
    """Whom a change concerns, the gravest first."""

    BREAKING = "breaking"
    """The promise to those who rely on the data is weaker, or another one."""
    STRICTER = "stricter"
    """The promise is as good or better; data that was fine may be an Error now."""
    HARMLESS = "harmless"
    """What is an Error is the same."""


_LEVELS = {
    Effect.DIFFERENT: ChangeLevel.BREAKING,
    Effect.WEAKER: ChangeLevel.BREAKING,
    Effect.TIGHTER: ChangeLevel.STRICTER,
    Effect.ADVICE: ChangeLevel.HARMLESS,
    Effect.SAME: ChangeLevel.HARMLESS,
}
_HEADINGS = {
    ChangeLevel.BREAKING: "Breaking: the promise is weaker, or another one",
    ChangeLevel.STRICTER: "Stricter: data that was fine may be an Error",
    ChangeLevel.HARMLESS: "Harmless: the same is an Error as before",
}


@dataclass(frozen=True, slots=True)
class RuleChange:
    """What became of one rule, or of a rule set as such (then ``rule`` is empty)."""

    asset: str
    rule: str
    change: str
    level: ChangeLevel
    reasons: tuple[str, ...] = ()
    place: str = ""
    rules: tuple[Rule | None, Rule | None] = (None, None)
    """The rule as it was, and as it is."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "asset": self.asset,
            "rule": self.rule,
            "change": self.change,
            "level": self.level.value,
            "reasons": list(self.reasons),
            "place": self.place,
        }

    def __str__(self) -> str:
        what = f"{self.asset}, {self.rule}" if self.rule else self.asset
        place = f"  [{self.place}]" if self.place else ""
        return f"{what}: {self.change}{place}"


@dataclass(frozen=True, slots=True)
class ContractDiff:
    """All changes, the gravest first."""

    changes: tuple[RuleChange, ...]

    def of(self, level: ChangeLevel | str) -> tuple[RuleChange, ...]:
        return tuple(one for one in self.changes if one.level == level)

    @property
    def is_breaking(self) -> bool:
        return bool(self.of(ChangeLevel.BREAKING))

    @property
    def counts(self) -> dict[str, int]:
        return {level.value: len(self.of(level)) for level in ChangeLevel}

    @property
    def headline(self) -> str:
        if not self.changes:
            return "No changes"
        parts = [f"{count} {level}" for level, count in self.counts.items() if count]
        return f"{plural(len(self.changes), 'change')}: {', '.join(parts)}"

    def __str__(self) -> str:
        return "\n".join([self.headline, *self._lines()])

    def _lines(self) -> Iterator[str]:
        for level in ChangeLevel:
            found = self.of(level)
            if found:
                yield f"\n{_HEADINGS[level]}"
            for one in found:
                yield f"  {one}"
                yield from (f"    {reason}" for reason in one.reasons)

    def to_dict(self) -> dict[str, Any]:
        return {"counts": self.counts, "changes": [one.to_dict() for one in self.changes]}


def rule_sets_in(path: str | Path, *, trusted: bool = True) -> list[RuleSet]:
    """The rule sets of a contract, of a rules file, or of a folder of those."""
    if is_contract(path):
        return load_contract(path, trusted=trusted).rule_sets
    return load_rules(path, trusted=trusted)


def contract_diff(old: Sequence[RuleSet], new: Sequence[RuleSet]) -> ContractDiff:
    """What the new rules promise otherwise than the old ones."""
    was, now = ({one.asset_name: one for one in some} for some in (old, new))
    found: list[RuleChange] = []
    for asset in dict.fromkeys([*was, *now]):
        found += _of_asset(asset, was.get(asset), now.get(asset))
    order = list(ChangeLevel)
    return ContractDiff(tuple(sorted(found, key=lambda one: order.index(one.level))))


def _of_asset(asset: str, old: RuleSet | None, new: RuleSet | None) -> Iterator[RuleChange]:
    before = {} if old is None else {rule.check_name: rule for rule in old.rules}
    after = {} if new is None else {rule.check_name: rule for rule in new.rules}
    gone = [rule for name, rule in before.items() if name not in after]
    come = [rule for name, rule in after.items() if name not in before]
    renamed = dict(_renamed(gone, come))
    places = _Places(old, new)
    for name, rule in after.items():
        if name in before:
            yield from _changed(asset, before[name], rule, places)
    for was, now in renamed.values():
        yield from _changed(asset, was, now, places)
    for rule in gone:
        if id(rule) not in renamed:
            yield _removed(asset, rule, places)
    taken = {id(now) for _, now in renamed.values()}
    yield from (_added(asset, rule, places) for rule in come if id(rule) not in taken)
    if old is not None and new is not None:
        yield from _settings(asset, old, new)


@dataclass(frozen=True, slots=True)
class _Places:
    old: RuleSet | None
    new: RuleSet | None

    def of(self, rule: Rule, *, before: bool = False) -> str:
        home = self.old if before else self.new
        place = "" if home is None else home.origin.of(rule)
        return "" if place == "Python" else place


def _renamed(gone: Sequence[Rule], come: Sequence[Rule]) -> Iterator[tuple[int, tuple[Rule, Rule]]]:
    """Rules that say the same under another name, or at least are about the same."""
    left = list(come)
    for alike in (_says_the_same, _is_about_the_same, _shares_columns):
        for rule in gone:
            twins = [one for one in left if alike(rule, one)]
            others = [one for one in gone if alike(one, rule)]
            if len(twins) == 1 and len(others) == 1:
                left.remove(twins[0])
                yield id(rule), (rule, twins[0])


def _says_the_same(old: Rule, new: Rule) -> bool:
    return old.type == new.type and not field_changes(old, new)


def _is_about_the_same(old: Rule, new: Rule) -> bool:
    subject = ("columns", "where", "metric", "expectation", "reference", "pattern")
    return old.type == new.type and all(
        getattr(old, name, None) == getattr(new, name, None) for name in subject
    )


def _shares_columns(old: Rule, new: Rule) -> bool:
    same_rows = old.type == new.type and old.where == new.where
    columns = [set(getattr(one, "columns", ())) for one in (old, new)]
    return same_rows and bool(columns[0] & columns[1])


def _changed(asset: str, old: Rule, new: Rule, places: _Places) -> Iterator[RuleChange]:
    changes = field_changes(old, new)
    if not old.enabled and not new.enabled:
        changes = [replace(one, effect=Effect.SAME) for one in changes]
    renamed = old.check_name != new.check_name
    if not changes and not renamed:
        return
    effect = together([one.effect for one in changes])
    reasons = [f"{one.words}{_NOTES[one.effect]}" for one in changes]
    words = {Effect.SAME: "changed", Effect.ADVICE: "changed in its Warnings"}.get(
        effect, str(effect)
    )
    if renamed:
        words = "renamed" if not changes else f"renamed, {words}"
        reasons.insert(0, f"It was {old.name}: its history stays with the old name.")
    yield RuleChange(
        asset, new.name, words, _LEVELS[effect], tuple(reasons), places.of(new), (old, new)
    )


_WORDS = {Effect.SAME: "changed", Effect.ADVICE: "changed in its Warnings"}
_NOTES = {
    Effect.SAME: "",
    Effect.ADVICE: " (Warnings only)",
    Effect.TIGHTER: " (tighter)",
    Effect.WEAKER: " (weaker)",
    Effect.DIFFERENT: " (not comparable)",
}


def _removed(asset: str, rule: Rule, places: _Places) -> RuleChange:
    place = places.of(rule, before=True)
    if not rule.enabled or is_advice(rule):
        why = "It was disabled." if not rule.enabled else "It was never an Error."
        return RuleChange(asset, rule.name, "removed", ChangeLevel.HARMLESS, (why,), place)
    return RuleChange(asset, rule.name, "removed", ChangeLevel.BREAKING, (rule.demand(),), place)


def _added(asset: str, rule: Rule, places: _Places) -> RuleChange:
    place = places.of(rule)
    if not rule.enabled or is_advice(rule):
        why = "It is disabled." if not rule.enabled else "It is never an Error."
        return RuleChange(
            asset, rule.name, "added", ChangeLevel.HARMLESS, (why,), place, (None, rule)
        )
    demand = rule.demand()
    return RuleChange(
        asset, rule.name, "added", ChangeLevel.STRICTER, (demand,), place, (None, rule)
    )


# What a rule set says beside its rules; what rules inherit is compared with them.
_SETTINGS = {
    "reader": Effect.DIFFERENT,
    "partition_expr": Effect.DIFFERENT,
    "incremental": Effect.SAME,
    "timeout": Effect.SAME,
    "samples": Effect.SAME,
}


def _settings(asset: str, old: RuleSet, new: RuleSet) -> Iterator[RuleChange]:
    for name, effect in _SETTINGS.items():
        if getattr(old, name) != getattr(new, name):
            yield RuleChange(asset, "", f"{name} is another one", _LEVELS[effect])
    shown = [column for column in old.sensitive if column not in new.sensitive]
    if shown:
        reason = f"Values of {', '.join(shown)} may be shown."
        yield RuleChange(asset, "", "sensitive is shorter", ChangeLevel.BREAKING, (reason,))
    hidden = [column for column in new.sensitive if column not in old.sensitive]
    if hidden:
        reason = f"Values of {', '.join(hidden)} are masked."
        yield RuleChange(asset, "", "sensitive is longer", ChangeLevel.HARMLESS, (reason,))
