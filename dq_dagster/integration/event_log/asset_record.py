"""What all checks of an asset recorded, to judge other rules by it than those that ran."""

from __future__ import annotations

from datetime import UTC, tzinfo

import dagster as dg

from dq_dagster.errors import NotOnRecord
from dq_dagster.evaluation.backtest.backtest import Calendar
from dq_dagster.evaluation.backtest.on_record import AssetRecord, merged_points
from dq_dagster.evaluation.history.history import Recorded
from dq_dagster.integration.event_log.history import stored_history
from dq_dagster.integration.internals import checks_on_record


def asset_record(instance: dg.DagsterInstance, asset: str, *, zone: tzinfo = UTC) -> AssetRecord:
    """Raises NotOnRecord, with the assets that there are, if no check of it was ever evaluated."""
    key = dg.AssetKey(asset.split("/"))
    known = checks_on_record(instance)
    checks = [one for one in known if one.asset_key == key]
    if not checks:
        assets = dict.fromkeys(one.asset_key.to_user_string() for one in known)
        raise NotOnRecord.asset(asset, list(assets))
    records: dict[str, tuple[Recorded, ...]] = {}
    calendar = Calendar({}, {})
    for one in checks:
        stored = stored_history(instance, one)
        records[one.name] = stored.records
        calendar = Calendar(
            {**calendar.times, **stored.times}, {**calendar.series, **stored.series}
        )
    return AssetRecord(merged_points(records), calendar, zone)
