"""The parts of Dagster that are not public still look as this library uses them."""

from __future__ import annotations

import inspect

from dagster._core.execution.context.op_execution_context import OpExecutionContext  # noqa: TID251 (what is watched)
from dagster._core.execution.plan.inputs import (  # noqa: TID251
    FromLoadableAsset,
    FromStepOutput,
)


def test_a_step_input_can_be_loaded_by_hand() -> None:
    for source in (FromStepOutput, FromLoadableAsset):
        parameters = list(inspect.signature(source.load_input_object).parameters)
        assert parameters == ["self", "step_context", "input_def"]


def test_an_op_context_leads_to_its_step() -> None:
    assert callable(OpExecutionContext.get_step_execution_context)
