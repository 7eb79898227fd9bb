"""A rule type is complete with its documentation, an example, a schema entry and an oracle."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dq_dagster as dq
from docs.catalogue.examples import load
from dq_dagster.rules.base.documentation import Documentation
from dq_dagster.rules.catalogue import RULE_TYPES
from tests.oracle import test_nothing_and_odd_values as odd_values
from tests.oracle.rules import MAKERS

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("kind", RULE_TYPES)
def test_every_rule_type_is_complete(kind: str) -> None:
    assert list(lacking(kind)) == []


def lacking(kind: str) -> Iterator[str]:
    rule = RULE_TYPES[kind]
    about = Documentation.of(rule)
    parts = {
        "a docstring": about.meaning,
        "'Observed: ...' in its docstring": about.observed,
        "'Example::' in its docstring": about.example,
        "an example of its own type": kind in examples(),
        "its place in dq_dagster/__init__.py": getattr(dq, rule.__name__, None) is rule,
        "a section in docs/rules.md (./dev docs)": f"\n### `{kind}`\n" in page(),
        "an entry in the JSON Schema": schema_entry(kind).get("type") == {"const": kind},
        "an oracle in tests/oracle": has_an_oracle(kind, rule.__name__),
        "its rule on odd values (tests/oracle)": kind in odd_values.RULES,
        "its statuses on odd values (tests/oracle)": kind in odd_values.EXPECTED,
    }
    yield from (part for part, there in parts.items() if not there)
    for name, field in rule.model_fields.items():
        if not field.description and name != "type":
            yield f"a docstring of the field {name}"


@cache
def examples() -> dict[str, dq.Rule]:
    return load()


@cache
def page() -> str:
    return (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")


@cache
def schema() -> dict[str, Any]:
    return dq.json_schema()


def schema_entry(kind: str) -> dict[str, Any]:
    properties: dict[str, Any] = schema()["$defs"].get(kind, {}).get("properties", {})
    return properties


def has_an_oracle(kind: str, name: str) -> bool:
    """Families that need more than one table of rows have an oracle in a file of their own."""
    if kind in MAKERS:
        return True
    return any(f'"{kind}"' in text or f"dq.{name}(" in text for text in oracles())


@cache
def oracles() -> list[str]:
    files = (ROOT / "tests" / "oracle").rglob("test_*.py")
    return [
        file.read_text(encoding="utf-8")
        for file in files
        if file.stem != "test_nothing_and_odd_values"
    ]
