"""Whether the workers of a session can compute blocks, and sending them what they run."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark import cloudpickle
from pyspark.errors import PySparkException, PythonException

from dq_dagster.spark.frames.ansi import home_of
from dq_dagster.spark.passes.blocks import arrays, ranks, tallies
from dq_dagster.spark.passes.isolation import attempted, require_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A setting of the session: "false" leaves everything to SQL.
SETTING = "spark.dq_dagster.blocks"
_Key = TypeVar("_Key")
_Found = TypeVar("_Found")
_able: weakref.WeakKeyDictionary[SparkSession, bool] = weakref.WeakKeyDictionary()

for _module in (arrays, ranks, tallies):
    # Workers need not have the package.
    cloudpickle.register_pickle_by_value(_module)  # type: ignore[no-untyped-call]


def has_blocks(session: SparkSession) -> bool:
    """Whether workers have Python with numpy and Arrow, and may use it; tried once a session."""
    if (session.conf.get(SETTING, "true") or "").lower() == "false":
        return False
    home = home_of(session)
    if home not in _able:
        able = attempted(partial(_tried, session), lambda _: False)
        if not able:
            # What was cancelled at the deadline says nothing about the workers.
            require_time()
        _able[home] = able
    return _able[home]


def _tried(session: SparkSession) -> bool:
    one = session.range(0, 1, 1, 1).selectExpr("id", "CAST('part' AS BINARY) AS p")
    function = partial(tallies.send_buckets, widths=[1], keys=1)
    return len(mapped(one, function, arrays.SENT).collect()) == 1


def mapped(
    frame: DataFrame, function: Callable[[Iterable[Any]], Iterator[Any]], schema: str
) -> DataFrame:
    """What a function of a shipped module makes of each task's rows."""
    return frame.mapInArrow(function, schema)


def in_blocks(compute: Callable[[], dict[_Key, _Found]]) -> dict[_Key, _Found]:
    """What the workers found; nothing if Python failed there, which is no fault of a rule."""
    try:
        return compute()
    except PySparkException as error:
        if not isinstance(error, PythonException) and "Python worker" not in str(error):
            raise
        require_time()
        return {}
