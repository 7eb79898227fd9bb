"""Rule sets as YAML, as people would write them: what is said, and no defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from dq_dagster.errors import DeclarationError
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import RuleSet
from dq_dagster.sources.yaml.text import to_yaml

# Said or not said makes a difference, whatever is said: dq.split leaves rows out by default.
_ALWAYS = {"action_if_failed"}


def rule_sets_as_yaml(rule_sets: Sequence[RuleSet]) -> str:
    """A file from which ``dq.load_rules`` reads the same rule sets."""
    written = [_rule_set(one) for one in rule_sets]
    return to_yaml(written[0] if len(written) == 1 else {"assets": written})


def _rule_set(rule_set: RuleSet) -> dict[str, Any]:
    rules = [rule_as_written(rule, rule_set) for rule in rule_set.rules]
    return {"asset": rule_set.asset_name, **settings_as_written(rule_set), "rules": rules}


def settings_as_written(rule_set: RuleSet) -> dict[str, Any]:
    """What a rule set says beside its asset and its rules."""
    return {
        name: _plain(getattr(rule_set, name), name)
        for name in RuleSet.model_fields
        if name in rule_set.model_fields_set and name not in {"asset", "rules"}
    }


def rule_as_written(rule: Rule, rule_set: RuleSet) -> dict[str, Any]:
    """The fields that declare a rule within its rule set."""
    said: dict[str, Any] = {"type": rule.type, "name": rule.name}
    for name, field in type(rule).model_fields.items():
        value = getattr(rule, name)
        default = field.get_default(call_default_factory=True, validated_data={})
        is_said = name in rule.model_fields_set and name not in said
        # What the rule set says for all of its rules is filled in there.
        inherited = name in RuleSet.model_fields and value == getattr(rule_set, name)
        if is_said and not inherited and (value != default or name in _ALWAYS):
            said[name] = _plain(value, name)
    return said


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, BaseModel):
        given = {key: one for key, one in value if key in value.model_fields_set}
        return {key: _plain(one, name) for key, one in given.items() if one is not None}
    if isinstance(value, Mapping):
        return {key: _plain(one, name) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, name) for one in value]
    if callable(value):
        raise DeclarationError.of(
            f"field '{name}': a function cannot be written into a file; name it as "
            "'package.module:function'."
        )
    return value
