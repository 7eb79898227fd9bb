"""Where a rule finds the values of another dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from dq_dagster.metrics.sources import AssetData, FileData, OtherDataset, TableData
from dq_dagster.rules.fields.declared import Declared

_FORMS = ("asset", "table", "files")


def _key_text(asset: Any) -> str | None:
    """An asset's definition or key as text such as ``warehouse/customers``; text as it is."""
    # Duck-typed: this layer knows nothing of Dagster.
    path = getattr(getattr(asset, "key", asset), "path", None)
    text = "/".join(path) if isinstance(path, list | tuple) else asset
    if text is not None and (not isinstance(text, str) or not text):
        raise ValueError("an asset's definition, its key, or its key as text is needed")
    return text


AnyAsset: TypeAlias = Annotated[
    Any, BeforeValidator(_key_text), WithJsonSchema({"type": "string", "minLength": 1})
]


class Reference(Declared):
    """Another dataset: ``{asset: ...}``, ``{table: ...}`` or ``{files: ...}``, one of them.

    An asset is read through its own IO manager; where one run builds both, the checks run after
    it. So it cannot be built from the checked asset: in that case name its table or files, which
    are read as they are at that moment.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    asset: AnyAsset = None
    """The key of an asset, such as ``warehouse/customers``."""
    table: Annotated[str, Field(min_length=1)] | None = None
    """A table of Spark's catalog, such as ``warehouse.customers``."""
    files: Annotated[str, Field(min_length=1)] | None = None
    """The path of files that Spark can read."""
    format: str = "parquet"
    """The format of the files."""
    options: Mapping[str, str] = {}
    """Spark's options for reading the files."""

    @model_validator(mode="after")
    def _names_one_dataset(self) -> Self:
        given = [form for form in _FORMS if getattr(self, form) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"one of asset, table and files is needed, not {found}")
        if self.files is None and self.model_fields_set & {"format", "options"}:
            raise ValueError("format and options go with files only")
        return self

    @property
    def dataset(self) -> OtherDataset:
        if self.asset is not None:
            return AssetData(self.asset)
        if self.table is not None:
            return TableData(self.table)
        return FileData(self.files or "", self.format, tuple(sorted(self.options.items())))


def names_files(reference: Any) -> str | None:
    """What opens whatever path its author names, in the fields of a reference; None if nothing."""
    is_path = isinstance(reference, Mapping) and reference.get("files") is not None
    return "the path of files" if is_path else None
