"""From a step's context to its check request: which rules on which slices."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from dq_dagster.errors import did_you_mean
from dq_dagster.integration.internals import asset_metadata, partition_tags
from dq_dagster.integration.partitions.asset_partitions import AssetPartitions, run_partitions
from dq_dagster.integration.step_context import StepContext
from dq_dagster.plan.request import CheckRequest, RequestedRule
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.fields.schema_columns import ForeignColumn, SchemaColumn
from dq_dagster.rules.fields.type_names import parse_type
from dq_dagster.ruleset import RuleSet, dataset_check_name

# A run's tag that names a partition: each selected rule is judged there, whatever its
# scope. A check of the whole dataset keeps to that as well, for Dagster would show what it says of
# one partition as its verdict on all of them.
PARTITION_TAG = "dq/partition"
# A run's tag that has the partitions to judge, each rule where its scope says: a list of keys in
# JSON, "all" for those that exist, or one of both by asset.
PARTITIONS_TAG = "dq/partitions"


@dataclass(frozen=True, slots=True)
class RequestedChecks:
    """The check request of a run, and the checks that its outcomes belong to.

    ``missing`` are partitions of the run that were never built. ``without_partition`` are checks of
    single partitions in a run that is about none. ``unlisted`` are rules that have no check of
    single partitions, and are judged on one nonetheless.
    """

    request: CheckRequest
    # The check that gets a rule's outcome: by the rule's name, and whether on a partition.
    checks: Mapping[tuple[str, bool], str]
    missing: tuple[str, ...] = ()
    without_partition: tuple[str, ...] = ()
    unlisted: frozenset[str] = frozenset()

    @property
    def partitions(self) -> tuple[str, ...]:
        return self.request.partitions or ()


def request_of_dataset(rule_set: RuleSet, names: set[str]) -> RequestedChecks:
    """All rules on all rows: the asset has no partitions, and there is one check a rule."""
    chosen = [rule for rule in rule_set.rules if rule.enabled and rule.check_name in names]
    checks = {(rule.name, False): rule.check_name for rule in chosen}
    return RequestedChecks(CheckRequest.of(chosen), checks)


def request_of_partitions(
    context: StepContext,
    rule_set: RuleSet,
    names: set[str],
    asset: AssetPartitions,
) -> RequestedChecks:
    """The selected checks by partition, of the whole dataset, or both."""
    by_hand = context.run.tags.get(PARTITION_TAG)
    keys = None
    # A run of other assets may be about partitions that this one does not have.
    if by_hand is not None or any(True in _selected(r, names) for r in rule_set.enabled_rules):
        keys = _together(_partitions_of_run(context, asset), _chosen(context, asset))
    if by_hand is not None:
        _require_partition(f"the tag {PARTITION_TAG} names", by_hand, asset)
        # Beside those that the run itself is about, which it must not leave unjudged.
        keys = tuple(dict.fromkeys([*(keys or ()), by_hand]))
    rules: list[RequestedRule] = []
    checks: dict[tuple[str, bool], str] = {}
    without_partition: list[str] = []
    for rule in rule_set.enabled_rules:
        mine = _selected(rule, names)
        if True in mine and keys is None:
            without_partition.append(mine.pop(True))
        if by_hand is not None and mine:
            mine[True] = rule.check_name
        if mine:
            rules.append(RequestedRule.of(rule, on_partitions=True in mine, on_whole=False in mine))
            checks |= {(rule.name, here): check for here, check in mine.items()}
    wanted = tuple(keys or ()) if any(here for _, here in checks) else ()
    existing = tuple(key for key in wanted if asset.exists(key))
    return RequestedChecks(
        CheckRequest(tuple(rules), existing, partitioned=True),
        checks,
        tuple(key for key in wanted if not asset.exists(key)),
        tuple(without_partition),
        frozenset(rule.name for rule in rule_set.enabled_rules if rule.scope == "whole_dataset"),
    )


def _selected(rule: Rule, names: set[str]) -> dict[bool, str]:
    """The selected checks of a rule: of single partitions (True), of the whole dataset (False)."""
    every = {}
    if rule.scope != "whole_dataset":
        every[True] = rule.check_name
    if rule.scope != "partitions":
        every[False] = dataset_check_name(rule)
    return {here: check for here, check in every.items() if check in names}


def _partitions_of_run(context: StepContext, asset: AssetPartitions) -> Sequence[str] | None:
    """The partitions that the run is about; fails the step if one of them does not exist.

    Dagster does not look: it would hand on a key of no partition, which has no rows, and takes
    the ends of a range for dates that it can read somehow.
    """
    for tag, key in partition_tags(context).items():
        _require_partition(f"the tag {tag} names", key, asset)
    keys = run_partitions(context)
    for key in keys or ():
        _require_partition("it is about", key, asset)
    if keys is not None and not keys:
        first, last = partition_tags(context).values()
        raise dg.Failure(
            f"This run is about no partition of asset '{asset.key.to_user_string()}': its range "
            f"from '{first}' to '{last}' ends before it begins.",
            allow_retries=False,
        )
    return keys


def _together(*some: Sequence[str] | None) -> Sequence[str] | None:
    given = [keys for keys in some if keys is not None]
    return tuple(dict.fromkeys(key for keys in given for key in keys)) if given else None


def _chosen(context: StepContext, asset: AssetPartitions) -> Sequence[str] | None:
    """The partitions that the run's tag has for the asset; fails the step if it has no such."""
    written = context.run.tags.get(PARTITIONS_TAG)
    if written is None:
        return None
    try:
        meant = json.loads(written)
    except ValueError:
        # As people write them into the launchpad.
        meant = [key.strip() for key in written.split(",")]
    name = asset.key.to_user_string()
    mine = meant.get(name) if isinstance(meant, dict) else meant
    if mine is None:
        return None
    if mine in ("all", ["all"]):
        return asset.existing
    keys = [mine] if isinstance(mine, str) else mine
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise dg.Failure(
            f"This run cannot judge asset '{name}': the tag {PARTITIONS_TAG} has no keys of "
            'partitions. Write ["2024-03-01", "2024-03-02"], "all", or one of both by asset.',
            allow_retries=False,
        )
    for key in keys:
        _require_partition(f"the tag {PARTITIONS_TAG} names", key, asset)
    return tuple(keys)


def _require_partition(what: str, key: str, asset: AssetPartitions) -> None:
    if key in asset.keys:
        return
    nearest = asset.read_as(key)
    hint = f" Did you mean '{nearest}'?" if nearest else did_you_mean(key, asset.keys, most=3)
    raise dg.Failure(
        f"This run cannot judge asset '{asset.key.to_user_string()}': {what} '{key}', which is no "
        f"partition of it.{hint}",
        allow_retries=False,
    )


COLUMN_SCHEMA = "dagster/column_schema"


# The tag of a column that says what its values mean.
MEANING = "dq/meaning"
# The tag of a column that says that its values are not to be shown.
SENSITIVE = "dq/sensitive"


def with_declared_schema(rule_set: RuleSet, key: dg.AssetKey, context: StepContext) -> RuleSet:
    """The rule set with the columns of its asset's definition, unless it declares its own."""
    if rule_set.declared_schema is not None:
        return rule_set
    metadata = _metadata(rule_set, key, context)
    columns = declared_columns(metadata) if COLUMN_SCHEMA in metadata else []
    return rule_set.declaring(columns) if columns else rule_set


def sensitive_columns(rule_set: RuleSet, key: dg.AssetKey, context: StepContext) -> list[str]:
    """The columns that the asset's definition tags as sensitive."""
    return tagged_sensitive(_metadata(rule_set, key, context))


def tagged_sensitive(metadata: Mapping[str, Any]) -> list[str]:
    """The same, by the metadata of the definition."""
    schema = _schema(metadata)
    columns = [] if schema is None else schema.columns
    return [
        column.name for column in columns if column.tags.get(SENSITIVE, "false").lower() != "false"
    ]


def _metadata(rule_set: RuleSet, key: dg.AssetKey, context: StepContext) -> Mapping[str, Any]:
    return asset_metadata(context, key) or _own_metadata(rule_set.asset)


def _schema(metadata: Mapping[str, Any]) -> dg.TableSchema | None:
    found = metadata.get(COLUMN_SCHEMA)
    schema = found.schema if isinstance(found, dg.TableSchemaMetadataValue) else found
    return schema if isinstance(schema, dg.TableSchema) else None


def declared_columns(metadata: Mapping[str, Any]) -> list[SchemaColumn]:
    """The columns of an asset's metadata; none where it does not name each of them once."""
    schema = _schema(metadata)
    if schema is None:
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
