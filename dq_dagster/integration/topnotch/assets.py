"""Commands of a TopNotch plan as assets, and its assertions as rules of the assets they judge."""

# No "from __future__ import annotations": Dagster reads the annotation of a step's context.
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import dagster as dg

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.errors.base import near_or_all
from dq_dagster.integration.checks.loading import keys_of
from dq_dagster.integration.checks.readers import AssetIOManager, session_of
from dq_dagster.integration.step_context import StepContext
from dq_dagster.plan.topnotch import (
    AssertionCommand,
    DiffCommand,
    PlanCommand,
    PlanFile,
    PlanInput,
    ViewCommand,
    needed_features,
)
from dq_dagster.ruleset import Origin, RuleSet
from dq_dagster.spark.session.java import use_packaged_java

OUTPUT_PATH = "output_path"
_MOST_DESCRIBED = 500


@dataclass(frozen=True)
class PlanAssets:
    """The assets of a plan; ``inputs`` are those of others that it reads, by what it calls them."""

    file: PlanFile
    inputs: Mapping[str, Any]
    prefix: tuple[str, ...]
    group_name: str | None
    spark: str

    def refuse_misfits(self) -> None:
        """Raises DeclarationError if an input is unknown, or two keys would be one in Dagster."""
        problems = [
            Problem(f"inputs: the plan reads no file that it calls '{ref}'.{self._hint(ref)}")
            for ref in self.inputs
            if ref not in {source.ref for source in self._sources}
        ]
        for one in self.inputs.values():
            keys_of(one)
        names = Counter(key.to_python_identifier() for key in self._keys.values())
        problems += [
            Problem(f"'{key.to_user_string()}' and another outputKey would be one step in Dagster.")
            for key in self._keys.values()
            if names[key.to_python_identifier()] > 1
        ]
        if problems:
            raise DeclarationError(problems)

    def _hint(self, ref: str) -> str:
        return near_or_all(ref, sorted({source.ref for source in self._sources}))

    @cached_property
    def _sources(self) -> list[PlanInput]:
        """The files that are read, each once."""
        every = [one for command in self.file.commands for one in command.inputs]
        return list(dict.fromkeys(one for one in every if one.command is None))

    @cached_property
    def _keys(self) -> dict[str, dg.AssetKey]:
        return {one.key: dg.AssetKey([*self.prefix, one.key]) for one in self.file.commands}

    @cached_property
    def files(self) -> dict[PlanInput, dg.AssetSpec]:
        """The files that are read and are no assets of others, as external assets."""
        found: dict[PlanInput, dg.AssetSpec] = {}
        taken = {key.to_python_identifier() for key in self._keys.values()}
        for source in self._sources:
            if source.ref in self.inputs:
                continue
            parts = _parts(source.ref)
            if dg.AssetKey(parts).to_python_identifier() in taken:
                parts[-1] += f"_{_digest(source.ref, source.delimiter)}"
            key = dg.AssetKey(parts)
            taken.add(key.to_python_identifier())
            found[source] = dg.AssetSpec(
                key,
                description=f"Files that the plan '{self.file.name}' reads: {source.ref}",
                metadata={"path": source.path},
                group_name=self._group,
                kinds={"parquet" if source.delimiter is None else "csv"},
            )
        return found

    @cached_property
    def commands(self) -> dict[str, dg.AssetsDefinition]:
        """The rows of each command, by its key."""
        use_packaged_java()
        return {command.key: self._asset(command) for command in self.file.commands}

    def of_assets(self) -> list[RuleSet]:
        """The assertions on what Dagster builds, as rules of those assets."""
        by_asset: dict[dg.AssetKey, list[AssertionCommand]] = {}
        for command in self._assertions:
            if command.source not in self.files:
                by_asset.setdefault(self._key_of(command.source), []).append(command)
        return [
            self._rule_set(
                self._asset_of(commands[0].source),
                commands,
                FeatureReader(features=features)
                if (features := needed_features(commands))
                else None,
            )
            for commands in by_asset.values()
        ]

    def of_files(self) -> list[RuleSet]:
        """The assertions on files, as rules of their own assets, the invalid rows.

        Nothing builds files: no run that builds assets would run checks of those.
        """
        return [
            self._rule_set(
                self.commands[command.key],
                [command],
                FileReader(command.source, needed_features([command]), self.spark),
            )
            for command in self._assertions
            if command.source in self.files
        ]

    @property
    def _assertions(self) -> list[AssertionCommand]:
        return [one for one in self.file.commands if isinstance(one, AssertionCommand)]

    def _rule_set(self, asset: Any, commands: list[AssertionCommand], reader: Any) -> RuleSet:
        rules = [one.rule for command in commands for one in command.assertions]
        places = {
            one.rule.check_name: command.place for command in commands for one in command.assertions
        }
        found = RuleSet(asset=asset, rules=rules, reader=reader)
        return found.declared_at(Origin(commands[0].place, places))

    def _asset_of(self, source: PlanInput) -> Any:
        if source.command is not None:
            return self.commands[source.command]
        return self.inputs[source.ref]

    def _key_of(self, source: PlanInput) -> dg.AssetKey:
        if source.command is not None:
            return self._keys[source.command]
        if source in self.files:
            return self.files[source].key
        [key] = keys_of(self.inputs[source.ref])
        return key

    @property
    def _group(self) -> str:
        return self.group_name or re.sub(r"\W", "_", self.file.name, flags=re.ASCII)

    def _asset(self, command: PlanCommand) -> dg.AssetsDefinition:
        read = [source for source in command.inputs if source in self.files]
        loaded = {self._key_of(one): one for one in command.inputs if one not in self.files}
        names = {key: f"input_{number}" for number, key in enumerate(loaded)}
        decorate = dg.asset(
            key=self._keys[command.key],
            ins={name: dg.AssetIn(key) for key, name in names.items()},
            deps=[self._key_of(source) for source in read],
            required_resource_keys={self.spark} if read else set(),
            description=_described(command),
            group_name=self._group,
            code_version=_digest(command.declared),
            kinds={"spark"},
        )
        return decorate(self._compute(command, names))

    def _compute(
        self, command: PlanCommand, names: Mapping[dg.AssetKey, str]
    ) -> Callable[..., Any]:
        def compute(context: dg.AssetExecutionContext, **given: Any) -> Any:
            # Here, so that loading a plan needs no Spark.
            from dq_dagster.evaluation.topnotch.run import output, stored
            from dq_dagster.spark.frames.frames import as_spark
            from dq_dagster.spark.topnotch.views import read_input

            frames = [
                read_input(session_of(context, self.spark), source)
                if source in self.files
                else as_spark(given[names[self._key_of(source)]])
                for source in command.inputs
            ]
            rows = stored(command, output(command, frames))
            if command.output_path is not None:
                path = dg.MetadataValue.path(command.output_path)
                context.add_output_metadata({OUTPUT_PATH: path})
            return rows

        compute.__name__ = self._keys[command.key].to_python_identifier()
        return compute


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads an input of a plan that is no asset, with the features that conditions are about."""

    source: PlanInput
    features: Mapping[str, str]
    spark: str

    @property
    def required_resource_keys(self) -> frozenset[str]:
        return frozenset({self.spark})

    def read(self, context: StepContext, key: dg.AssetKey) -> Any:
        from dq_dagster.spark.topnotch.views import read_input, with_features

        return with_features(
            read_input(session_of(context, self.spark), self.source), self.features
        )


@dataclass(frozen=True, slots=True)
class FeatureReader(AssetIOManager):
    """Reads what the asset's own IO manager stored, with the features of assertions."""

    features: Mapping[str, str] = field(default_factory=dict)

    def read(self, context: StepContext, key: dg.AssetKey) -> Any:
        from dq_dagster.spark.frames.frames import as_spark
        from dq_dagster.spark.topnotch.views import with_features

        return with_features(as_spark(AssetIOManager().read(context, key)), self.features)


def _parts(ref: str) -> list[str]:
    """A path as the parts of a key, with the characters that a key may have."""
    found = [re.sub(r"[^A-Za-z0-9_.-]+", "_", part) for part in re.split("[/\\\\]+", ref)]
    return [part for part in found if part.strip("._-")] or ["file"]


def _digest(*said: Any) -> str:
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _described(command: PlanCommand) -> str:
    match command:
        case ViewCommand():
            text = f"A view: {command.query}"
        case DiffCommand():
            text = (
                f"The rows of '{command.left.source.ref}' and '{command.right.source.ref}' side by "
                f"side, by {', '.join(command.left.keys)}."
            )
        case AssertionCommand():
            listed = "; ".join(one.description for one in command.assertions)
            text = f"Rows of '{command.source.ref}' that are invalid, and why. Asserted: {listed}"
        case _:
            text = command.key
    return text if len(text) <= _MOST_DESCRIBED else f"{text[: _MOST_DESCRIBED - 1]}…"
