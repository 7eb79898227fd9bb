"""The overview, which most pages need and which takes longest to make, is made once for many."""

from __future__ import annotations

from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dq_dagster.monitoring.monitor import Monitor
    from dq_dagster.monitoring.views.shapes import Overview

# In seconds: what was read less than this ago is not read again for a page, and an overview is
# made anew after that time even if no check was evaluated: assets may have been built, days end.
_FRESH, _OLD = 3.0, 15.0


class RecentOverview:
    """A monitor's overview as of the last evaluation; safe to share among threads."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor, self._lock = monitor, Lock()
        self._view: Overview | None = None
        self._at = float("-inf")

    def refresh(self) -> None:
        """Takes in what the event log has by now."""
        done = self._monitor.refresh(at_most_every=_FRESH)
        if done.added or done.removed:
            self._at = float("-inf")

    def view(self) -> Overview:
        with self._lock:
            if self._view is None or monotonic() - self._at > _OLD:
                # Before it is made: what is found meanwhile makes it old again.
                self._at = monotonic()
                self._view = self._monitor.overview()
            return self._view
