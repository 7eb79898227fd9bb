"""What commands that read data through Spark have in common."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Self

import click

from dq_dagster.cli.tables import plain
from dq_dagster.errors import DqError, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class BadInput(click.ClickException):
    """Nothing was judged, because of what the command was given."""

    exit_code = 2

    @classmethod
    def unknown(cls, what: str, name: str, known: Sequence[str]) -> Self:
        """Names the nearest known one, and else all of them."""
        hint = did_you_mean(name, known) or f" There is: {', '.join(known)}."
        return cls(f"There is no {what} '{name}'.{hint}")

    def format_message(self) -> str:
        """Names in it are those of others, and no commands for the terminal."""
        return "\n".join(map(plain, self.message.split("\n")))


@contextmanager
def reported() -> Iterator[None]:
    """Lets the library's own errors, and Spark's, end the command with one message alone."""
    try:
        yield
    except DqError as error:
        raise BadInput(str(error)) from None
    except Exception as error:
        # Known by where they come from: other commands need no Spark.
        if type(error).__module__.partition(".")[0] not in {"pyspark", "py4j"}:
            raise
        from dq_dagster.spark.frames.failures import condition_of

        raise BadInput(f"Spark failed with {condition_of(error)}.") from None


def _pairs(ctx: Any, param: click.Parameter, texts: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for key, sign, _ in pairs:
        if not key or not sign:
            raise click.BadParameter(f"'{key}' is not of the form KEY=VALUE.", ctx, param)
    return {key: value for key, _, value in pairs}


# An option of a command that can be given several times.
PAIRS: dict[str, Any] = {"metavar": "KEY=VALUE", "multiple": True, "callback": _pairs}


def started(settings: Mapping[str, str], *, announced: bool = True) -> SparkSession:
    """A Spark session, with a line that says that starting it takes its time.

    A command whose output goes into a file announces it on a terminal only.
    """
    from dq_dagster.spark.session.session import current_session

    with progress("Starting Spark ...") if announced or sys.stderr.isatty() else nullcontext():
        return current_session(settings)


@contextmanager
def progress(what: str) -> Iterator[None]:
    """A line that shows that something takes its time, apart from the results."""
    click.echo(what, err=True, nl=False)
    start = time.monotonic()
    try:
        yield
    finally:
        click.echo(f" {time.monotonic() - start:.0f} s", err=True)
