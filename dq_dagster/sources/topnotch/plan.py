"""A plan with its nested plans and all files that they name, and every mistake in them at once."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dq_dagster.errors import DeclarationError, Problem, did_you_mean
from dq_dagster.plan.topnotch import (
    AssertionCommand,
    PlanCommand,
    PlanFile,
    PlanInput,
)
from dq_dagster.sources.topnotch.commands import (
    COMMAND,
    FILE,
    KEY,
    READERS,
    CommandReading,
    other_meanings,
)
from dq_dagster.sources.topnotch.fields import Fields
from dq_dagster.sources.topnotch.files import PlanFiles
from dq_dagster.sources.topnotch.json_text import Node, shortened
from dq_dagster.sources.topnotch.variables import as_texts

_NESTED = "plan"
_LISTS = ("commands", "topnotch")
_WRITERS = ("hdfs", "file", "hbase", "rest")
_MOST_COMMANDS = 1_000
_DEEPEST = 20
_GLOB = re.compile(r"[*?\[{]")


def read_plan(
    path: str | Path,
    *,
    variables: Mapping[str, Any] | None = None,
    paths: Mapping[str, str] | None = None,
    within: str | Path | None = None,
) -> PlanFile:
    """What a plan says. Raises DeclarationError with every problem, each with file and line."""
    file = Path(path)
    if not file.is_file():
        raise DeclarationError.of(
            f"'{path}' {'is no file' if file.exists() else 'does not exist'}."
        )
    file = file.resolve()
    folder = file.parent if within is None else _folder(within)
    if not file.is_relative_to(folder):
        raise DeclarationError.of(f"'{path}' does not lie within '{within}'.")
    reading = _PlanReading(file, folder, as_texts(variables or {}), _as_prefixes(paths))
    return reading.plan()


def _folder(within: str | Path) -> Path:
    found = Path(within)
    if not found.is_dir():
        raise DeclarationError.of(f"within: '{within}' is no folder.")
    return found.resolve()


def _as_prefixes(paths: Any) -> dict[str, str]:
    found = {} if paths is None else paths
    if not isinstance(found, Mapping) or not all(
        isinstance(text, str) for pair in found.items() for text in pair
    ):
        raise DeclarationError.of(
            "paths is a dict of beginnings of paths, such as {'/user/me/': 's3a://bucket/'}."
        )
    # The longest that fits is taken.
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


class _PlanReading:
    def __init__(
        self, file: Path, within: Path, variables: Mapping[str, str], prefixes: Mapping[str, str]
    ) -> None:
        self._problems: list[Problem] = []
        self._files = PlanFiles(file.parent, within, variables, self._problems)
        self._file = file
        self._prefixes = prefixes
        self._commands: list[PlanCommand] = []
        self._count = 0
        # Where each key and each output is declared, and the keys by their outputs.
        self._keys: dict[str, str] = {}
        self._outputs: dict[str, tuple[str, str]] = {}
        # Inputs that are the output of no earlier command, and those that are files.
        self._unknown: list[tuple[str, str]] = []
        self._read: list[tuple[str, str]] = []
        self._notes: list[str] = []

    def plan(self) -> PlanFile:
        root = self._files.read(self._file)
        if root is not None:
            self._plan(root, self._file, ())
        self._refuse_unknown_inputs()
        self._refuse_overwritten_inputs()
        self._refuse_other_meanings()
        if self._problems:
            raise DeclarationError(_in_order(self._problems))
        return PlanFile(self._file.stem, tuple(self._commands), tuple(self._notes))

    def _plan(self, root: Node, file: Path, around: tuple[Path, ...]) -> None:
        fields = Fields(root, ("io", *_LISTS), self._problems)
        names = [name for name in _LISTS if name in fields]
        if len(names) > 1:
            fields.refuse("there are 'commands' and 'topnotch': a plan has one list of commands.")
        if not around:
            self._read_io(fields)
        if not names and isinstance(root.value, dict):
            fields.refuse('a plan needs its commands: "commands": [...], or "topnotch": [...].')
        if not names:
            return
        before = len(self._problems)
        entries = fields.entries(names[0])
        if not entries and len(self._problems) == before:
            fields.refuse("needs at least one command.", names[0])
        for entry in entries:
            self._command(entry, file, (*around, file))

    def _command(self, node: Node, file: Path, around: tuple[Path, ...]) -> None:
        self._count += 1
        if self._count > _MOST_COMMANDS:
            message = f"there are more than {_MOST_COMMANDS:,} commands."
            raise DeclarationError(_in_order([*self._problems, Problem(message, place=node.place)]))
        known = [*READERS, _NESTED]
        if not isinstance(node.value, dict):
            self._refuse(f"a command is an object, not {node.kind}.", node.place)
            return
        # Its other fields are read when it is known which there are.
        some = {name: one for name, one in node.value.items() if name in {COMMAND, FILE}}
        fields = Fields(Node(some, node.place, node.keys), (COMMAND, FILE), self._problems)
        kind, path = fields.text(COMMAND), fields.text(FILE)
        if kind and kind not in known:
            hint = did_you_mean(kind, known) or f" There is: {', '.join(known)}."
            fields.refuse(f"is '{shortened(kind)}', which is no command.{hint}", COMMAND)
        found = self._files.found(path, file, fields.place_of(FILE)) if path else None
        if kind == _NESTED:
            Fields(node, (COMMAND, FILE), self._problems)
            self._nested(found, around, fields.place_of(FILE))
            return
        params = None if found is None else self._files.read(found)
        if kind in READERS and params is not None:
            self._add(node, params, kind)
        else:
            # Later commands may read its rows; that it is broken is said once.
            self._keys.setdefault(_key(node), node.place)

    def _nested(self, file: Path | None, around: tuple[Path, ...], place: str) -> None:
        if file is None:
            return
        if file in around:
            names = " > ".join(self._files.name(one) for one in (*around, file))
            self._refuse(f"a plan cannot have itself as a command ({names}).", place)
        elif len(around) > _DEEPEST:
            self._refuse(f"plans are nested more than {_DEEPEST} levels deep.", place)
        else:
            root = self._files.read(file)
            if root is not None:
                self._plan(root, file, around)

    def _add(self, node: Node, params: Node, kind: str) -> None:
        reading = CommandReading(node, params, self._problems, self._input, self._relocated)
        command = READERS[kind](reading)
        fields = Fields(node, tuple(node.value), [])
        if command.key and command.key in self._keys:
            self._refuse(
                f"the outputKey '{shortened(command.key)}' is that of another command already "
                f"({self._keys[command.key]}).",
                fields.place_of(KEY),
            )
        self._keys.setdefault(command.key, fields.place_of(KEY))
        self._note_output(command, fields)
        self._commands.append(command)

    def _note_output(self, command: PlanCommand, fields: Fields) -> None:
        if "tableName" in fields:
            self._notes.append(
                f"{fields.place_of('tableName')}: tableName makes no table here. What is written "
                "to outputPath can be one by CREATE TABLE ... USING parquet LOCATION ..."
            )
        if command.output_path is None:
            return
        place, path = fields.place_of("outputPath"), _normal(command.output_path)
        if path in self._outputs:
            other = self._outputs[path][0]
            self._refuse(f"the command '{other}' writes its rows to this outputPath.", place)
        self._outputs.setdefault(path, (command.key, place))

    def _input(self, fields: Fields) -> PlanInput:
        ref, on_disk = fields.text("ref"), fields.known_flag("onDisk")
        delimiter = fields.node("delimiter")
        text = None if delimiter is None else delimiter.value
        if text is not None and (not isinstance(text, str) or len(text) > 1):
            fields.refuse("must be a single character.", "delimiter")
        if not ref or on_disk is None:
            # What it is to be is not known, and that was said.
            return PlanInput(ref)
        if not on_disk:
            if ref not in self._keys:
                self._unknown.append((ref, fields.place_of("ref")))
            return PlanInput(ref, command=ref)
        path = self._relocated(ref)
        known = self._outputs.get(_normal(path))
        if known is not None and not text:
            return PlanInput(ref, command=known[0])
        self._read.append((path, fields.place_of("ref")))
        return PlanInput(ref, path=path, delimiter=text or None)

    def _relocated(self, path: str) -> str:
        """Where a path of the plan leads to."""
        for start, instead in self._prefixes.items():
            if path.startswith(start):
                return instead + path.removeprefix(start)
        return path

    def _read_io(self, fields: Fields) -> None:
        node = fields.node("io")
        if node is None:
            return
        io = Fields(node, ("writer", "dest"), self._problems)
        writer, dest = io.text("writer", needed=False), io.text("dest", needed=False)
        if writer and writer not in _WRITERS:
            hint = did_you_mean(writer, _WRITERS) or f" There is: {', '.join(_WRITERS)}."
            io.refuse(f"is '{shortened(writer)}', which is no writer.{hint}", "writer")
        where = f", to '{dest}'" if dest else ""
        self._notes.append(
            f"{node.place}: io asks for a report by '{writer or 'hdfs'}'{where}. Here it is "
            "printed, and written by --report FILE, or by plan.run().write(FILE)."
        )

    def _refuse_unknown_inputs(self) -> None:
        for ref, place in self._unknown:
            if ref in self._keys:
                message = f"the command '{shortened(ref)}' comes later ({self._keys[ref]})."
            else:
                hint = did_you_mean(ref, self._keys)
                message = f"no earlier command has the outputKey '{shortened(ref)}'.{hint}"
            self._refuse(f'{message} For a file, write "onDisk": true.', place)

    def _refuse_overwritten_inputs(self) -> None:
        for path, place in self._read:
            for output, (key, _) in self._outputs.items():
                if _overlap(_normal(path), output):
                    message = f"the outputPath of command '{key}' would overwrite this input."
                    self._refuse(message, place)

    def _refuse_other_meanings(self) -> None:
        """A feature has one meaning among all assertions on the same rows."""
        by_input: dict[PlanInput | str, dict[str, str]] = {}
        for command in self._commands:
            if isinstance(command, AssertionCommand):
                source = command.source
                known = by_input.setdefault(source.command or source, {})
                found = other_meanings(command.features, known, command.place)
                self._problems += found

    def _refuse(self, message: str, place: str) -> None:
        self._problems.append(Problem(message, place=place))


def _key(node: Node) -> str:
    found = node.value.get(KEY)
    return found.value if found is not None and isinstance(found.value, str) else ""


def _normal(path: str) -> str:
    """A path in one spelling; behind a URI it is taken as it is."""
    return path.rstrip("/") if "://" in path else posixpath.normpath(Path(path).absolute())


def _overlap(path: str, output: str) -> bool:
    """Whether what is read lies in the output, or the output in what is read."""
    before, *rest = _GLOB.split(path, maxsplit=1)
    if rest:
        # All that it may stand for lies in the folder before it.
        folder = before.rpartition("/")[0]
        return folder == output or folder.startswith(f"{output}/")
    return path == output or path.startswith(f"{output}/") or output.startswith(f"{path}/")


def _in_order(problems: list[Problem]) -> list[Problem]:
    """By file, in the order of the files, and then by place; each once."""
    files: dict[str, int] = {}
    for problem in problems:
        files.setdefault(_split(problem)[0], len(files))
    return sorted(
        dict.fromkeys(problems), key=lambda one: (files[_split(one)[0]], *_split(one)[1:])
    )


def _split(problem: Problem) -> tuple[str, int, int]:
    file, line, column = (problem.place or ":0:0").rsplit(":", 2)
    return file, int(line), int(column)
