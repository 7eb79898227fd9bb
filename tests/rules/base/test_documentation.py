"""What docstrings and fields of rule types tell, as the page and the command line show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.metric import Metric
from dq_dagster.rules.base.column_rules import RuleWithColumns
from dq_dagster.rules.base.documentation import Documentation, FieldNote, own_fields
from dq_dagster.rules.fields.constraints import ColumnNames
from dq_dagster.rules.fields.threshold import ALL, EitherThreshold


class Place(BaseModel):
    """Where something is."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    street: str
    """The street."""
    number: int | None = None
    """The number."""


class Answered(RuleWithColumns):
    def metrics(self) -> tuple[Metric, ...]:
        return ()

    def judge(self, evidence: Evidence) -> Judgement:
        return Judgement.of_no_rows()

    def demand(self) -> str:
        return "Nothing."


class Delivered(Answered):
    """Every parcel of ``columns`` came to
    ``place``.

    How it came there:

    - by ship
    - or ``by_road``

    Observed: the parcels that came
    elsewhere.

    Example::

        - type: delivered

          columns: [a]
    """

    type: Literal["delivered"] = "delivered"
    columns: ColumnNames
    """The columns that name parcels."""
    by_road: bool = False
    """Whether trucks count."""
    speed: Literal["slow", "fast"] = "slow"
    """How fast it was."""
    within: Literal["day"] | int = "day"
    """How long it may take."""
    unless: Literal["rain", "snow"] | None = None
    """When it need not be."""
    stops: Sequence[str] = ()
    """Where it stopped."""
    notes: Mapping[str, str] = {}
    """What was noted."""
    late: EitherThreshold = ALL
    """How many may be late."""
    place: Place
    """Where it must come to."""
    home: Place | None = None
    """Where it came from."""


class Bare(Answered):
    type: Literal["bare"] = "bare"


def test_the_parts_of_a_docstring() -> None:
    assert Documentation.of(Delivered) == Documentation(
        meaning="Every parcel of `columns` came to `place`.",
        details=("How it came there:", "- by ship\n- or `by_road`"),
        observed="the parcels that came elsewhere.",
        example="- type: delivered\n\n  columns: [a]",
    )


def test_what_is_left_out_is_empty() -> None:
    Bare.__doc__ = None
    assert Documentation.of(Bare) == Documentation("", (), "", "")
    assert own_fields(Bare) == []


def test_fields_of_a_type_with_defaults_and_choices() -> None:
    assert own_fields(Delivered) == [
        FieldNote("columns", "required", "The columns that name parcels."),
        FieldNote("place", "required", "Where it must come to."),
        FieldNote("place.street", "required", "The street."),
        FieldNote("place.number", "none", "The number."),
        FieldNote("by_road", "false", "Whether trucks count."),
        FieldNote("speed", "slow", "How fast it was. One of `slow`, `fast`."),
        FieldNote("within", "day", "How long it may take."),
        FieldNote("unless", "none", "When it need not be. One of `rain`, `snow`."),
        FieldNote("stops", "none", "Where it stopped."),
        FieldNote("notes", "none", "What was noted."),
        FieldNote("late", "all", "How many may be late."),
        FieldNote("home", "none", "Where it came from."),
        FieldNote("home.street", "required", "The street."),
        FieldNote("home.number", "none", "The number."),
    ]
