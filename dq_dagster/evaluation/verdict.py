"""One rule judged; whatever it raises becomes its own Error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.rules.rule import Rule

_Found = TypeVar("_Found")


def judged(rule: Rule, evidence: Evidence) -> Judgement:
    """The rule's judgement, or the Error that says why it has none."""
    try:
        return rule.judge(evidence)
    except RuleFailure as failure:
        return Judgement.error(failure)
    except Exception as error:  # noqa: BLE001 (one broken rule must not take the others down)
        return Judgement.error(Unmeasurable.broken(error))


def attempted(read: Callable[[], _Found], what: str) -> _Found | RuleFailure:
    """What is on record, or the failure that says why it could not be read."""
    try:
        return read()
    except RuleFailure as failure:
        return failure
    except Exception as error:  # noqa: BLE001 (as above: only the rule that needs it fails)
        return Unmeasurable.no_record(what, type(error).__name__)
