"""The definitions of a code location, for commands that are about its assets."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tomllib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dq_dagster.cli.input import BadInput
from dq_dagster.errors import DqError

if TYPE_CHECKING:
    import dagster as dg

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Found = TypeVar("_Found")
_HOW = "Name it with -m MODULE or -f FILE, or in pyproject.toml as Dagster's own commands find it."


def code_location_options(command: _Command) -> _Command:
    """The options by which Dagster's own commands find definitions."""
    of_module = click.option(
        "-m", "--module-name", "module", metavar="MODULE", help="The module with the definitions."
    )
    of_file = click.option(
        "-f", "--python-file", "file", metavar="FILE", help="The file with the definitions."
    )
    return of_module(of_file(command))


class NoCodeLocation(BadInput):
    """None was named, and there is none in this folder."""


def definitions_of(module: str | None, file: str | None) -> dg.Definitions:
    """The definitions of a module or a file; by default those of the project in this folder."""
    import dagster as dg

    if module is not None and file is not None:
        raise BadInput("Give either a module (-m) or a file (-f).")
    loaded = _of_file(file) if file is not None else _of_module(module or _of_project())
    found = [one for one in vars(loaded).values() if isinstance(one, dg.Definitions)]
    if not found:
        # Projects made by `dg` define a function that loads them.
        lazy = [one for one in vars(loaded).values() if type(one).__name__ == "LazyDefinitions"]
        found = [_loaded(one, loaded.__name__) for one in lazy]
    distinct = list({id(one): one for one in found}.values())
    if len(distinct) != 1:
        count = "no" if not distinct else f"{len(distinct)}"
        raise BadInput(f"'{loaded.__name__}' has {count} dg.Definitions(...); one is needed.")
    return distinct[0]


def instance_of_user() -> dg.DagsterInstance:
    """The instance that DAGSTER_HOME names."""
    import dagster as dg

    if not os.environ.get("DAGSTER_HOME"):
        raise BadInput(
            "DAGSTER_HOME is not set: let it name the folder of the Dagster instance that the "
            "checks ran in."
        )
    try:
        return dg.DagsterInstance.get()
    except Exception as error:
        # Of its settings, of its database, or of the classes that they name.
        said = str(error) or type(error).__name__
        raise BadInput(f"The Dagster instance cannot be opened: {said}") from error


def instance_if_any() -> AbstractContextManager[dg.DagsterInstance | None]:
    """The instance that DAGSTER_HOME names; none if it names none, as where files are tested."""
    return instance_of_user() if os.environ.get("DAGSTER_HOME") else nullcontext()


def _of_project() -> str:
    try:
        settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        raise NoCodeLocation(f"There is no code location here. {_HOW}") from None
    tools = settings.get("tool", {})
    named = tools.get("dagster", {}).get("module_name")
    root = tools.get("dg", {}).get("project", {}).get("root_module")
    if named or root:
        return str(named or f"{root}.definitions")
    raise NoCodeLocation(f"pyproject.toml names no code location. {_HOW}")


def _of_module(name: str) -> ModuleType:
    # Where `python -m` would look, too.
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))

    def imported() -> ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise BadInput(f"Module '{error.name}' cannot be found. {_HOW}") from None

    return _loaded(imported, name)


def _of_file(path: str) -> ModuleType:
    place = Path(path)
    if not place.is_file():
        raise BadInput(f"There is no file '{path}'.")
    spec = importlib.util.spec_from_file_location(place.stem, place)
    if spec is None or spec.loader is None:
        raise BadInput(f"'{path}' is no file of Python.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[place.stem] = module
    sys.path.insert(0, str(place.parent.absolute()))
    _loaded(partial(spec.loader.exec_module, module), path)
    return module


def _loaded(load: Callable[[], _Found], name: str) -> _Found:
    """What the code of a user gives; what goes wrong there is no answer of the command."""
    try:
        return load()
    except (DqError, click.ClickException):
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise BadInput(f"'{name}' cannot be loaded: {said}{_place(error)}.") from error


def _place(error: Exception) -> str:
    """Where it happened, in code that is not of a package."""
    if isinstance(error, SyntaxError):
        return ""
    for frame in reversed(extract_tb(error.__traceback__)):
        own = "site-packages" not in frame.filename and not frame.filename.startswith("<")
        if own and Path(frame.filename) != Path(__file__):
            return f" ({Path(frame.filename).name}, line {frame.lineno})"
    return ""
