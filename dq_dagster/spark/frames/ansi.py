"""Queries under ANSI, and large ones compiled well, whatever the session of the data says.

Without ANSI, sums wrap around and what cannot be cast or divided becomes NULL, all without a word:
a wrong Ok. The session belongs to others, so its setting is left alone. On classic Spark its data
is computed in a twin of the session that differs in nothing but three settings. What the author
of the data computed in it stays as it was: only what is added follows the twin. Spark Connect
keeps data to the session it was made in; there, SQL from users is refused without ANSI.

Another setting is about methods of more than 8,000 bytes, which Java never compiles: Spark would
run a query of many conditions as one of those, many times slower than in smaller ones. The third
lets a task write into a few folders at once: Spark would sort all rows by folder otherwise, where
nearly all of them go to one.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import Unmeasurable
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.session.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ANSI = "spark.sql.ansi.enabled"
_OURS = {
    ANSI: "true",
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.sql.maxConcurrentOutputFileWriters": "4",
}

_twins: weakref.WeakKeyDictionary[SparkSession, SparkSession] = weakref.WeakKeyDictionary()
_homes: weakref.WeakKeyDictionary[SparkSession, weakref.ref[SparkSession]] = (
    weakref.WeakKeyDictionary()
)
# The settings of a session, as Java holds them, when its twin got them.
_settings: weakref.WeakKeyDictionary[SparkSession, Any] = weakref.WeakKeyDictionary()


def is_ansi(frame: DataFrame) -> bool:
    """Whether what is computed from the frame is computed under ANSI."""
    return _says_ansi(frame.sparkSession)


def under_ansi(frame: DataFrame) -> DataFrame:
    """The same rows where what is computed from them is computed under ANSI, if that can be had."""
    session = frame.sparkSession
    if _says_ansi(session) or is_connect(session):
        return frame
    return _in_twin(frame)


def compiled(frame: DataFrame) -> DataFrame:
    """The same rows where they are computed well, however many conditions that takes.

    For what is written or collected next: the session has no catalog and no views of its own.
    """
    session = frame.sparkSession
    if session in _homes or is_connect(session):
        return frame
    return _in_twin(frame)


def session_of_ours(session: SparkSession) -> SparkSession:
    """Where files that we wrote are read: what is computed of them is compiled well at once."""
    if session in _homes or is_connect(session):
        return session
    return _twin(session)


def _in_twin(frame: DataFrame) -> DataFrame:
    try:
        return _moved(frame, _twin(frame.sparkSession))
    except PySparkException:
        # A column of a type that only its maker knows, say: then SQL of users is refused.
        return frame


def at_home(frame: DataFrame) -> DataFrame:
    """The same rows in the session that the data came from, for those whose session it is."""
    session = frame.sparkSession
    home = home_of(session)
    return frame if home is session else _moved(frame, home)


def with_views_of_home(session: SparkSession) -> SparkSession:
    """A session where queries find the tables and temporary views that they find at home."""
    home = home_of(session)
    if home is session:
        return session
    # A new session each time: a twin would keep the views that its home has dropped since.
    fresh = _like(home, home.newSession())
    fresh.catalog.setCurrentCatalog(home.catalog.currentCatalog())
    fresh.catalog.setCurrentDatabase(home.catalog.currentDatabase())
    for view in home.sql("SHOW VIEWS").where("isTemporary").collect():
        # One that cannot be read any more is missed by those who name it, and by nobody else.
        with suppress(PySparkException):
            _moved(home.table(identifier(view.viewName)), fresh).createTempView(view.viewName)
    return fresh


def in_session(frame: DataFrame, session: SparkSession) -> DataFrame:
    """The same rows as those of a frame of that session."""
    return frame if frame.sparkSession is session else _moved(frame, session)


def home_of(session: SparkSession) -> SparkSession:
    """The session that the data came from; the session itself if it is no twin."""
    found = _homes.get(session)
    return (found() if found else None) or session


def require_ansi(frame: DataFrame) -> None:
    """Raises Unmeasurable where SQL from users would be computed without ANSI."""
    if not is_ansi(frame):
        raise Unmeasurable.not_ansi()


def _says_ansi(session: SparkSession) -> bool:
    return (session.conf.get(ANSI) or "").lower() == "true"


def _twin(session: SparkSession) -> SparkSession:
    twin = _twins.get(session)
    if twin is None:
        twin = session.newSession()
        _twins[session] = twin
        _homes[twin] = weakref.ref(session)
    # Java compares its own maps: each setting by itself would be a call of hundreds.
    settings = session.conf._jconf.getAllAsJava()  # noqa: SLF001 (a call each otherwise)
    known = _settings.get(session)
    if known is None or not known.equals(settings):
        _like(session, twin)
        _settings[session] = settings
    return twin


def _like(home: SparkSession, ours: SparkSession) -> SparkSession:
    """A session of our own, with the settings that its home has now, but for those of ours."""
    wanted, known = home.conf.getAll, ours.conf.getAll
    for name, value in wanted.items():
        if name not in _OURS and known.get(name) != value:
            # What cannot be set is the same for all sessions.
            with suppress(PySparkException):
                ours.conf.set(name, value)
    for name in known.keys() - wanted.keys() - _OURS.keys():
        with suppress(PySparkException):
            ours.conf.unset(name)
    for name, value in _OURS.items():
        ours.conf.set(name, value)
    return ours


def _moved(frame: DataFrame, to: SparkSession) -> DataFrame:
    """The rows of the frame as those of a frame of the other session.

    A union belongs to the session of its first part. That one is empty, which Spark sees before
    anything runs, so that nothing is left of it in the plan.
    """
    # Not createDataFrame: that would make its session the active one for everybody.
    nothing = to.range(0).where("false")
    if all(map(_is_plain, frame.schema.fields)):
        # As one text: each column of the other way takes many calls of Java.
        texts = [
            f"CAST(NULL AS {field.dataType.simpleString()}) AS {identifier(field.name)}"
            for field in frame.schema.fields
        ]
        return nothing.selectExpr(*texts).unionAll(frame)
    columns = [
        F.lit(None).cast(field.dataType).alias(field.name, metadata=field.metadata)
        for field in frame.schema.fields
    ]
    return nothing.select(*columns).unionAll(frame)


def _is_plain(field: T.StructField) -> bool:
    """Whether SQL can write its name and type, and there is nothing else to know of it."""
    kind = field.dataType
    simple = isinstance(kind, T.AtomicType) and not isinstance(kind, T.CharType | T.VarcharType)
    return simple and bool(field.name) and not field.metadata
