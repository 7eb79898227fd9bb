"""The page docs/benchmarks.md: results in files become its last part and its picture."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examples.bench.chart import write_chart
from examples.bench.memory import MB, MOST, Footprint
from examples.bench.peers.beside import PEERS, faster
from examples.bench.report import Faster, SameJobs, Target
from examples.bench.stopwatch import Laps, read_laps
from examples.bench.suites import EVERYDAY
from examples.bench.targets import SUITES, Measured, by_shapes

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
PICTURE = ROOT / "docs" / "images" / "bench.svg"
_QUICK = " (a quick try)"
_PART = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end of measured -->)", re.DOTALL)


@dataclass
class Results:
    """The newest measurement of each suite, shape and tool, and when and how it was taken."""

    laps: dict[Measured, Laps] = field(default_factory=dict)
    said: dict[Measured, str] = field(default_factory=dict)
    left_out: dict[Measured, str] = field(default_factory=dict)
    memory: list[Footprint] = field(default_factory=list)
    memory_said: str = ""


def read(folder: Path) -> Results:
    """From all files of results, the oldest first, so that newer ones replace what they hold."""
    results = Results()
    for file in sorted(folder.glob("*.json")):
        _add(results, json.loads(file.read_text(encoding="utf-8")))
    return results


def _add(results: Results, found: Mapping[str, Any]) -> None:
    said = _how(found)
    for name, laps in found["suites"].items():
        one = Measured.read(name)
        results.laps[one], results.said[one] = read_laps(laps), said
        results.left_out.pop(one, None)
    for name, why in found.get("left_out", {}).items():
        one = Measured.read(name)
        results.left_out[one] = why
        results.laps.pop(one, None)
    if "memory" in found:
        results.memory = [Footprint(**one) for one in found["memory"]]
        results.memory_said = said


def _how(found: Mapping[str, Any]) -> str:
    options, versions = found["options"], found["versions"]
    rows = f", {options['rows']:,} rows" if "rows" in options else ""
    small = _QUICK if options.get("small") else ""
    day = found["at"][:10]
    return f"{day}{rows}{small}, Spark {versions['pyspark']}, Python {versions['python']}"


def write(folder: Path, page: Path = PAGE, picture: Path = PICTURE) -> None:
    """Puts the newest results of this folder into the page, and draws its picture."""
    results = read(folder)
    if not results.laps:
        raise SystemExit(f"There are no results in {folder}: measure something first.")
    part = "\n".join(section(results))
    text = page.read_text(encoding="utf-8")
    page.write_text(_PART.sub(lambda _: f"{part}\n", text), encoding="utf-8")
    write_chart(picture, _in_order(results.laps))
    print(f"Wrote {page.name} and {picture.name}")


def section(results: Results) -> Iterator[str]:
    """Below the headline: a table for each suite, one for each suite beside others, and memory."""
    groups = by_shapes(_in_order(results.laps))
    for suite in SUITES:
        alone = groups.get((suite, None))
        if alone:
            yield from _head(suite, SUITES[suite].title, results, beside=False)
            yield from _suite_table(suite, alone)
        others = {
            package: found for (of, package), found in groups.items() if package and of == suite
        }
        left_out = list(_left_out(suite, results.left_out))
        if others or left_out:
            yield from _head(suite, f"{SUITES[suite].title}, beside others", results, beside=True)
            yield from _peer_table(suite, others)
            yield from left_out
    if results.memory:
        yield from _memory_section(results)
    yield ""


def _head(suite: str, title: str, results: Results, *, beside: bool) -> Iterator[str]:
    said = [
        how
        for one, how in results.said.items()
        if one.suite == suite and (one.package is not None) == beside
    ]
    yield from ("", f"### {title}", "")
    if said:
        yield from (f"Measured {'; '.join(_unique(said))}.", "")
    if any(_QUICK in how for how in said):
        yield from ("**With so few rows, such numbers say nothing yet of large tables.**", "")


def _in_order(laps: Mapping[Measured, Laps]) -> dict[Measured, Laps]:
    """Suites as they are listed, each alone and then beside others."""
    suites, packages = list(SUITES), list(PEERS)

    def place(one: Measured) -> tuple[int, int]:
        return suites.index(one.suite), packages.index(one.package) + 1 if one.package else 0

    return {one: laps[one] for one in sorted(laps, key=place)}


def _suite_table(suite: str, by_shape: Mapping[str, Laps]) -> Iterator[str]:
    shapes = list(by_shape)
    heads = [*shapes, "worst"] if len(shapes) > 1 else ["ratio"]
    yield _row(["What", "as a multiple of", *heads, "at most", ""])
    yield _row(["---", "---", *["---:"] * (len(heads) + 1), "---"])
    shape, laps = next(iter(by_shape.items()))
    for one in Measured(suite, shape).ratios(laps):
        if isinstance(one, Target):
            yield _row([one.what, one.reference, *_cells(one, by_shape)])
    jobs = [one for one in SUITES[suite].verdicts if isinstance(one, SameJobs)]
    if jobs:
        yield from ("", "Spark jobs:", "")
        yield from (f"- {one.verdict(by_shape[shape]).strip()} [{shape}]" for one in jobs)


def _cells(one: Target, by_shape: Mapping[str, Laps]) -> list[str]:
    ratios = {shape: one.ratio(laps) for shape, laps in by_shape.items()}
    worst = max(ratios.values())
    cells = [
        f"{ratio:.2f} ({by_shape[shape].ratio(one.what, one.reference, 'cpu'):.2f})"
        for shape, ratio in ratios.items()
    ]
    if len(cells) > 1:
        cells.append(f"{worst:.2f}")
    return [*cells, f"{one.limit:.2f}", "held" if worst <= one.limit else "**missed**"]


def _peer_table(suite: str, others: Mapping[str, Mapping[str, Laps]]) -> Iterator[str]:
    if not others:
        return
    shapes = _unique(shape for by_shape in others.values() for shape in by_shape)
    yield _row(["Tool", "rules", *shapes, "at least", ""])
    yield _row(["---", "---:", *["---:"] * (len(shapes) + 1), "---"])
    for package, by_shape in others.items():
        yield _row(_peer_cells(faster(suite, package), by_shape, shapes))


def _peer_cells(one: Faster, by_shape: Mapping[str, Laps], shapes: Sequence[str]) -> list[str]:
    times = {shape: 1 / one.ratio(laps) for shape, laps in by_shape.items()}
    cells = [
        f"{times[shape]:.1f} x ({by_shape[shape].ratio(one.theirs, one.ours, 'cpu'):.1f} x)"
        if shape in by_shape
        else "-"
        for shape in shapes
    ]
    held = "held" if min(times.values()) >= one.times else "**missed**"
    return [one.package, f"{one.rules} of {len(EVERYDAY)}", *cells, f"{one.times:g} x", held]


def _left_out(suite: str, left_out: Mapping[Measured, str]) -> Iterator[str]:
    lines = [
        f"- {one.package}, {one.shape}: {why.strip().splitlines()[0]}"
        for one, why in left_out.items()
        if one.suite == suite
    ]
    if lines:
        yield from ("", "Left out:", "", *lines)


def _memory_section(results: Results) -> Iterator[str]:
    first = results.memory[0]
    yield from ("", "### Suite S: memory of the driver", "")
    yield from (f"Measured {results.memory_said}.", "")
    yield _row(["Rows", "Partitions", "sent MB", "Java MB", "Python MB", "held", "at most", ""])
    yield _row([*["---:"] * 7, "---"])
    for one in results.memory:
        ratio = one.held / first.held
        sizes = [f"{size / MB:.1f}" for size in (one.sent, one.java, one.python)]
        verdict = "held" if ratio <= MOST else "**missed**"
        cells = [f"{one.rows:,}", f"{one.partitions:,}", *sizes, f"{ratio:.2f} x", f"{MOST:.2f} x"]
        yield _row([*cells, verdict])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
