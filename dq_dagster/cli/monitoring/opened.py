"""The monitor of commands: which code location it knows, and the log as it is by now."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from dq_dagster.cli.code_location import (
    NoCodeLocation,
    definitions_of,
    instance_of_user,
)
from dq_dagster.cli.input import BadInput, progress, reported

if TYPE_CHECKING:
    from dq_dagster.monitoring.declared import CodeLocation
    from dq_dagster.monitoring.monitor import Monitor

_Command = TypeVar("_Command", bound=Callable[..., Any])


def location_options(command: _Command) -> _Command:
    """Which code locations are known, and what a project is."""
    modules = click.option(
        "-m",
        "--module-name",
        "modules",
        metavar="MODULE",
        multiple=True,
        help="A module with definitions. Can be repeated.",
    )
    files = click.option(
        "-f",
        "--python-file",
        "files",
        metavar="FILE",
        multiple=True,
        help="A file with definitions. Can be repeated.",
    )
    by = click.option(
        "--by",
        type=click.Choice(["group", "location"]),
        default="group",
        show_default=True,
        help="What a project is: an asset group, or a code location.",
    )
    return modules(files(by(command)))


@contextmanager
def opened(
    modules: Sequence[str], files: Sequence[str], by: Literal["group", "location"]
) -> Iterator[Monitor]:
    """The checks of DAGSTER_HOME's instance as they are now; problems end the command."""
    from dq_dagster.monitoring.monitor import Monitor

    with (
        reported(),
        instance_of_user() as instance,
        Monitor(instance, locations=_locations(modules, files), by=by) as monitor,
    ):
        # The first time takes minutes if the log is long.
        with progress("Reading the event log ...") if sys.stderr.isatty() else nullcontext():
            monitor.refresh()
        yield monitor


def _locations(modules: Sequence[str], files: Sequence[str]) -> list[CodeLocation]:
    """The code locations that were named, or the project's in this folder if there is one."""
    if modules or files:
        return [
            *(_location(module, None, module) for module in modules),
            *(_location(None, file, file) for file in files),
        ]
    try:
        return [_location(None, None, Path.cwd().name)]
    except NoCodeLocation:
        return []
    except BadInput as error:
        click.echo(f"Without the code location in this folder: {error.format_message()}", err=True)
        return []


def _location(module: str | None, file: str | None, name: str) -> CodeLocation:
    from dq_dagster.monitoring.declared import CodeLocation

    with reported():
        return CodeLocation.of(definitions_of(module, file), name=name)
