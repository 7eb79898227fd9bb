"""A contract as its objects and properties, each with its place; what is out of shape is refused.

Every key of the standard is either read somewhere or listed here as documentation, so that a key
that is neither is reported rather than overlooked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dq_dagster.errors import DeclarationError, Problem, did_you_mean
from dq_dagster.sources.reading import Declaration, plain
from dq_dagster.sources.yaml.files import read_file

#: What this library writes into contracts for itself: an engine, and a custom property.
ENGINE = "dq_dagster"
_SUFFIXES = (".yaml", ".yml", ".json")
_VERSION = re.compile(r"v?3\.\d+\.\d+(?:[-+.].*)?")
_MOST_ELEMENTS = 5_000

# Keys by where they stand: those that rules are made of, and those that are documentation.
OF_CONTRACT = ("apiVersion", "kind", "schema", "slaProperties", "slaDefaultElement")
CONTRACT_DOCUMENTATION = (
    "authoritativeDefinitions", "contractCreatedTs", "customProperties", "dataProduct",
    "description", "domain", "id", "name", "price", "roles", "servers", "status", "support",
    "tags", "team", "tenant", "version",
)  # fmt: skip
OF_OBJECT = (
    "name", "physicalName", "properties", "quality", "relationships", "customProperties",
)  # fmt: skip
OBJECT_DOCUMENTATION = (
    "authoritativeDefinitions", "businessName", "dataGranularityDescription", "deprecated",
    "description", "id", "logicalType", "physicalType", "synonyms", "tags",
)  # fmt: skip
OF_PROPERTY = (
    "name", "physicalName", "physicalType", "logicalType", "logicalTypeOptions", "required",
    "unique", "primaryKey", "primaryKeyPosition", "classification", "enum", "items", "properties",
    "map", "quality", "relationships",
)  # fmt: skip
PROPERTY_DOCUMENTATION = (
    "authoritativeDefinitions", "businessName", "criticalDataElement", "customProperties",
    "deprecated", "description", "encryptedName", "examples", "id", "partitionKeyPosition",
    "partitioned", "semanticType", "synonyms", "tags", "transformDescription", "transformLogic",
    "transformSourceObjects",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ContractProperty:
    """A column, or a field within one."""

    declared: Declaration
    name: str
    # The names in the data, from the column down to the field.
    path: tuple[str, ...]
    parts: tuple[ContractProperty, ...] = ()

    @property
    def column(self) -> str:
        return self.path[0]

    @property
    def is_nested(self) -> bool:
        return len(self.path) > 1

    def given(self, key: str) -> Any:
        return self.declared.fields.get(key)

    def walk(self) -> Iterator[ContractProperty]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class ContractObject:
    """A table of the contract."""

    declared: Declaration
    name: str
    physical: str
    properties: tuple[ContractProperty, ...]

    def property_called(self, name: str) -> ContractProperty | None:
        """The column of that name, by the contract's own name or by that in the data."""
        for one in self.properties:
            if name in {one.name, one.column, str(one.given("id"))}:
                return one
        return None

    @property
    def own(self) -> Mapping[str, Any]:
        """What this library wrote into the object for itself."""
        return own_properties(self.declared)


@dataclass(frozen=True, slots=True)
class Contract:
    """What a file holds, in its order."""

    declared: Declaration
    objects: tuple[ContractObject, ...]

    def object_called(self, name: str) -> ContractObject | None:
        for one in self.objects:
            if name in {one.name, one.physical, str(one.declared.fields.get("id"))}:
                return one
        return None

    @property
    def server_types(self) -> tuple[str, ...]:
        servers = self.declared.fields.get("servers")
        found = servers if isinstance(servers, list) else []
        types = [plain(one).get("type") for one in found if isinstance(one, Declaration)]
        return tuple(dict.fromkeys(str(one) for one in types if one))


def own_properties(declared: Declaration) -> Mapping[str, Any]:
    """The value of the custom property that is this library's own; nothing if there is none."""
    entries = declared.fields.get("customProperties")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Declaration) and entry.fields.get("property") == ENGINE:
            value = plain(entry.fields.get("value"))
            return value if isinstance(value, Mapping) else {}
    return {}


def read_contract(path: str | Path) -> Contract:
    """Raises DeclarationError with every problem of the file's shape, each with its line."""
    file = Path(path)
    if not file.is_file():
        raise DeclarationError.of(f"'{path}' is not a file.")
    if file.suffix not in _SUFFIXES:
        raise DeclarationError.of(f"'{path}' is neither a YAML nor a JSON file.")
    documents = [one for one in read_file(file, file.name) if one is not None]
    if len(documents) != 1 or not isinstance(documents[0], Declaration):
        message = "a contract is one set of fields: 'apiVersion', 'kind', 'id', 'schema', ..."
        raise DeclarationError([Problem(message, place=f"{file.name}:1")])
    return _Shape().contract(documents[0])


def is_contract(path: str | Path) -> bool:
    """Whether a file says of itself that it is a contract; raises what it cannot be read for."""
    file = Path(path)
    if not file.is_file() or file.suffix not in _SUFFIXES:
        return False
    documents = read_file(file, file.name)
    return any(
        isinstance(one, Declaration) and {"apiVersion", "kind"} & set(one.fields)
        for one in documents
    )


@dataclass(slots=True)
class _Shape:
    """Finds the elements, and everything that is not where it belongs."""

    problems: list[Problem] = field(default_factory=list)
    count: int = 0

    def contract(self, declared: Declaration) -> Contract:
        self._version(declared)
        listed = self._list(declared, "schema", "tables")
        objects = [one for entry in listed if (one := self._object(entry, declared))]
        names = [one.name for one in objects]
        for twin in sorted({name for name in names if names.count(name) > 1}):
            place = next(one.declared.place for one in reversed(objects) if one.name == twin)
            self.problems.append(Problem(f"there are two objects '{twin}'.", place=place))
        if self.problems:
            raise DeclarationError(self.problems)
        return Contract(declared, tuple(objects))

    def _version(self, declared: Declaration) -> None:
        kind, version = declared.fields.get("kind"), declared.fields.get("apiVersion")
        if kind != "DataContract":
            message = f"field 'kind' must be DataContract, not {kind!r}."
            self.problems.append(Problem(message, place=declared.place_of("kind")))
        if not isinstance(version, str) or not _VERSION.fullmatch(version):
            message = f"field 'apiVersion' must be a version 3 of the standard, not {version!r}."
            self.problems.append(Problem(message, place=declared.place_of("apiVersion")))

    def _object(self, entry: Any, home: Declaration) -> ContractObject | None:
        declared = self._named(entry, home.place_of("schema"), "an object")
        if declared is None:
            return None
        physical = self._text(declared, "physicalName")
        properties = self._properties(declared, ())
        return ContractObject(declared, str(declared.fields["name"]), physical, tuple(properties))

    def _properties(self, home: Declaration, above: tuple[str, ...]) -> list[ContractProperty]:
        found: list[ContractProperty] = []
        for entry in self._list(home, "properties", "columns"):
            declared = self._named(entry, home.place_of("properties"), "a property")
            if declared is None:
                continue
            name = self._text(declared, "physicalName")
            path = (*above, name)
            if any(other.path == path for other in found):
                message = f"the property '{name}' is there twice."
                self.problems.append(Problem(message, place=declared.place))
                continue
            parts = tuple(self._properties(declared, path))
            found.append(ContractProperty(declared, str(declared.fields["name"]), path, parts))
        return found

    def _named(self, entry: Any, place: str, what: str) -> Declaration | None:
        self.count += 1
        if self.count == _MOST_ELEMENTS:
            message = f"more than {_MOST_ELEMENTS:,} objects and properties."
            raise DeclarationError([Problem(message, place=place)])
        if not isinstance(entry, Declaration):
            self.problems.append(Problem(f"{what} is fields such as 'name: ...'.", place=place))
            return None
        name = entry.fields.get("name")
        if not isinstance(name, str) or not name.strip():
            self.problems.append(Problem(f"{what} needs a 'name'.", place=entry.place))
            return None
        self._list(entry, "quality", "checks")
        self._list(entry, "relationships", "references")
        return entry

    def _text(self, declared: Declaration, key: str) -> str:
        """The name in the data: that of the contract where there is no other."""
        given = declared.fields.get(key)
        if given is None or isinstance(given, str):
            return given or str(declared.fields["name"])
        self.problems.append(Problem(f"field '{key}' must be text.", place=declared.place_of(key)))
        return str(given)

    def _list(self, declared: Declaration, key: str, what: str) -> list[Any]:
        value = declared.fields.get(key)
        if value is None or isinstance(value, list):
            return value or []
        message = f"field '{key}' must be a list of {what}."
        self.problems.append(Problem(message, place=declared.place_of(key)))
        return []


def unknown_keys(declared: Declaration, *known: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The keys that the standard does not have there, each with the reason."""
    every = [key for keys in known for key in keys]
    for key in declared.fields:
        if key not in every and not key.startswith("x-"):
            yield key, f"the standard has no field '{key}' here.{did_you_mean(key, every)}"
