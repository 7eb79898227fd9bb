"""Rule types as their users find them: public, strict, and in the schema for editors."""

from __future__ import annotations

import json

import pytest
from pydantic import ConfigDict

import dq_dagster as dq
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.catalogue import RULE_TYPES


@pytest.mark.parametrize("kind", RULE_TYPES)
def test_each_type_is_public_and_strict(kind: str) -> None:
    model = RULE_TYPES[kind]
    assert getattr(dq, model.__name__) is model
    config: ConfigDict = model.model_config
    assert config.get("frozen")
    assert config.get("extra") == "forbid"


def test_the_schema_is_json_and_has_all_common_fields() -> None:
    schema = json.loads(json.dumps(dq.json_schema()))
    for kind in RULE_TYPES:
        assert set(Rule.model_fields) <= set(schema["$defs"][kind]["properties"])
        assert schema["$defs"][kind]["additionalProperties"] is False
