"""The time that an evaluation may take: at its end, the Spark jobs of the evaluation are cancelled.

They are found by a tag that Spark puts on whatever the thread of the evaluation starts, so that the
jobs of others go on, also those of other threads in the same session.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from dq_dagster.errors import TimedOut
from dq_dagster.judging.ranges import duration
from dq_dagster.spark.session.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A query is several jobs, and between two of them there is nothing to cancel.
_PAUSE = 0.2
# Python waits no longer than some hundred years at a time.
_LONGEST_WAIT = 3_600.0


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment from which on nothing more is started, and what is running is cancelled."""

    timeout: int | Decimal
    _start: float = field(default_factory=time.monotonic)

    def failure(self) -> TimedOut | None:
        """Why something has no answer; None as long as there is time left."""
        return None if self._left() > 0 else TimedOut.after(duration(self.timeout))

    @contextmanager
    def cancelling(self, session: SparkSession) -> Iterator[None]:
        """Cancels at the deadline the Spark jobs that this thread starts meanwhile."""
        jobs = _Jobs.of(session, tag=f"dq-{uuid.uuid4()}")
        done = threading.Event()
        # Whoever waits for Spark cannot watch the clock.
        clock = threading.Thread(target=self._watch, args=(jobs, done), name=jobs.tag, daemon=True)
        jobs.tell(jobs.add)
        clock.start()
        try:
            yield
        finally:
            done.set()
            jobs.tell(jobs.remove)

    def _watch(self, jobs: _Jobs, done: threading.Event) -> None:
        while not done.is_set():
            left = self._left()
            if left <= 0:
                jobs.tell(jobs.cancel)
            done.wait(min(left, _LONGEST_WAIT) if left > 0 else _PAUSE)

    def _left(self) -> float:
        return self._start + float(self.timeout) - time.monotonic()


# That of the evaluation which is going on, if it has one.
DEADLINE: ContextVar[Deadline | None] = ContextVar("DEADLINE", default=None)


@contextmanager
def time_limit(timeout: int | Decimal) -> Iterator[None]:
    """What is evaluated within has so many seconds, from now on."""
    before = DEADLINE.set(Deadline(timeout))
    try:
        yield
    finally:
        DEADLINE.reset(before)


@dataclass(frozen=True, slots=True)
class _Jobs:
    """How a tag is put on the jobs of a thread, and how those that have it are cancelled."""

    tag: str
    add: Callable[[str], object]
    remove: Callable[[str], object]
    cancel: Callable[[str], object]

    @classmethod
    def of(cls, session: SparkSession, tag: str) -> _Jobs:
        if is_connect(session):
            return cls(tag, session.addTag, session.removeTag, session.interruptTag)
        # Not the tags of the session: in classic Spark those are cancelled by their own thread
        # only, and are neither on the jobs of other sessions nor on those of RDDs.
        context = session.sparkContext
        return cls(tag, context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)

    def tell(self, what: Callable[[str], object]) -> None:
        # A Spark that is gone has no jobs, and says so itself when it is to start one.
        with suppress(Exception):
            what(self.tag)
