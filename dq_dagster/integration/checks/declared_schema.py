"""What an asset's definition says of its columns, as the declared schema of its rule set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from dq_dagster.integration.internals import asset_metadata
from dq_dagster.integration.step_context import StepContext
from dq_dagster.rules.fields.schema_columns import ForeignColumn, SchemaColumn
from dq_dagster.rules.fields.type_names import parse_type
from dq_dagster.ruleset import RuleSet

COLUMN_SCHEMA = "dagster/column_schema"
# The tag of a column that says what its values mean.
MEANING = "dq/meaning"


def with_declared_schema(rule_set: RuleSet, key: dg.AssetKey, context: StepContext) -> RuleSet:
    """The rule set with the columns of its asset's definition, unless it declares its own."""
    if rule_set.declared_schema is not None:
        return rule_set
    metadata = asset_metadata(context, key) or _own_metadata(rule_set.asset)
    columns = declared_columns(metadata) if COLUMN_SCHEMA in metadata else []
    return rule_set.declaring(columns) if columns else rule_set


def declared_columns(metadata: Mapping[str, Any]) -> list[SchemaColumn]:
    """The columns of an asset's metadata; none where it does not name each of them once."""
    found = metadata.get(COLUMN_SCHEMA)
    schema = found.schema if isinstance(found, dg.TableSchemaMetadataValue) else found
    if not isinstance(schema, dg.TableSchema):
        return []
    names = [column.name for column in schema.columns]
    if len(set(names)) < len(names) or not all(names):
        return []
    return [_column(column) for column in schema.columns]


def _column(column: dg.TableColumn) -> SchemaColumn:
    try:
        parse_type(column.type)
    except ValueError:
        kind: type[SchemaColumn] = ForeignColumn
    else:
        kind = SchemaColumn
    return kind(name=column.name, type=column.type, meaning=column.tags.get(MEANING))


def _own_metadata(asset: Any) -> Mapping[str, Any]:
    """Of a definition that was given to the rule set but is no part of the job."""
    if isinstance(asset, dg.AssetSpec):
        return asset.metadata
    if isinstance(asset, dg.AssetsDefinition):
        return asset.metadata_by_key[asset.key]
    return {}
