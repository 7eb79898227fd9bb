"""Pydantic's validation errors as problems that name rule, field and nearest known name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dq_dagster.errors import Problem, did_you_mean

# What is needed, and how else to say what is wrong, by the kind of complaint.
_NEEDED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "is_instance_of": "a {class}",
    "literal_error": "{expected}",
    "mapping_type": "a set of fields",
    "model_type": "a set of fields",
    "sequence_str": "a list",
    "string_type": "a text",
}
_OTHERWISE = {
    "finite_number": "must be a finite number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must not be empty",
    "too_short": "at least one is needed",
    "union_tag_invalid": "takes {expected_tags}, not '{tag}'",
}
# The kinds of value that a bound, or a value to compare with, can be of.
_SCALARS = {"int", "float", "decimal", "str", "bool", "date", "datetime"}
_LONGEST = 60


def in_plain_words(detail: ErrorDetails) -> str:
    """What is needed, or wrong, at the place that the complaint is about."""
    kind, context = detail["type"], _context(detail)
    if _SCALARS & {str(part) for part in detail["loc"][1:]} and kind != "value_error":
        # One of many complaints about a union, which all mean this.
        return f"a number, a text, a date or a time is needed, not {_shown(detail['input'])}"
    if kind in _NEEDED:
        return f"{_NEEDED[kind].format(**context)} is needed, not {_shown(detail['input'])}"
    if kind in _OTHERWISE:
        return _OTHERWISE[kind].format(**context)
    message = detail["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _context(detail: ErrorDetails) -> dict[str, Any]:
    context = dict(detail.get("ctx", {}))
    if context.get("class") == "Sequence":
        context["class"] = "list"
    if "expected_tags" in context:
        # A number is known by its value, and so never the form that was expected.
        tags = context["expected_tags"].removesuffix(", 'number'")
        context["expected_tags"] = tags.replace(", ", " or ")
    return context


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


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
    strange = {d["loc"][:1] for d in details if d["type"] == "extra_forbidden"}
    for detail in details:
        field = detail["loc"][:1]
        if field in strange and len(detail["loc"]) == 2 and _is_type_tag(detail["loc"][1]):
            # Another member of the union, which was not the one that the author had in mind.
            continue
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
        forms = "'all', a share such as 0.01, or bounds such as {max: 3}"
        return f"field '{field}': {forms} needed."
    message = in_plain_words(detail)
    text = f"field '{field}': {message}" if field else message
    return text if text.endswith((".", "?", ")")) else f"{text}."


def _is_type_tag(part: str | int) -> bool:
    # Pydantic puts the names of union members into the location; they mean nothing to authors.
    return isinstance(part, str) and ("[" in part or part in _UNION_MEMBERS)


_UNION_MEMBERS = {
    "int", "float", "decimal", "str", "bool", "date", "datetime",
    "AtMost", "AtLeast", "all", "Meaning", "MetricSource", "callable",
    "DeclaredReader", "Template",
}  # fmt: skip


def _known_fields(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """The fields of the model that the unknown one was written into."""
    if len(location) == 1 or str(location[0]) not in model.model_fields:
        return list(model.model_fields)
    candidates = _nested_models(model.model_fields[str(location[0])].annotation)
    # Of a union, pydantic puts the name of the member that was meant into the location.
    meant = [candidate for candidate in candidates if candidate.__name__ in location] or candidates
    return list(meant[0].model_fields) if meant else list(model.model_fields)


def _nested_models(annotation: Any) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    pending: list[Any] = [annotation]
    while pending:
        annotation = pending.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            found.append(annotation)
        pending += getattr(annotation, "__args__", ())
    return found
