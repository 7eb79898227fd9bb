"""The bad rows of any asset with rules: of what is stored of it, and of what is in quarantine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import dagster as dg

from dq_dagster.evaluation.faults import FoundRows
from dq_dagster.integration.checks.readers import AssetIOManager, reader_of
from dq_dagster.integration.checks.rows import StoredRows
from dq_dagster.integration.checks.step import CheckedAsset
from dq_dagster.integration.guarded.declared import DeclaredRules
from dq_dagster.integration.guarded.quarantine import Quarantine, masked_columns
from dq_dagster.integration.internals import asset_metadata
from dq_dagster.integration.partitions.asset_partitions import declared_partitions
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import RuleSet
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.spark.frames.frames import as_spark, require_readable
from dq_dagster.spark.passes.rows import RowView, rows_of_rules, shown_rows


@dataclass(frozen=True, slots=True)
class RowsOfAsset:
    """An asset with rules, as its definitions have it; or the quarantine of one."""

    defs: dg.Definitions
    rule_set: RuleSet
    # That of a guarded asset.
    quarantine: Quarantine | None = None
    is_quarantine: bool = False

    @classmethod
    def of(cls, defs: dg.Definitions, asset: str) -> RowsOfAsset:
        """The asset of that key; raises if the definitions have no rules for it."""
        declared = DeclaredRules.of(defs)
        name = dg.AssetKey.from_user_string(asset).to_user_string()
        homes = declared.homes
        home = homes.get(name, name)
        rule_set = declared.of_asset(home, also=list(homes))
        kept = declared.quarantines.get(home)
        return cls(defs, rule_set, kept, is_quarantine=name in homes)

    def found(
        self,
        rules: Sequence[Rule],
        view: RowView,
        *,
        instance: dg.DagsterInstance,
        partitions: Sequence[str] = (),
        where: str | None = None,
        every: bool = True,
    ) -> FoundRows:
        """The first rows that break one of the rules; ``every``: those are all that there are."""
        if self.is_quarantine and self.quarantine is not None:
            kept = self.quarantine
            own = RuleSet(asset=kept.key)
            checked = CheckedAsset.of(own, AssetIOManager(), None)
            with StoredRows.opened(
                self.defs, checked, instance, partitions=partitions, where=where
            ) as rows:
                names = None if every else [rule.name for rule in rules]
                return self._quarantined(rows, kept, names, view)
        reader = reader_of(self.rule_set.reader)
        partitions_def = declared_partitions(self.rule_set.asset, list(self.defs.assets or ()))
        checked = CheckedAsset.of(self.rule_set, reader, partitions_def)
        if self.quarantine is not None:
            view = replace(view, masked=view.masked.union(self.quarantine.sensitive))
        with StoredRows.opened(
            self.defs, checked, instance, rules=rules, partitions=partitions, where=where
        ) as rows:
            return rows.found([rule.name for rule in rules], view)

    def _quarantined(
        self, rows: StoredRows, kept: Quarantine, names: Sequence[str] | None, view: RowView
    ) -> FoundRows:
        """Rows with the faults that were found when they were kept."""
        data = rows.data()
        frame = require_readable(data.frame if isinstance(data, Divided) else as_spark(data))
        metadata = asset_metadata(rows.context, dg.AssetKey(self.rule_set.asset_path))
        masked = view.masked.union(masked_columns(kept, self.rule_set, metadata))
        chosen = frame if names is None else rows_of_rules(frame, names)
        return FoundRows(shown_rows(chosen, replace(view, masked=masked)))
