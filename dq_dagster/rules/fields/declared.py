"""Where a rule set's data lies, as files write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from dq_dagster.errors import DeclarationError
from dq_dagster.rules.fields.problems import problems_of


class _Reporting(type(BaseModel)):  # type: ignore[misc]
    """Reports mistakes in our words where a part is made on its own.

    Within a rule pydantic makes its parts without a call, and the rule reports all mistakes.
    """

    def __call__(cls, *args: Any, **data: Any) -> Any:
        try:
            return super().__call__(*args, **data)
        except ValidationError as error:
            problems = problems_of(error, cls, {})
            raise DeclarationError([replace(p, rule=None) for p in problems]) from None


if TYPE_CHECKING:
    # Without the metaclass, so that type checkers see the fields as arguments.
    class Declared(BaseModel):
        """A part of a declaration."""
else:

    class Declared(BaseModel, metaclass=_Reporting):
        """A part of a declaration."""


class DeclaredReader(BaseModel):
    """A table of Spark's catalog, or files: ``{table: ...}`` or ``{files: ...}``."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    table: Annotated[str, Field(min_length=1)] | None = None
    """A table of Spark's catalog, such as ``warehouse.orders``."""
    files: Annotated[str, Field(min_length=1)] | None = None
    """The path of files that Spark can read."""
    format: str = "parquet"
    """The format of the files."""
    options: Mapping[str, str] = {}
    """Spark's options for reading the files."""
    spark: str = "pyspark"
    """The Dagster resource that has the Spark session."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.table is None) == (self.files is None):
            found = "both" if self.table is not None else "none of them"
            raise ValueError(f"one of table and files is needed, not {found}")
        if self.files is None and self.model_fields_set & {"format", "options"}:
            raise ValueError("format and options go with files only")
        return self


def _form(reader: Any) -> str:
    return "DeclaredReader" if isinstance(reader, Mapping | DeclaredReader) else "reader"


AnyReader: TypeAlias = Annotated[
    Annotated[DeclaredReader, Tag("DeclaredReader")] | Annotated[Any, Tag("reader")],
    Discriminator(_form),
]
