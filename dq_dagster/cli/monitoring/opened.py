"""The monitor of commands: which code location it knows, and the log as it is by now."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from dq_dagster.cli.code_location import (
    NoCodeLocation,
    code_location_options,
    definitions_of,
    instance_of_user,
)
from dq_dagster.cli.input import BadInput, progress, reported

if TYPE_CHECKING:
    from dq_dagster.monitoring.declared import CodeLocation
    from dq_dagster.monitoring.monitor import Monitor

_Command = TypeVar("_Command", bound=Callable[..., Any])


def location_options(command: _Command) -> _Command:
    """Which code location is known, and what a project is."""
    by = click.option(
        "--by",
        type=click.Choice(["group", "location"]),
        default="group",
        show_default=True,
        help="What a project is: an asset group, or a code location.",
    )
    return code_location_options(by(command))


@contextmanager
def opened(
    module: str | None, file: str | None, by: Literal["group", "location"]
) -> Iterator[Monitor]:
    """The checks of DAGSTER_HOME's instance as they are now; problems end the command."""
    from dq_dagster.monitoring.monitor import Monitor

    with (
        reported(),
        instance_of_user() as instance,
        Monitor(instance, locations=_locations(module, file), by=by) as monitor,
    ):
        # The first time takes minutes if the log is long.
        with progress("Reading the event log ...") if sys.stderr.isatty() else nullcontext():
            monitor.refresh()
        yield monitor


def _locations(module: str | None, file: str | None) -> list[CodeLocation]:
    """The code location that was named, or the project's in this folder if there is one."""
    from dq_dagster.monitoring.declared import CodeLocation

    named = module or file
    try:
        with reported():
            return [CodeLocation.of(definitions_of(module, file), name=named or Path.cwd().name)]
    except NoCodeLocation:
        return []
    except BadInput as error:
        if named is not None:
            raise
        click.echo(f"Without the code location in this folder: {error.message}", err=True)
        return []
