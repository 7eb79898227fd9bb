"""All suites with Spark, and what is said of the measurements of several of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from examples.bench.days import SUITE_B
from examples.bench.everyday import SUITE_A, SUITE_W
from examples.bench.growing import SUITE_I, Growth
from examples.bench.in_dagster import SUITE_D
from examples.bench.in_flight import SUITE_G
from examples.bench.peers.beside import faster
from examples.bench.report import Faster, Target, worst_of_shapes
from examples.bench.setting import Verdict
from examples.bench.stopwatch import Laps
from examples.bench.two_tables import SUITE_T

SUITES = {
    "A": SUITE_A,
    "W": SUITE_W,
    "B": SUITE_B,
    "I": SUITE_I,
    "D": SUITE_D,
    "G": SUITE_G,
    "T": SUITE_T,
}


@dataclass(frozen=True)
class Measured:
    """A suite on a table of one shape, alone or beside another tool."""

    suite: str
    shape: str
    package: str | None = None

    @property
    def name(self) -> str:
        return f"{self.suite} {self.shape}" + (f" {self.package}" if self.package else "")

    @classmethod
    def read(cls, name: str) -> Measured:
        """From what it is called in a file of results."""
        suite, shape, *package = name.split(" ")
        return cls(suite, shape, package[0] if package else None)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        if self.package:
            return (faster(self.suite, self.package),)
        return SUITES[self.suite].verdicts

    def ratios(self, laps: Laps) -> tuple[Target | Faster, ...]:
        """Those verdicts that compare two times."""
        found = [one.target(laps) if isinstance(one, Growth) else one for one in self.verdicts]
        return tuple(one for one in found if isinstance(one, Target | Faster))


def verdicts(measured: Mapping[Measured, Laps]) -> Iterator[str]:
    """One for each target and shape, then the worst of each target over all shapes."""
    for one, laps in measured.items():
        yield from (f"{each.verdict(laps)} [{one.shape}]" for each in one.verdicts)
    for (suite, package), by_shape in by_shapes(measured).items():
        shape, laps = next(iter(by_shape.items()))
        ratios = Measured(suite, shape, package).ratios(laps)
        yield from (f"{suite}: {line}" for line in worst_of_shapes(ratios, by_shape))


def by_shapes(
    measured: Mapping[Measured, Laps],
) -> dict[tuple[str, str | None], dict[str, Laps]]:
    """What was measured of each suite, alone and beside each tool, by the shape of the table."""
    found: dict[tuple[str, str | None], dict[str, Laps]] = {}
    for one, laps in measured.items():
        found.setdefault((one.suite, one.package), {})[one.shape] = laps
    return found
