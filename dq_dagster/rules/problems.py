"""Pydantic's validation errors, told as problems that name rule, field and nearest known name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dq_dagster.errors import Problem, did_you_mean
from dq_dagster.rules.complaints import in_plain_words


def problems_of(
    error: ValidationError, model: type[BaseModel], data: Mapping[str, Any]
) -> list[Problem]:
    """One problem for each thing pydantic found, each said once."""
    name = label_of(data, model)
    found = {_sentence(detail, model): detail for detail in _specific(error.errors())}
    return [
        Problem(sentence, rule=name, field=str(detail["loc"][0]) if detail["loc"] else None)
        for sentence, detail in found.items()
    ]


def label_of(data: Mapping[str, Any], model: type[BaseModel] | None = None) -> str:
    """What to call a rule that could not be built: its name, else its type and columns."""
    if isinstance(data.get("name"), str) and data["name"]:
        return str(data["name"])
    default = model.model_fields["type"].default if model and "type" in model.model_fields else None
    kind = data.get("type", default)
    columns = data.get("columns", ())
    listed = [columns] if isinstance(columns, str) else columns
    if not isinstance(listed, Iterable):
        listed = []
    words = [str(word) for word in (kind, *listed) if isinstance(word, str)]
    return " ".join(words) or "(no type)"


def _specific(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Of the several complaints about one field of a union type, the first says enough."""
    seen: dict[tuple[str | int, ...], ErrorDetails] = {}
    for detail in details:
        field = detail["loc"][:1]
        key = detail["loc"] if detail["type"] == "extra_forbidden" else field
        seen.setdefault(key, detail)
    return list(seen.values())


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    field = ".".join(str(part) for part in detail["loc"] if not _is_type_tag(part))
    kind = detail["type"]
    if kind == "extra_forbidden":
        last = str(detail["loc"][-1])
        known = _known_fields(model, detail["loc"])
        hint = did_you_mean(last, known) or f" Known fields: {', '.join(sorted(known))}."
        return f"unknown field '{field}'.{hint}"
    if kind == "missing":
        return f"field '{field}' is missing."
    if detail["msg"] == "Input should be 'all'":
        return f"field '{field}': 'all' or bounds such as {{type: proportion, max: 0.01}} needed."
    message = in_plain_words(detail)
    text = f"field '{field}': {message}" if field else message
    return text if text.endswith((".", "?", ")")) else f"{text}."


def _is_type_tag(part: str | int) -> bool:
    # Pydantic puts the names of union members into the location; they mean nothing to authors.
    return isinstance(part, str) and ("[" in part or part in _UNION_MEMBERS)


_UNION_MEMBERS = {
    "int", "float", "decimal", "str", "bool", "date", "datetime",
    "AtMost", "AtLeast", "all", "Meaning",
}  # fmt: skip


def _known_fields(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """The fields of the model that the unknown one was written into."""
    nested = [part for part in location[:-1] if isinstance(part, str)]
    for candidate in _nested_models(model):
        if candidate.__name__ in nested:
            return list(candidate.model_fields)
    return list(model.model_fields)


def _nested_models(model: type[BaseModel]) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    pending: list[Any] = [field.annotation for field in model.model_fields.values()]
    while pending:
        annotation = pending.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            found.append(annotation)
        pending += getattr(annotation, "__args__", ())
    return found
