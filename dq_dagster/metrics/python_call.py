"""What a function of the user says about the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dq_dagster.metrics.metric import Metric


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a function is told beside the data."""

    caller: str
    """The name of the rule or metric that the function is called for."""
    asset: str
    """The key of the asset that the data belongs to."""
    partition: str | None
    """The partition that the data is; None if it is the whole dataset."""
    now: datetime
    """The time that ages are counted from."""


@dataclass(frozen=True, slots=True)
class PythonCall(Metric):
    """What a function returns when it is called with the data, for one rule."""

    caller: str
    function: Callable[..., Any]
    # The caller's name is unique, and arguments from YAML may be lists, which have no hash.
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        return f"python:{self.caller}"
