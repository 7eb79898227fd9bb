"""Runs of checks alone: of chosen assets, rules and partitions, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import dagster as dg

from dq_dagster.errors import NotLaunched, did_you_mean
from dq_dagster.integration.checks.failures import reason_of
from dq_dagster.integration.checks.request import PARTITION_TAG
from dq_dagster.integration.checks.results import RULE, RULE_TYPE
from dq_dagster.integration.event_log.codec import RECORD, Record
from dq_dagster.integration.internals import PARTITION_NAME_TAG, QUIET, RANGE_TAGS
from dq_dagster.integration.partitions.asset_partitions import partition_keys_of
from dq_dagster.integration.step_context import started_from
from dq_dagster.judging.judgement import Status
from dq_dagster.ruleset import DATASET_CHECK

JOB = "dq_checks"


@dataclass(frozen=True, slots=True)
class CheckChoice:
    """What is to be run. Without assets, all that have checks; without rules, all of theirs.

    Of partitioned assets, checks of single partitions are run on the ``partitions``, on those from
    the ``first`` to the ``last``, or on ``every`` one that was built; those of the whole dataset on
    that. A rule that is named is run on the partitions whatever it is meant for.
    """

    assets: Sequence[str] = ()
    rules: Sequence[str] = ()
    partitions: Sequence[str] = ()
    first: str | None = None
    last: str | None = None
    every: bool = False

    @property
    def names_partitions(self) -> bool:
        return bool(self.partitions or self.first or self.every)

    @property
    def is_by_hand(self) -> bool:
        """Whether single rules are asked for on partitions, whatever they are meant for."""
        return bool(self.rules) and self.names_partitions


@dataclass(frozen=True, slots=True)
class CheckLaunch:
    """One run: its checks, and the partitions that it is about, if any."""

    checks: tuple[dg.AssetCheckKey, ...]
    partitions: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Such as "orders, 2024-03-01 to 2024-03-03"."""
        names = list(dict.fromkeys(key.asset_key.to_user_string() for key in self.checks))
        assets = ", ".join(names) if len(names) <= 3 else f"{len(names)} assets"
        if not self.partitions:
            return assets
        ends = [self.partitions[0], self.partitions[-1]]
        return f"{assets}, {' to '.join(dict.fromkeys(ends))}"


@dataclass(frozen=True, slots=True)
class CheckedSlice:
    """What a check said of a slice."""

    check: dg.AssetCheckKey
    rule: str
    partition: str | None
    status: Status
    blocking: bool
    message: str


@dataclass(frozen=True, slots=True)
class LaunchedRun:
    """What came of a run; ``unanswered`` are checks without any result, for that ``reason``."""

    launch: CheckLaunch
    run_id: str
    results: tuple[CheckedSlice, ...]
    unanswered: tuple[dg.AssetCheckKey, ...] = ()
    reason: str = ""


def planned_launches(
    defs: dg.Definitions, instance: dg.DagsterInstance, choice: CheckChoice
) -> list[CheckLaunch]:
    """The runs that a choice takes; raises NotLaunched if there is nothing like it."""
    specs = _of_rules(_of_assets(_specs(defs), choice.assets), choice.rules)
    partitions = {key: own for key in _keys(specs) if (own := _partitions(defs, key))}
    if choice.names_partitions and not partitions:
        raise NotLaunched.no_partitions([key.to_user_string() for key in _keys(specs)])
    at_once: list[dg.AssetCheckKey] = []
    launches: list[CheckLaunch] = []
    for key in _keys(specs):
        mine = [spec for spec in specs if spec.asset_key == key]
        if key not in partitions:
            at_once += [spec.key for spec in mine]
            continue
        chosen = _ChosenPartitions(key, partitions[key], instance, choice)
        single = [spec.key for spec in mine if spec.partitions_def is not None]
        whole = [spec for spec in mine if spec.partitions_def is None]
        # Rules that are named together with partitions are meant there, and nowhere else.
        there = [spec for spec in whole if choice.is_by_hand and RULE_TYPE in spec.metadata]
        at_once += [spec.key for spec in whole if spec not in there]
        by_hand = _without_check_of_partitions(there, single)
        launches += [*chosen.launches(single), *chosen.by_hand(by_hand)]
    return [*([CheckLaunch(tuple(at_once))] if at_once else []), *launches]


def _without_check_of_partitions(
    specs: Sequence[dg.AssetCheckSpec], single: Sequence[dg.AssetCheckKey]
) -> list[dg.AssetCheckKey]:
    names = {key.name for key in single}
    return [spec.key for spec in specs if spec.name.removesuffix(DATASET_CHECK) not in names]


def launched(
    defs: dg.Definitions, instance: dg.DagsterInstance, launch: CheckLaunch
) -> LaunchedRun:
    """Runs the checks, and waits for what they say; raises NotLaunched if they cannot be run."""
    job = dg.define_asset_job(JOB, selection=dg.AssetSelection.checks(*launch.checks))
    try:
        alone = dg.Definitions(
            assets=defs.assets,
            asset_checks=defs.asset_checks,
            resources=defs.resources,
            jobs=[job],
        )
        with started_from(defs):
            result = alone.resolve_job_def(JOB).execute_in_process(
                instance=instance, tags=dict(launch.tags), run_config=QUIET, raise_on_error=False
            )
    except dg.DagsterError as error:
        raise NotLaunched.because(launch.title, error) from error
    names = {spec.key: _rule(spec) for spec in _specs(defs)}
    results = [_said(one, names) for one in result.get_asset_check_evaluations()]
    results += _said_beside(result, launch, names)
    answered = {one.check for one in results}
    silent = tuple(key for key in launch.checks if key not in answered)
    reason = reason_of(result) if silent else ""
    return LaunchedRun(launch, result.run_id, tuple(results), silent, reason)


def _said(
    evaluation: dg.AssetCheckEvaluation, names: Mapping[dg.AssetCheckKey, str]
) -> CheckedSlice:
    entry = evaluation.metadata.get(RECORD)
    record = None if entry is None else Record.decode(entry.value)
    status = Status.OK if record is None else record.judged
    if not evaluation.passed:
        is_warning = evaluation.severity is dg.AssetCheckSeverity.WARN
        status = Status.WARNING if is_warning else Status.ERROR
    return CheckedSlice(
        evaluation.asset_check_key,
        names.get(evaluation.asset_check_key, evaluation.check_name),
        evaluation.partition,
        status,
        bool(evaluation.blocking),
        evaluation.description or "",
    )


def _said_beside(
    result: dg.ExecuteInProcessResult, launch: CheckLaunch, names: Mapping[dg.AssetCheckKey, str]
) -> Iterator[CheckedSlice]:
    """What rules of the whole dataset said of a partition, which is no verdict of their check."""
    for event in result.all_events:
        if event.event_type is not dg.DagsterEventType.ASSET_OBSERVATION:
            continue
        found = event.asset_observation_data.asset_observation
        entry = found.metadata.get(RECORD)
        record = None if entry is None else Record.decode(entry.value)
        text = found.description or ""
        meant = [key for key in launch.checks if text.startswith(f"{names[key]}: ")]
        if record is not None and meant:
            key = max(meant, key=lambda one: len(names[one]))
            message = text.removeprefix(f"{names[key]}: ")
            status = Status.EMPTY if record.was_empty else record.status
            yield CheckedSlice(
                key, names[key], found.partition, status, blocking=False, message=message
            )


# --- Which checks -------------------------------------------------------------------------------


def _specs(defs: dg.Definitions) -> list[dg.AssetCheckSpec]:
    every = [*(defs.assets or ()), *(defs.asset_checks or ())]
    return [
        spec
        for one in every
        if isinstance(one, dg.AssetsDefinition) and one.is_executable
        for spec in one.check_specs
    ]


def _keys(specs: Sequence[dg.AssetCheckSpec]) -> list[dg.AssetKey]:
    return list(dict.fromkeys(spec.asset_key for spec in specs))


def _rule(spec: dg.AssetCheckSpec) -> str:
    """What people call the rule of a check."""
    own = RULE_TYPE in spec.metadata
    return str(spec.metadata.get(RULE) or spec.name.removesuffix(DATASET_CHECK if own else ""))


def _of_assets(
    specs: Sequence[dg.AssetCheckSpec], names: Sequence[str]
) -> Sequence[dg.AssetCheckSpec]:
    if not specs:
        raise NotLaunched("There are no checks in the code location.")
    known = {key.to_user_string(): key for key in _keys(specs)}
    for name in names:
        if name not in known:
            raise NotLaunched.no_checks(name, list(known))
    return [spec for spec in specs if not names or spec.asset_key.to_user_string() in names]


def _of_rules(
    specs: Sequence[dg.AssetCheckSpec], names: Sequence[str]
) -> Sequence[dg.AssetCheckSpec]:
    called = {spec.key: {spec.name, _rule(spec)} for spec in specs}
    known = set().union(*called.values())
    for name in names:
        if name not in known:
            raise NotLaunched.no_rule(name, sorted({_rule(spec) for spec in specs}))
    return [spec for spec in specs if not names or not called[spec.key].isdisjoint(names)]


# --- Which partitions ---------------------------------------------------------------------------


def _partitions(defs: dg.Definitions, key: dg.AssetKey) -> dg.PartitionsDefinition[Any] | None:
    graph = defs.resolve_asset_graph()
    return graph.get(key).partitions_def if graph.has(key) else None


@dataclass(frozen=True, slots=True)
class _ChosenPartitions:
    key: dg.AssetKey
    definition: dg.PartitionsDefinition[Any]
    instance: dg.DagsterInstance
    choice: CheckChoice

    def launches(self, checks: Sequence[dg.AssetCheckKey]) -> Iterator[CheckLaunch]:
        """A run for each row of neighbours, which are judged together."""
        if not checks:
            return
        for some in self._neighbours():
            tags = dict(zip(RANGE_TAGS, (some[0], some[-1]), strict=True))
            if len(some) == 1:
                tags = {PARTITION_NAME_TAG: some[0]}
            yield CheckLaunch(tuple(checks), tuple(some), tags)

    def by_hand(self, checks: Sequence[dg.AssetCheckKey]) -> Iterator[CheckLaunch]:
        """Rules of the whole dataset, on single partitions."""
        for key in self._chosen() if checks else ():
            yield CheckLaunch(tuple(checks), (key,), {PARTITION_TAG: key})

    def _neighbours(self) -> Iterator[list[str]]:
        chosen = self._chosen()
        if isinstance(self.definition, dg.MultiPartitionsDefinition):
            # Between two of them lie others, along the second dimension.
            yield from ([key] for key in chosen)
            return
        places = {key: place for place, key in enumerate(self._known())}
        for _, some in groupby(enumerate(chosen), lambda one: places[one[1]] - one[0]):
            yield [key for _, key in some]

    def _chosen(self) -> list[str]:
        """In the order of the definition; raises NotLaunched for keys that there are not."""
        known, choice = self._known(), self.choice
        name = self.key.to_user_string()
        if not choice.names_partitions:
            raise NotLaunched.needs_partitions(name)
        ends = [one for one in (choice.first, choice.last) if one is not None]
        for key in (*choice.partitions, *ends):
            if key not in known:
                raise NotLaunched.unknown_partition(name, key, did_you_mean(key, known))
        wanted = set(choice.partitions)
        if choice.every:
            wanted |= self.instance.get_materialized_partitions(self.key)
        if ends:
            start, stop = (known.index(key) for key in (ends[0], ends[-1]))
            wanted |= set(known[start : stop + 1])
        chosen = [key for key in known if key in wanted]
        if not chosen:
            raise NotLaunched.no_partition_chosen(name)
        return chosen

    def _known(self) -> list[str]:
        return partition_keys_of(self.definition, self.instance)
