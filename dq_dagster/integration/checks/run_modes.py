"""When checks run: with the build, in a run of their own after it, or only when somebody asks.

Each mode is a step of its own. Dagster puts all checks of an asset into the runs that build it, so
that a step of checks for later gives way there: it ends at once, without results. What is to run
after the build is started by an automation condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import dagster as dg

from dq_dagster.errors import DeclarationError
from dq_dagster.integration.internals import builds
from dq_dagster.integration.step_context import StepContext
from dq_dagster.judging.wording import plural
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.fields.constraints import RunMode
from dq_dagster.ruleset import RuleSet

WITH_BUILD: RunMode = "with_build"
AFTER_BUILD: RunMode = "after_build"
ON_DEMAND: RunMode = "on_demand"
_WHY = {
    AFTER_BUILD: "run after the build, in a run of their own",
    ON_DEMAND: "run on demand, in a run that builds nothing",
}


def by_run_mode(rule_set: RuleSet) -> Iterator[tuple[RunMode, RuleSet]]:
    """The modes that its rules have, each with the same rule set of those rules alone."""
    for mode in (WITH_BUILD, AFTER_BUILD, ON_DEMAND):
        # Those that are disabled as well, be it all: monitoring tells them from those that are
        # gone. Of a step without any check Dagster makes no part of a job.
        rules = tuple(rule for rule in rule_set.rules if rule.run == mode)
        if rules:
            yield mode, rule_set.model_copy(update={"rules": rules})


def blocks(rule: Rule) -> bool:
    """Whether what is downstream waits for the check: never for one that is not of the build."""
    return rule.blocking and rule.run == WITH_BUILD


def gives_way(context: StepContext, key: dg.AssetKey, mode: RunMode) -> bool:
    """Whether checks of such a mode are not meant for this run, as it builds their asset."""
    if not builds(context, key):
        return False
    count = len(context.selected_asset_check_keys)
    context.log.info("%s: %s %s.", key.to_user_string(), plural(count, "check"), _WHY[mode])
    return True


def condition_of(rule: Rule, key: dg.AssetKey) -> dg.AutomationCondition[Any] | None:
    """What starts a check; None for those that are part of other runs, or asked for."""
    if rule.run != AFTER_BUILD:
        return None
    # Nothing more. With in_latest_time_window() no back-dated partition would be checked. Nor
    # since_last_handled(): Dagster takes one result for that of all partitions, and a build that
    # ends while the checks of the one before it run would never be checked. Each build is new in
    # exactly one tick, and any_deps_updated() leaves out those of runs that the check gave way in.
    built = dg.AutomationCondition.any_deps_match(dg.AutomationCondition.newly_updated())
    return built.allow(dg.AssetSelection.assets(key)).with_label(AFTER_BUILD)


def build_check_sensor(
    checks: Iterable[dg.AssetChecksDefinition],
    *,
    name: str = "dq_after_build",
    minimum_interval_seconds: int | None = None,
    default_status: dg.DefaultSensorStatus = dg.DefaultSensorStatus.RUNNING,
) -> dg.AutomationConditionSensorDefinition:
    """The sensor that starts checks of rules with ``run: after_build``; it is on by default.

    ``checks`` are what ``dq.build_asset_checks`` returned. Whenever one of their assets, or a
    partition of it, was built, its checks are run on that, in a run of their own. Without this
    sensor Dagster's own one for automation conditions does the same, once it is switched on.
    """
    every = [key for one in checks for key in _automated(one)]
    if not every:
        raise DeclarationError.of(
            f"none of the checks is of a rule with 'run: {AFTER_BUILD}', so that the sensor "
            f"'{name}' would have nothing to start."
        )
    return dg.AutomationConditionSensorDefinition(
        name,
        target=dg.AssetSelection.checks(*every),
        minimum_interval_seconds=minimum_interval_seconds,
        default_status=default_status,
        description="Runs the checks of rules with 'run: after_build' on what was built.",
    )


def _automated(checks: Any) -> list[dg.AssetCheckKey]:
    if not isinstance(checks, dg.AssetsDefinition):
        raise DeclarationError.of(
            f"what dq.build_asset_checks(...) returned is needed, not {checks!r}."
        )
    return [spec.key for spec in checks.check_specs if spec.automation_condition is not None]
