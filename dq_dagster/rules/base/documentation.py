"""What the docstring and the fields of a rule type say to its users.

A docstring has a meaning in one sentence, further sentences where they are needed, a paragraph
that begins with "Observed:", and an example in YAML after "Example::".
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from dq_dagster.rules.base.column_rules import RuleWithColumns
from dq_dagster.rules.base.rule import Rule

_EXAMPLE = "Example::\n"
_OBSERVED = "Observed: "


@dataclass(frozen=True, slots=True)
class Documentation:
    """What a rule type means; a part that its docstring leaves out is empty."""

    meaning: str
    details: tuple[str, ...]
    observed: str
    example: str

    @classmethod
    def of(cls, rule: type[Rule]) -> Self:
        prose, _, example = inspect.cleandoc(rule.__doc__ or "").partition(_EXAMPLE)
        paragraphs = [part.strip() for part in _markdown(prose).split("\n\n")]
        observed = [part for part in paragraphs if part.startswith(_OBSERVED)]
        meaning, *details = [part for part in paragraphs if part not in observed] or [""]
        return cls(
            _one_line(meaning),
            # Line by line as they are: there may be lists among them.
            tuple(filter(None, details)),
            _one_line("".join(observed)).removeprefix(_OBSERVED),
            dedent(example).strip(),
        )


@dataclass(frozen=True, slots=True)
class FieldNote:
    """A field as its type's documentation lists it."""

    name: str
    default: str
    meaning: str


def own_fields(rule: type[Rule]) -> list[FieldNote]:
    """The fields it has besides those of all rules, or means otherwise; required ones first."""
    shared = RuleWithColumns if issubclass(rule, RuleWithColumns) else Rule
    own = [
        (name, field)
        for name, field in rule.model_fields.items()
        if name != "type" and _differs(field, shared.model_fields.get(name))
    ]
    own.sort(key=lambda item: not item[1].is_required())
    return [note for name, field in own for note in _notes(field.alias or name, field)]


def _notes(name: str, field: FieldInfo) -> Iterator[FieldNote]:
    """The field itself, and then the fields of which it is made."""
    yield FieldNote(name, _default(field), _meaning(field))
    for model in _parts(field.annotation):
        for inner, part in model.model_fields.items():
            yield from _notes(f"{name}.{inner}", part)


def _parts(annotation: Any) -> list[type[BaseModel]]:
    """The model that a field consists of; none if it can be something else, too."""
    forms = _forms(annotation)
    models = [form for form in forms if isinstance(form, type) and issubclass(form, BaseModel)]
    return models if len(forms) == 1 else []


def _forms(annotation: Any) -> list[Any]:
    """What a field can be, apart from nothing."""
    united = get_origin(annotation) in {Union, UnionType}
    forms = get_args(annotation) if united else (annotation,)
    return [form for form in forms if form is not NoneType]


def _differs(field: FieldInfo, shared: FieldInfo | None) -> bool:
    return shared is None or field.description != shared.description


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True, validated_data={})
    if default is None or (isinstance(default, Collection) and not default):
        return "none"
    return default if isinstance(default, str) else json.dumps(default, default=str)


def _meaning(field: FieldInfo) -> str:
    meaning = _one_line(_markdown(field.description or ""))
    left_out = [choice for choice in _choices(field) if f"`{choice}`" not in meaning]
    if not left_out:
        return meaning
    return f"{meaning} One of {', '.join(f'`{choice}`' for choice in _choices(field))}."


def _choices(field: FieldInfo) -> list[Any]:
    forms = _forms(field.annotation)
    if any(get_origin(form) is not Literal for form in forms):
        return []
    return [choice for form in forms for choice in get_args(form)]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _markdown(text: str) -> str:
    """Docstrings mark code with two backticks, Markdown with one."""
    return text.replace("``", "`")
