"""What the caller has to put right: told in one message, with exit code 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

import click

from dq_dagster.errors import DqError, did_you_mean


class BadInput(click.ClickException):
    """Nothing was judged, because of what the command was given."""

    exit_code = 2

    @classmethod
    def unknown(cls, what: str, name: str, known: Sequence[str]) -> Self:
        """Names the nearest known one, and else all of them."""
        hint = did_you_mean(name, known) or f" There is: {', '.join(known)}."
        return cls(f"There is no {what} '{name}'.{hint}")


@contextmanager
def told() -> Iterator[None]:
    """Lets the library's own errors, and Spark's, end the command with one message alone."""
    try:
        yield
    except DqError as error:
        raise BadInput(str(error)) from None
    except Exception as error:
        # Known by where they come from: other commands need no Spark.
        if type(error).__module__.partition(".")[0] not in {"pyspark", "py4j"}:
            raise
        from dq_dagster.spark.failures import condition_of

        raise BadInput(f"Spark failed with {condition_of(error)}.") from None
