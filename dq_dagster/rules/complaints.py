"""Pydantic's complaints in the words of people who write rules."""

from __future__ import annotations

from typing import Any

from pydantic_core import ErrorDetails

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
        # A number is told from its value, and so never the form that was expected.
        tags = context["expected_tags"].removesuffix(", 'number'")
        context["expected_tags"] = tags.replace(", ", " or ")
    return context


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
