"""Rules about what values mean."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import PrivateAttr

from dq_dagster.errors import DeclarationError, Misfit, Problem
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import have, listing
from dq_dagster.metrics.conditions import Fault, IsEmpty, NotValid
from dq_dagster.metrics.meanings.meaning import DEFINITIONS, BuiltIn, Validity
from dq_dagster.metrics.metric import ConditionCount, Metric
from dq_dagster.rules.base.column_rules import ColumnThresholdRule
from dq_dagster.rules.base.rule import RuleFamily
from dq_dagster.rules.fields.meaning import FROM_SCHEMA, Meaning, NameOrMeaning, Vocabulary
from dq_dagster.rules.fields.threshold import on_bad_rows


class ColumnValidMeaning(ColumnThresholdRule):
    """The values of each column are valid for a meaning.

    Every row counts: one without a value is invalid, unless ``empty_is_valid``.

    Observed: the number of rows without a valid value.

    Example::

        - type: column_valid_meaning
          columns: [country]
          meaning: country
          threshold: {type: proportion, min: 0.8}
    """

    type: Literal["column_valid_meaning"] = "column_valid_meaning"
    meaning: NameOrMeaning
    """What the values mean: the name of a built-in meaning or of one that the rule set declares,
    ``from_schema`` for the meaning that the asset's schema gives the column, or a meaning of its
    own, such as ``{values: [new, paid], match: ignore_case}``."""
    empty_is_valid: bool = False
    """Whether a row without a value counts as valid."""

    family = RuleFamily.MEANINGS
    _vocabulary: Vocabulary = PrivateAttr(default_factory=Vocabulary)

    def in_terms_of(self, vocabulary: Vocabulary) -> Self:
        name = self.meaning
        if isinstance(name, str) and name != FROM_SCHEMA and not vocabulary.knows(name):
            message = f"field 'meaning': {vocabulary.unknown(name)}"
            raise DeclarationError([Problem(message, rule=self.name, field="meaning")])
        rule = self.model_copy()
        rule._vocabulary = vocabulary  # noqa: SLF001 (a copy of itself)
        return rule

    def bad_value(self, column: str) -> NotValid:
        _, validity = self._meaning_of(column)
        return NotValid(column, self.blank_is_empty, validity, self.empty_is_valid)

    def faults(self) -> tuple[Fault, ...]:
        # Of a column without a meaning nobody can say which rows are bad: not even that none is.
        return tuple(self.blame(self.bad_value(column)) for column in self.columns)

    def column_faults(self, column: str) -> tuple[Fault, ...]:
        try:
            return super().column_faults(column)
        except Misfit:
            # There is nothing to measure; judging says why.
            return ()

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        bad = tuple(map(ConditionCount.of, self.column_faults(column)))
        if not bad:
            return ()
        if self.empty_is_valid:
            return (*bad, self.rows)
        return (*bad, self.rows, self.count(IsEmpty(column, self.blank_is_empty)))

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        noun, _ = self._meaning_of(column)
        bad, rows, *empties = evidence.each(self.column_metrics(column))
        says = f"{have(bad)} no valid {noun} in '{column}'"
        for empty in filter(None, empties):
            says += f", {empty:,} of them because {'it is' if empty == 1 else 'they are'} empty"
        return on_bad_rows(self.threshold, bad, rows).judgement(says)

    def demand(self) -> str:
        start = f"Every value of {listing(self.columns)} is"
        if isinstance(self.meaning, Meaning):
            words = f"{start} {self.meaning.words()}"
        elif self.meaning == FROM_SCHEMA:
            words = f"{start} valid for the meaning that the schema gives its column"
        else:
            words = f"{start} a valid {_noun(self.meaning)}"
        empty = "" if self.empty_is_valid else ", and there is always one"
        return f"{words}{empty}{self.leniency()}."

    def _meaning_of(self, column: str) -> tuple[str, Validity]:
        """What a valid value of the column is called, and what makes it valid."""
        if isinstance(self.meaning, Meaning):
            return "value", self.meaning.validity()
        name = self.meaning
        if name == FROM_SCHEMA:
            name = self._vocabulary.of_column(column) or ""
            if not name:
                raise Misfit.no_meaning(column)
        declared = self._vocabulary.declared.get(name)
        if declared is not None:
            return _noun(name), declared.validity()
        if name in DEFINITIONS:
            return _noun(name), BuiltIn(name)
        raise Misfit(f"The rule names an {self._vocabulary.unknown(name)}")


def _noun(name: str) -> str:
    definition = DEFINITIONS.get(name)
    return f"'{name}'" if definition is None else definition.noun
