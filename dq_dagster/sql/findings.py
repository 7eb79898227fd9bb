"""What reading an expression brings to light."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dq_dagster.sql.limits import MAX_REFUSALS
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import Refused


class Findings:
    """The columns an expression uses, and what is wrong with it."""

    def __init__(self) -> None:
        self.columns: dict[str, None] = {}
        self.refusals: dict[Refusal, None] = {}
        self._variables: list[str] = []

    def refuse(self, refusal: Refusal) -> None:
        """Notes a fault that does not keep the rest from being read."""
        self.refusals[refusal] = None
        if len(self.refusals) >= MAX_REFUSALS:
            raise Refused(refusal)

    def is_variable(self, name: str) -> bool:
        """Whether the name belongs to a lambda around this place."""
        return name.lower() in self._variables

    @contextmanager
    def variables(self, names: Sequence[str]) -> Iterator[None]:
        """Within it, these names are variables of a lambda, not columns."""
        # Lower case, because Spark finds them regardless of case.
        self._variables.extend(name.lower() for name in names)
        yield
        del self._variables[len(self._variables) - len(names) :]
