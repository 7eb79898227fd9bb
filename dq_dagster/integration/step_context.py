"""What the engine needs of the context of a Dagster step: checks, guarded assets and tests give it.

``AssetCheckExecutionContext`` and ``AssetExecutionContext`` both are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, runtime_checkable

import dagster as dg

# The assets of the code location that runs in this process were started from, if any.
LOCATION: ContextVar[tuple[Any, ...]] = ContextVar("LOCATION", default=())


@contextmanager
def started_from(defs: dg.Definitions) -> Iterator[None]:
    """Runs in this process belong to no code location; within this, steps know it all the same."""
    token = LOCATION.set((defs.resolve_asset_graph(),))
    try:
        yield
    finally:
        LOCATION.reset(token)


@runtime_checkable
class OpContext(Protocol):
    """What partitions a run is about, and the way to the step itself."""

    @property
    def has_partition_key(self) -> bool: ...

    @property
    def partition_key(self) -> str: ...

    @property
    def has_partition_key_range(self) -> bool: ...

    @property
    def partition_keys(self) -> Sequence[str]: ...

    def get_step_execution_context(self) -> Any:
        """What is not public of a step; only ``internals`` knows its parts."""


@runtime_checkable
class StepContext(Protocol):
    """A running step."""

    @property
    def instance(self) -> dg.DagsterInstance:
        """Where the event log is read."""

    @property
    def run(self) -> dg.DagsterRun:
        """Its tags say what the run is about."""

    @property
    def log(self) -> dg.DagsterLogManager: ...

    @property
    def resources(self) -> Any:
        """Those that a reader named, as attributes."""

    @property
    def selected_asset_check_keys(self) -> AbstractSet[dg.AssetCheckKey]:
        """The checks that need a result."""

    @property
    def op_execution_context(self) -> OpContext: ...
