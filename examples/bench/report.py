"""What was measured, as a table, as verdicts against the targets, and as a file."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyspark

from examples.bench.stopwatch import Laps


@dataclass(frozen=True)
class Target:
    """At most so many times what something else takes."""

    what: str
    reference: str
    limit: float
    aim: float | None = None

    @property
    def label(self) -> str:
        return f"{self.what} / {self.reference}"

    def ratio(self, laps: Laps) -> float:
        return laps.ratio(self.what, self.reference, "wall")

    def verdict(self, laps: Laps) -> str:
        ratio, cpu = self.ratio(laps), laps.ratio(self.what, self.reference, "cpu")
        aim = "" if self.aim is None else f", aim {self.aim:.2f}"
        return (
            f"{'held  ' if ratio <= self.limit else 'MISSED'}  {self.what} take {ratio:.2f} x "
            f"{self.reference} (at most {self.limit:.2f}{aim}); CPU {cpu:.2f} x"
        )


@dataclass(frozen=True)
class Faster:
    """So many times faster than another tool, on the rules that this one can express."""

    ours: str
    theirs: str
    times: float
    package: str
    rules: int

    @property
    def label(self) -> str:
        return f"{self.ours} / {self.package}"

    @property
    def limit(self) -> float:
        return 1 / self.times

    def ratio(self, laps: Laps) -> float:
        """What ours takes, as a multiple of what theirs does."""
        return laps.ratio(self.ours, self.theirs, "wall")

    def verdict(self, laps: Laps) -> str:
        wall = laps.ratio(self.theirs, self.ours, "wall")
        cpu = laps.ratio(self.theirs, self.ours, "cpu")
        return (
            f"{'held  ' if wall >= self.times else 'MISSED'}  {wall:.2f} x faster than "
            f"{self.package} on its {self.rules} rules (at least {self.times:g} x); CPU {cpu:.2f} x"
        )


@dataclass(frozen=True)
class SameJobs:
    """As many Spark jobs, whatever the number of something."""

    of: str
    names: Mapping[int, str]

    def verdict(self, laps: Laps) -> str:
        jobs = [laps.jobs(name) for name in self.names.values()]
        held = "held  " if len(set(jobs)) == 1 else "MISSED"
        sizes = " / ".join(map(str, self.names))
        return f"{held}  jobs for {sizes} {self.of}: {' / '.join(map(str, jobs))} (to be the same)"


@dataclass(frozen=True)
class Difference:
    """So much more than something else; nothing is demanded of it."""

    what: str
    reference: str

    def verdict(self, laps: Laps) -> str:
        more = laps.seconds(self.what, "wall") - laps.seconds(self.reference, "wall")
        ratio = laps.ratio(self.what, self.reference, "wall")
        return f"        {self.what}: {more:.2f} s more than {self.reference} ({ratio:.2f} x)"


def worst_of_shapes(
    verdicts: Sequence[Target | Faster], by_shape: Mapping[str, Laps]
) -> Iterator[str]:
    """What each verdict says of the shape on which ours does worst; of one shape, nothing."""
    if len(by_shape) < 2:
        return
    for one in verdicts:
        shape = max(by_shape, key=lambda name: one.ratio(by_shape[name]))
        yield f"{one.verdict(by_shape[shape])} [worst of {len(by_shape)} shapes: {shape}]"


def table(laps: Laps, references: Sequence[str]) -> Iterator[str]:
    """Seconds, Spark jobs, and how many times the references that is."""
    width = max(map(len, laps.by_name))
    wide = max(16, *(len(reference) + 4 for reference in references))
    ratios = "".join(f"{f'x {reference}':>{wide}}{'CPU':>7}" for reference in references)
    yield f"  {'':<{width}}{'wall s':>9}{'CPU s':>9}{'jobs':>6}{ratios}"
    for name in laps.by_name:
        wall, cpu = laps.seconds(name, "wall"), laps.seconds(name, "cpu")
        ratios = "".join(
            f"{laps.ratio(name, other, 'wall'):>{wide}.2f}{laps.ratio(name, other, 'cpu'):>7.2f}"
            for other in references
        )
        yield f"  {name:<{width}}{wall:>9.2f}{cpu:>9.2f}{laps.jobs(name):>6}{ratios}"


def save(
    folder: Path,
    options: Mapping[str, Any],
    measured: Mapping[str, Laps],
    verdicts: Sequence[str],
    **further: Any,
) -> Path:
    """Writes every single measurement, for comparing runs later."""
    now = datetime.now(UTC)
    content = {
        "at": now.isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), "pyspark": pyspark.__version__},
        "machine": platform.platform(),
        "options": dict(options),
        "suites": {suite: asdict(laps)["by_name"] for suite, laps in measured.items()},
        "verdicts": list(verdicts),
        **further,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{now:%Y-%m-%dT%H-%M-%S}.json"
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path
