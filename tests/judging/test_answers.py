"""What functions of users return, as judgements."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dq_dagster as dq
from dq_dagster.errors import Misfit
from dq_dagster.judging.answers import judgement_of


@dataclass
class Verdict:
    status: str
    message: str | None = None
    observed: Any = None
    rows: Any = None
    failed_rows: Any = None


@pytest.mark.parametrize(
    ("answer", "status", "observed", "message"),
    [
        (True, "Ok", None, "The function answered Ok."),
        (False, "Error", None, "The function answered Error."),
        (np.bool_(True), "Ok", None, "The function answered Ok."),
        (("Ok", "All is well."), "Ok", None, "All is well."),
        (("WARNING", "hm"), "Warning", None, "hm."),
        (("error", 3, "3 are\n  bad"), "Error", 3, "3 are bad."),
        (("Empty", None), "Empty", None, "The function answered Empty."),
        (("Ok", 1.5, None), "Ok", 1.5, "The function answered Ok for 1.5."),
        (("Ok", np.float64(1.5), ""), "Ok", 1.5, "The function answered Ok for 1.5."),
        (("Ok", np.int64(2), "two"), "Ok", 2, "two."),
        (("Ok", Decimal("0.1"), "d"), "Ok", Decimal("0.1"), "d."),
        (("Ok", date(2024, 1, 1), "d"), "Ok", date(2024, 1, 1), "d."),
        # A text may come from the data: it is counted, not quoted.
        (("Ok", "secret", None), "Ok", "secret", "The function answered Ok for a text of 6 "),
        (("Ok", {"a": 1, "b": None}, "m"), "Ok", {"a": 1, "b": None}, "m."),
        ((dq.Status.WARNING, 1, "w!"), "Warning", 1, "w!"),
        (dq.plugins.Judgement(dq.Status.ERROR, "No.", observed=7), "Error", 7, "No."),
        (Verdict("ok"), "Ok", None, "The function answered Ok."),
        (SimpleNamespace(status="Error", observed=2, message="m"), "Error", 2, "m."),
    ],
)
def test_answers(answer: Any, status: str, observed: Any, message: str) -> None:
    judgement = judgement_of(answer)
    assert judgement.status == status
    assert judgement.observed == observed
    assert type(judgement.observed) is type(observed)
    assert judgement.message.startswith(message)


def test_counts_of_an_object_are_kept() -> None:
    judgement = judgement_of(Verdict("Ok", "m", rows=10, failed_rows=2))
    assert (judgement.rows, judgement.failed_rows) == (10, 2)
    odd = judgement_of(Verdict("Ok", "m", rows="10", failed_rows=True))
    assert (odd.rows, odd.failed_rows) == (None, None)


@pytest.mark.parametrize(
    ("answer", "described"),
    [
        (None, "(nothing)"),
        ("Ok", "(of type str)"),
        (1, "(of type int)"),
        (("Ok",), "(a tuple of 1)"),
        (("Ok", 1, "m", 2), "(a tuple of 4)"),
        (["Ok", "m"], "(of type list)"),
        (("Fine", "m"), "(a status that is of type str)"),
        (("NotComputed", "m"), "(a status that is of type str)"),
        ((True, "m"), "(a status that is of type bool)"),
        (("Ok", 3), "(a message that is of type int)"),
        (("Ok", [1], "m"), "(an observed value that is of type list)"),
        (("Ok", pd.Series([1]), "m"), "(an observed value that is of type Series)"),
        (np.array([True, False]), "(of type ndarray)"),
        (Verdict(None), "(a status that is nothing)"),  # type: ignore[arg-type]
    ],
)
def test_anything_else_is_told_what_is_expected(answer: Any, described: str) -> None:
    with pytest.raises(Misfit) as caught:
        judgement_of(answer)
    assert described in str(caught.value)
    assert "it must return a boolean, (status, message), (status, observed, message)" in str(
        caught.value
    )
