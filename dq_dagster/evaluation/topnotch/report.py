"""What came of a plan, in the words of TopNotch's own report and in ours."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import DeclarationError
from dq_dagster.evaluation.outcome import Outcome, plain
from dq_dagster.judging.judgement import Status
from dq_dagster.judging.wording import plural
from dq_dagster.plan.topnotch import Assertion

if TYPE_CHECKING:
    from dq_dagster.spark.topnotch.invalid_rows import Shown


@dataclass(frozen=True, slots=True)
class AssertionReport:
    """What an assertion says of its rows.

    ``error`` says why it has no answer, or why something that it asks for cannot be shown.
    """

    assertion: Assertion
    outcome: Outcome
    shown: Shown | None = None

    @property
    def rows(self) -> int | None:
        """How many rows there are; None if it could not be answered."""
        return 0 if self.outcome.status is Status.EMPTY else self.outcome.rows

    @property
    def num_invalid(self) -> int | None:
        return 0 if self.outcome.status is Status.EMPTY else self.outcome.failed_rows

    @property
    def fraction_invalid(self) -> float | None:
        if self.num_invalid is None or self.rows is None:
            return None
        return self.num_invalid / self.rows if self.rows else 0.0

    @property
    def error(self) -> str | None:
        if self.num_invalid is None:
            return self.outcome.message
        failure = None if self.shown is None else self.shown.failure
        return None if failure is None else str(failure)

    @property
    def failed(self) -> bool:
        """Whether more rows are invalid than its threshold allows, or nobody knows."""
        return self.outcome.status is Status.ERROR or self.error is not None

    def content(self) -> dict[str, Any]:
        """As TopNotch writes it; only an error is ours."""
        shown = self.shown
        content = {
            "query": self.assertion.query,
            "description": self.assertion.description,
            "threshold": self.assertion.threshold,
            "fractionInvalid": self.fraction_invalid,
            "numInvalid": self.num_invalid,
            "sampleInvalid": [] if shown is None else list(shown.samples),
            "userSummaryStatistics": {} if shown is None else dict(shown.summary),
            "sampleWindows": [] if shown is None else [list(rows) for rows in shown.windows],
        }
        return content if self.error is None else {**content, "error": self.error}


@dataclass(frozen=True, slots=True)
class CommandReport:
    """What came of a command: of an assertion its reports, of any the reason if it failed."""

    key: str
    reports: tuple[AssertionReport, ...] = ()
    error: str | None = None

    def content(self) -> dict[str, Any] | None:
        """Its section of the report; views and diffs have one only if they fail."""
        if not self.reports and self.error is None:
            return None
        content: dict[str, Any] = {"outputKey": self.key}
        if self.reports:
            content["assertionReports"] = [one.content() for one in self.reports]
        return content if self.error is None else {**content, "error": self.error}


@dataclass(frozen=True, slots=True, repr=False)
class PlanReport:
    """What came of a plan."""

    name: str
    commands: tuple[CommandReport, ...]
    declared: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def assertions(self) -> list[AssertionReport]:
        """The reports of all assertions, in the order of the plan."""
        return [one for command in self.commands for one in command.reports]

    @property
    def ok(self) -> bool:
        """Whether every command could be run and no assertion failed."""
        broken = any(command.error is not None for command in self.commands)
        return not broken and not any(one.failed for one in self.assertions)

    @property
    def content(self) -> list[Any]:
        """The report of TopNotch as plain data: the commands, then what each assertion says."""
        sections = [section for one in self.commands if (section := one.content()) is not None]
        found: list[Any] = plain([list(self.declared), *sections])
        return found

    def to_json(self) -> str:
        return json.dumps(self.content, indent=2, ensure_ascii=False, allow_nan=False)

    def write(self, path: str | Path) -> Path:
        """Writes the report as JSON: to a file, or into a folder as ``<plan>_report.json``."""
        if "://" in str(path):
            raise DeclarationError.of(f"A report is written to a local file, not to '{path}'.")
        file = Path(path) / f"{self.name}_report.json" if Path(path).is_dir() else Path(path)
        fresh = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
        try:
            fresh.write_text(self.to_json() + "\n", encoding="utf-8")
            fresh.replace(file)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise DeclarationError.of(f"'{file}' cannot be written: {error.strerror}.") from None
        return file

    def __repr__(self) -> str:
        failed = sum(one.failed for one in self.assertions)
        lines = [f"{plural(len(self.assertions), 'assertion')}: {failed} failed"]
        for command in self.commands:
            lines += [_line(one) for one in command.reports]
            if command.error is not None:
                lines.append(f"error   {command.key}: {command.error}")
        return "\n".join(lines)


def _line(report: AssertionReport) -> str:
    verdict = "failed" if report.failed else "passed"
    said = report.outcome.message
    if report.error is not None and report.error != said:
        said = f"{said} {report.error}"
    return f"{verdict}  {report.assertion.rule.name}: {said}"
