"""The quarantine of an asset: rows that break rules, as they came, and what is known of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg
from pyspark.sql import types as T

from dq_dagster.errors import DeclarationError, Misfit, UnreadableData
from dq_dagster.integration.checks.request import tagged_sensitive
from dq_dagster.integration.event_log.pager import materializations
from dq_dagster.integration.guarded.stats import PARTITION_ROWS
from dq_dagster.integration.internals import storage_ids
from dq_dagster.integration.io_manager import SparkIOManager
from dq_dagster.ruleset import RuleSet
from dq_dagster.spark.frames.columns import identifier, text_literal
from dq_dagster.spark.frames.divided import AlikePartitions
from dq_dagster.spark.frames.frames import HIDDEN_KEY, TARGET
from dq_dagster.spark.frames.reading import absolute
from dq_dagster.spark.passes.faults import FAULTS, JudgedRows
from dq_dagster.spark.session.session import current_session
from dq_dagster.storage.folders import asset_folder
from dq_dagster.storage.store import Store, store_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RUN_ID, TIME, FINGERPRINT, STATE = "dq_run_id", "dq_time", "dq_fingerprint", "dq_state"
OWN_COLUMNS = (FAULTS, STATE, RUN_ID, TIME, FINGERPRINT)
# What became of a row: it is in the table as well, it was left out of it, or nothing of its build
# was published.
KEPT, LEFT_OUT, WITHHELD = "kept", "left_out", "withheld"
_MASK = "***"


class CurrentSession:
    """Whatever Spark session the process has, for an IO manager that no resource was given to."""

    @property
    def spark_session(self) -> SparkSession:
        return current_session()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """Where bad rows are kept, for how long, and what is not kept of them.

    By default they lie beside the asset, in the asset ``<name>_quarantine``. ``path`` and
    ``format`` name another place. A partition's rows go after ``retention_days``, with the next
    build of any partition. An asset without partitions has the rows of its last build that was
    published, however old: only a build that is withheld removes those that are older. Values of
    ``sensitive`` columns are masked, as are those of columns with the tag ``dq/sensitive``: such
    rows cannot be replayed without a repair that restores them.
    """

    asset: str | Sequence[str] | None = None
    path: str | None = None
    format: str = "parquet"
    sensitive: Collection[str] = ()
    retention_days: float | None = None
    key: dg.AssetKey = field(default_factory=lambda: dg.AssetKey([]), repr=False)

    def of(self, asset: dg.AssetKey) -> Quarantine:
        """The quarantine of that asset."""
        if isinstance(self.sensitive, str):
            raise DeclarationError.of("sensitive is a list of columns: put it between [ and ].")
        if self.retention_days is not None and self.retention_days <= 0:
            raise DeclarationError.of("retention_days is a number of days, greater than 0.")
        key = quarantine_key(asset)
        if self.asset is not None:
            key = dg.AssetKey.from_coercible(self.asset)
        return replace(self, key=key)

    @property
    def name(self) -> str:
        return self.key.to_user_string()

    def since(self, now: datetime) -> datetime | None:
        """Rows that were found before are not kept any longer; None if all of them are."""
        if self.retention_days is None:
            return None
        return now - timedelta(days=self.retention_days)

    @property
    def io_manager_key(self) -> str | None:
        """Of an IO manager of its own, where it has a place of its own."""
        return None if self.path is None else f"{'__'.join(self.key.path)}__io_manager"

    def resources(self) -> dict[str, Any]:
        if self.io_manager_key is None or self.path is None:
            return {}
        manager = SparkIOManager(pyspark=CurrentSession(), path=self.path, format=self.format)
        return {self.io_manager_key: manager}

    def store(self, manager: Any) -> Store | None:
        """Where it is stored; None if only the asset's own IO manager knows."""
        if self.path is not None:
            target = f"{absolute(self.path).rstrip('/')}/{asset_folder(self.key.path)}"
            return store_at(target, self.name, self.format)
        return manager.store(self.key) if isinstance(manager, SparkIOManager) else None


def require_selected(
    kept: Quarantine, selected: Collection[dg.AssetKey], asset: str, rows: int
) -> None:
    """Fails if bad rows are to be kept by an IO manager of others, which nobody asked to."""
    if kept.key not in selected:
        raise dg.Failure(
            f"{rows:,} rows of '{asset}' are to be kept in '{kept.name}', which is not selected, "
            "and whose IO manager stores what is: select it as well.",
            allow_retries=False,
        )


def forgotten(
    kept: Quarantine,
    store: Store,
    session: SparkSession,
    instance: dg.DagsterInstance,
    now: datetime,
    *,
    fresh: Collection[str],
) -> Iterator[dg.AssetMaterialization]:
    """Empties the partitions whose time is over, but for those just built, and says so."""
    since = kept.since(now)
    if since is None:
        return
    built = materializations(instance, kept.key, storage_ids(instance, kept.key))
    oldest = since.timestamp()
    over = sorted(k for k, one in built.items() if one.timestamp < oldest and k not in fresh)
    for key in store.stored_among(session, over) if over else ():
        rows = store.load(session, [key]).plain.where("false")
        keyed = rows.selectExpr("*", f"{text_literal(key)} AS {identifier(HIDDEN_KEY)}")
        stored = store.write_alike([AlikePartitions(frozenset([key]), keyed)])
        yield dg.AssetMaterialization(
            kept.key,
            partition=key,
            description=f"Its rows are older than {kept.retention_days:g} days, and were removed.",
            metadata={PARTITION_ROWS: 0, "path": stored.place},
        )


def moment_sql(moment: datetime) -> str:
    return f"timestamp_micros({_micros(moment)}L)"


def _micros(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def quarantine_key(asset: dg.AssetKey) -> dg.AssetKey:
    return dg.AssetKey([*asset.path[:-1], f"{asset.path[-1]}_quarantine"])


def masked_columns(
    kept: Quarantine,
    rule_set: RuleSet,
    metadata: Mapping[str, Any],
    columns: Sequence[str] | None = None,
) -> set[str]:
    """The columns whose values are masked: by name, or tagged as sensitive in the schema.

    Raises a Misfit if the quarantine names one that is not among ``columns``, those of the rows:
    what is meant would be kept for all to see.
    """
    known = {name.lower() for name in columns or ()}
    for name in kept.sensitive if columns is not None else ():
        if name.lower() not in known:
            raise Misfit.no_column(name, columns or ())
    return {*kept.sensitive, *rule_set.sensitive, *tagged_sensitive(metadata)}


@dataclass(frozen=True, slots=True)
class Entry:
    """What the rows of one run have in common."""

    run_id: str
    time: datetime
    fingerprint: str
    published: bool
    sensitive: Collection[str] = ()

    def rows(self, judged: JudgedRows) -> DataFrame:
        """The bad rows as they are kept, each with its partition in HIDDEN_KEY if it has one."""
        names = {name.lower() for name in judged.columns}
        for taken in OWN_COLUMNS:
            if taken in names:
                raise UnreadableData.column_taken(taken)
        state = f"if({identifier(TARGET)} LIKE 'kept%', '{KEPT}', '{LEFT_OUT}')"
        columns = [
            *self._own(judged),
            f"{judged.entries()} AS {FAULTS}",
            f"{state if self.published else text_literal(WITHHELD)} AS {STATE}",
            f"{text_literal(self.run_id)} AS {RUN_ID}",
            f"{self._moment()} AS {TIME}",
            f"{text_literal(self.fingerprint)} AS {FINGERPRINT}",
        ]
        return judged.frame.selectExpr(*columns)

    def _moment(self) -> str:
        """The time by way of a text of each row, of which Spark keeps no number in its code.

        What it writes for one run is then compiled once, and serves the next run as well.
        """
        micros = f"concat(left({identifier(TARGET)}, 0), '{_micros(self.time)}')"
        return f"timestamp_micros(CAST({micros} AS BIGINT))"

    def _own(self, judged: JudgedRows) -> list[str]:
        masked = {name.lower() for name in self.sensitive}
        found = []
        for one in judged.frame.schema.fields:
            name = identifier(one.name)
            if one.name not in judged.columns or one.name == TARGET:
                continue
            if one.name.lower() not in masked or one.name == HIDDEN_KEY:
                found.append(name)
            elif isinstance(one.dataType, T.StringType):
                found.append(f"if({name} IS NULL, NULL, '{_MASK}') AS {name}")
            else:
                # Of the same type, whose name need not be written down for that.
                found.append(f"if(true, NULL, {name}) AS {name}")
        return found
