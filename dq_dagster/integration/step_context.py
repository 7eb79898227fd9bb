"""What the engine needs of the context of a Dagster step: checks, guarded assets and tests give it.

``AssetCheckExecutionContext`` and ``AssetExecutionContext`` both are one.
"""

from __future__ import annotations

from typing import Any, Protocol

import dagster as dg


class StepContext(Protocol):
    """A running step."""

    @property
    def instance(self) -> dg.DagsterInstance: ...

    @property
    def run(self) -> dg.DagsterRun: ...

    @property
    def log(self) -> Any: ...

    @property
    def resources(self) -> Any: ...

    @property
    def selected_asset_check_keys(self) -> Any: ...

    @property
    def op_execution_context(self) -> dg.OpExecutionContext: ...
