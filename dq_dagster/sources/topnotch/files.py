"""The files of a plan: each is read once, is small, and lies where plans may lie."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.sources.topnotch.json_text import Node, read_json, shortened
from dq_dagster.sources.topnotch.variables import fill
from dq_dagster.sources.yaml.text import LARGEST_FILE


class PlanFiles:
    """Reads files by the paths that other files call them by.

    ``folder`` is where the plan lies, and ``within`` the folder that no file may lie outside of.
    """

    def __init__(
        self, folder: Path, within: Path, variables: Mapping[str, str], problems: list[Problem]
    ) -> None:
        self._folder = folder
        self._within = within
        self._variables = variables
        self._problems = problems
        self._read: dict[Path, Node | None] = {}

    def found(self, path: str, referrer: Path, place: str) -> Path | None:
        """The file of that path beside the one that names it; None if it may not be read."""
        missing = f"there is no file '{shortened(path)}'."
        try:
            file = (referrer.parent / path).resolve()
        except (OSError, ValueError, RuntimeError):
            self._refuse(missing, place)
            return None
        # First this: nothing is said of what there is outside.
        if not file.is_relative_to(self._within):
            self._refuse(_outside(path), place)
            return None
        try:
            is_file = stat.S_ISREG(file.stat().st_mode)
        except (OSError, ValueError):
            is_file = False
        if not is_file:
            self._refuse(missing, place)
            return None
        return file

    def read(self, file: Path) -> Node | None:
        """What a file says, with the values of variables; None if it cannot be read."""
        if file not in self._read:
            self._read[file] = self._opened(file)
        return self._read[file]

    def name(self, file: Path) -> str:
        """What a file is called in places."""
        return Path(os.path.relpath(file, self._folder)).as_posix()

    def _opened(self, file: Path) -> Node | None:
        name = self.name(file)
        try:
            text = _text(file)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._refuse(f"the file cannot be read: {reason}.", f"{name}:1:1")
            return None
        try:
            return fill(read_json(text, name=name), self._variables, self._problems)
        except DeclarationError as error:
            new = [one for one in error.problems if one not in self._problems]
            self._problems.extend(new)
            return None

    def _refuse(self, message: str, place: str) -> None:
        self._problems.append(Problem(message, place=place))


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        # Not more, whatever size it is said to have.
        found = opened.read(LARGEST_FILE + 1)
    if len(found) > LARGEST_FILE:
        raise ValueError(f"it has more than {LARGEST_FILE:,} bytes, which no plan needs")
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is no UTF-8 text") from None


def _outside(path: str) -> str:
    return (
        f"the file '{shortened(path)}' lies outside the folder of the plan. If it is meant, name a "
        "folder that has all of its files: within=..., or --within on the command line."
    )
