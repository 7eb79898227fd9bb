"""How far Dagster is with storing results: one by one, which takes minutes where there are many."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from dq_dagster.judging.quantities import duration

# With Dagster's SQLite, half a minute apart.
_EVERY = 500


def with_progress(events: Sequence[Any], asset: str, log: logging.Logger) -> Iterator[Any]:
    """The events, and a line in the log now and then if there are many results among them.

    Whoever takes an event has stored it by the time that the next one is asked for.
    """
    total = sum(not isinstance(event, dg.Output) for event in events)
    if total > _EVERY:
        log.info("%s: %s results are to be stored, the worst first.", asset, f"{total:,}")
    start, stored = time.monotonic(), 0
    for event in events:
        yield event
        if isinstance(event, dg.Output):
            continue
        stored += 1
        if stored % _EVERY == 0 and stored < total:
            log.info("%s: %s", asset, told(stored, total, time.monotonic() - start))


def told(stored: int, total: int, seconds: float) -> str:
    """Such as "500 of 2,000 results are stored (25 per second, about 1 minute to go)"."""
    rate = stored / max(seconds, 0.001)
    left = duration(max(1, round((total - stored) / rate)), units=1)
    return (
        f"{stored:,} of {total:,} results are stored ({rate:,.0f} per second, about {left} to go)."
    )
