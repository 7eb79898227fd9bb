"""One rule judged; whatever it raises becomes its own Error."""

from __future__ import annotations

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.rules.rule import Rule


def judged(rule: Rule, evidence: Evidence) -> Judgement:
    """The rule's judgement, or the Error that says why it has none."""
    try:
        return rule.judge(evidence)
    except RuleFailure as failure:
        return Judgement.error(failure)
    except Exception as error:  # noqa: BLE001 (one broken rule must not take the others down)
        return Judgement.error(Unmeasurable.broken(error))
