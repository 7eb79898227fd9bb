"""The outcomes a rule can have, and which of two is worse."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Status(StrEnum):
    """What one evaluation of a rule says; from best to worst."""

    NOT_COMPUTED = "NotComputed"
    OK = "Ok"
    EMPTY = "Empty"
    WARNING = "Warning"
    ERROR = "Error"


BADNESS = {status: rank for rank, status in enumerate(Status)}


def worst(statuses: Iterable[Status]) -> Status:
    """The worst of the given statuses; NotComputed if there are none."""
    return max(statuses, key=BADNESS.__getitem__, default=Status.NOT_COMPUTED)
