"""The rule whose verdict is a function of the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from dq_dagster.judging.answers import judgement_of
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.python_call import PythonCall
from dq_dagster.rules.python_function import PythonFunction, function_at, path_of, refuse_misfit
from dq_dagster.rules.rule import Rule


class PythonRule(Rule):
    """A function of yours looks at the data and says what it thinks.

    It is called as ``function(data, context, **arguments)``: ``data`` is the Spark DataFrame (the
    rows that pass ``where``), ``context`` has ``caller`` (the rule's name), ``asset``,
    ``partition`` and ``now``. It returns a boolean, ``(status, message)``, ``(status, observed,
    message)``, or an object with these as attributes, such as ``dq.Judgement``; a status is
    ``Ok``, ``Warning``, ``Error`` or ``Empty``. If it raises, the rule is an Error that says what
    was raised. It is run as it is: only name functions that you trust.

    Observed: what the function says it observed.

    Example::

        - type: python
          function: examples.python_rules:no_gaps
          arguments: {column: order_id}
    """

    type: Literal["python"] = "python"
    function: PythonFunction
    """The function, or where it stands: ``package.module:function``."""
    arguments: Mapping[str, Any] = {}
    """What the function gets beside data and context, as keyword arguments."""

    named_after: ClassVar[tuple[str, ...]] = ("function_name",)

    @model_validator(mode="after")
    def _can_be_called(self) -> Self:
        refuse_misfit(function_at(self.function), self.arguments)
        return self

    def metrics(self) -> tuple[Metric, ...]:
        return (self._call,)

    def observed_metrics(self, evidence: Evidence) -> tuple[Metric, ...]:
        # What the function answers is no value, but a verdict.
        return ()

    def judge(self, evidence: Evidence) -> Judgement:
        return judgement_of(evidence[self._call])

    def demand(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"The function '{self._path}'{f' with {given}' if given else ''} accepts the data."

    @property
    def function_name(self) -> str:
        """The function's own name, without its module."""
        return self._path.rpartition(":")[2].rpartition(".")[2]

    @property
    def _path(self) -> str:
        return path_of(self.function)

    @property
    def _call(self) -> PythonCall:
        return PythonCall(self.name, function_at(self.function), self.arguments, where=self.where)
