"""What went wrong before any rule could be judged, described without secrets or row values."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Sequence
from pathlib import Path, PurePath
from traceback import walk_tb
from typing import Any

import dagster as dg

from dq_dagster.errors import DqError, MissingPartitions, NothingStored, UnreadableData
from dq_dagster.integration.event_log.pager import latest_materialization, materializations
from dq_dagster.integration.internals import Materialization, storage_ids
from dq_dagster.judging.wording import presentable
from dq_dagster.spark.frames.reading import is_remote
from dq_dagster.storage.folders import PARTITION_COLUMN, WHOLE_FOLDER

_OURS = "dq_dagster."
_INSTALLED = ("site-packages", "dist-packages", sysconfig.get_path("stdlib"))
# Their texts speak of files, addresses and names. (What fails a type check is quoted, though.)
_HARMLESS = (OSError, ImportError, dg.DagsterError)
_QUOTING = (dg.DagsterTypeCheckDidNotPass,)
# Said before anything is read, and yet raised as an error of Java.
_NO_FORMAT = "[DATA_SOURCE_NOT_FOUND]"


def presentable_error(error: Exception, asset: str, *, did: str = "read") -> DqError:
    """A sentence with the error's class and the first line of its text."""
    error = cause_of(error)
    if isinstance(error, DqError):
        return error
    reason = _first_line(_reason(error))
    return UnreadableData(f"The data of asset '{asset}' could not be {did} ({reason}).")


def is_missing(error: Exception) -> bool:
    """Whether something could not be read because it is not there."""
    from pyspark.errors import AnalysisException

    from dq_dagster.storage.files import is_missing as path_is_missing

    error = cause_of(error)
    if isinstance(error, AnalysisException):
        return path_is_missing(error)
    return isinstance(error, FileNotFoundError | NothingStored)


def cause_of(error: Exception) -> Exception:
    """Dagster wraps what an IO manager raised; the cause says what happened."""
    while isinstance(error, dg.DagsterError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    return error


def reason_of(result: dg.ExecuteInProcessResult) -> str:
    """Why a run failed, in a line; nothing if it did not."""
    for event in result.all_events:
        if event.is_step_failure:
            failure: Any = event.step_failure_data
            said = failure.user_failure_data
            if said is not None and said.description:
                return str(said.description)
            cause = failure.error.cause or failure.error if failure.error else None
            if cause is None:
                return ""
            line = str(cause.message).strip().splitlines()[0]
            return line.split(f"{cause.cls_name}: ", 1)[-1]
    return ""


def _reason(error: Exception) -> str:
    """The error's class, and its text where that speaks of places, names and types only.

    The text of any other error may quote row values, whoever raised it: the place in the code has
    to do then.
    """
    from pyspark.errors import AnalysisException, PySparkException

    from dq_dagster.spark.frames.failures import condition_of, first_line

    name = type(error).__name__
    if _NO_FORMAT in str(error):
        return first_line(error)
    harmless = isinstance(error, (AnalysisException, *_HARMLESS))
    if harmless and not isinstance(error, _QUOTING):
        return f"{name}: {error}" if str(error) else name
    if isinstance(error, PySparkException):
        return f"{name}: {condition_of(error)}"
    return f"{name} was raised{_place(error)}"


def _place(error: Exception) -> str:
    """The innermost place in the code of people: neither in a library nor in this one."""
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        file = frame.f_code.co_filename
        module = str(frame.f_globals.get("__name__", ""))
        foreign = not file.endswith(".py") or any(place in file for place in _INSTALLED)
        if not foreign and not module.startswith(_OURS):
            return f" in {frame.f_code.co_name} ({PurePath(file).name}, line {line})"
    return ""


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return presentable(re.sub(r"\s*SQLSTATE: \w+.*$", "", line))


def absent(asset: str, latest: Materialization | None, *, external: bool) -> NothingStored | None:
    """What is the case of an asset without data; None if it is just not built yet."""
    if latest is None:
        return NothingStored.external(asset) if external else None
    return NothingStored.gone(asset) if _was_stored(latest) else NothingStored.unreturned(asset)


def absent_whole(
    instance: dg.DagsterInstance, key: dg.AssetKey, *, external: bool
) -> NothingStored | None:
    """The same, by what Dagster has on record."""
    latest = latest_materialization(instance, key, {})
    return absent(key.to_user_string(), latest, external=external)


def absent_partitions(
    instance: dg.DagsterInstance, key: dg.AssetKey, keys: Sequence[str]
) -> MissingPartitions | None:
    """What is the case of partitions without data; None if none of them was ever built."""
    built = storage_ids(instance, key) if keys else {}
    numbers = {name: built[name] for name in keys if name in built}
    if not numbers:
        return None
    latest = materializations(instance, key, numbers)
    unreturned = [name for name, one in latest.items() if not _was_stored(one)]
    return MissingPartitions.lost(
        key.to_user_string(), list(numbers), built=len(built), unreturned=unreturned
    )


def _was_stored(latest: Materialization) -> bool:
    """Whether an IO manager stored the data, by what the materialization says.

    An asset that stores its data itself may name a path as well: that is there still, or is of
    another kind than ours.
    """
    path = latest.path or ""
    ours = f"/{WHOLE_FOLDER}" in path or f"/{PARTITION_COLUMN}=" in path
    return ours or (bool(path) and not is_remote(path) and not Path(path).exists())
