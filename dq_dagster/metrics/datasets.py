"""Other datasets that a metric looks at, as values: equal ones are read once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dataset(ABC):
    """A dataset beside the one that is judged."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What messages call it, such as "asset 'customers'"."""


@dataclass(frozen=True, slots=True)
class AssetData(Dataset):
    """What an asset holds, by the asset's key as text."""

    asset: str

    @property
    def label(self) -> str:
        return f"asset '{self.asset}'"


@dataclass(frozen=True, slots=True)
class TableData(Dataset):
    """A table of the catalog of the Spark session that the data belongs to."""

    name: str

    @property
    def label(self) -> str:
        return f"table '{self.name}'"


@dataclass(frozen=True, slots=True)
class FileData(Dataset):
    """Files in any format that Spark knows."""

    path: str
    format: str = "parquet"
    options: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return f"files '{self.path}'"
