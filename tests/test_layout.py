"""The shape of the package: sizes, one name for one thing, tests beside it, and plain words."""

from __future__ import annotations

import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dq_dagster"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 400
MOST_MODULES = 15

# Folders of tests that have no like in the package: rules against plain Python, and the examples.
OF_THE_WHOLE = {"oracle", "examples"}
# Errors are tested where they are raised.
TESTED_BY_OTHERS = {"errors"}

TEXTS = [
    *MODULES,
    *sorted((ROOT / "examples").rglob("*.py")),
    *sorted((ROOT / "examples").rglob("*.md")),
    *sorted((ROOT / "docs").rglob("*.py")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "dev",
]
# Words that only insiders understand; CONTRIBUTING.md has those to use instead.
DIALECT = re.compile(
    r"""\b(?:
        can GAP not | homeless | convict\w* | sociab\w* | surroundings | elsewhere | portions?
        | (?:is|are|was|were|be|been|being|gets?) GAP told
        | looking GAP back | last GAP words
        | (?:a|one|two|each|every|further|first|second|several|more|no|quick) GAP looks?
    )\b""".replace("GAP", r"\s+(?:\#\s+)?"),
    re.IGNORECASE | re.VERBOSE,
)
# As verbs in a sentence these are fine; as the name of something they say nothing.
VAGUE_NAMES = set(
    "asked told look looks slip slips homeless convict convicted sociable surroundings elsewhere "
    "portion portions".split()
)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_file_is_too_long() -> None:
    lengths = {relative(file): len(file.read_text("utf-8").splitlines()) for file in MODULES}
    assert {file: lines for file, lines in lengths.items() if lines > MOST_LINES} == {}


def test_no_folder_is_too_wide() -> None:
    modules = Counter(relative(file.parent) for file in MODULES if file.name != "__init__.py")
    assert {folder: count for folder, count in modules.items() if count > MOST_MODULES} == {}


def test_tests_mirror_the_package() -> None:
    def folders(root: Path) -> set[str]:
        return {file.relative_to(root).parts[0] for file in root.glob("*/**/*.py")}

    tests = folders(ROOT / "tests")
    assert tests - OF_THE_WHOLE == folders(PACKAGE) - TESTED_BY_OTHERS


def test_a_class_name_occurs_once() -> None:
    places = defaultdict(set)
    for file in MODULES:
        # Not by ast: in a process that ever hit the recursion limit, Python 3.11 fails there.
        for name in re.findall(r"^ *class (\w+)\b[^\n]*:$", file.read_text("utf-8"), re.MULTILINE):
            places[name].add(relative(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    "line", ["It can not be told.", "Two  looks", "lies\nelsewhere", "PORTION"]
)
def test_dialect_is_recognized(line: str) -> None:
    assert list(dialect(line))


@pytest.mark.parametrize("line", ["It cannot be said.", "It looks odd.", "A proportion of rows"])
def test_plain_words_are_left_alone(line: str) -> None:
    assert not list(dialect(line))


def test_no_private_dialect() -> None:
    found = [
        f"{relative(file)}:{number}: {words}"
        for file in TEXTS
        for number, words in dialect(file.read_text("utf-8"))
    ]
    assert not found, f"{len(found)} places to put into plain words:\n" + "\n".join(found)


def test_names_say_what_they_name() -> None:
    found = [
        f"{relative(file)}:{number}: {name}"
        for file in TEXTS
        if file.suffix == ".py"
        for number, name in sorted(vague_names(file))
    ]
    assert not found, f"{len(found)} names to find better ones for:\n" + "\n".join(found)


def dialect(text: str) -> Iterator[tuple[int, str]]:
    """The lines and the words; words that are broken over two lines belong to the first."""
    for match in DIALECT.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split())


def vague_names(file: Path) -> set[tuple[int, str]]:
    with file.open("rb") as lines:
        names = [
            (token.start[0], token.string)
            for token in tokenize.tokenize(lines.readline)
            if token.type == tokenize.NAME
        ]
    return {(line, name) for line, name in names if VAGUE_NAMES & set(words_of(name))}


def words_of(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
