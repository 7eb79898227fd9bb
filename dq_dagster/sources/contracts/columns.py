"""What a contract says of its columns as rules: keys, options, values, references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dq_dagster.errors import did_you_mean
from dq_dagster.sources.contracts.document import Contract, ContractObject, ContractProperty
from dq_dagster.sources.contracts.options import option_rules, refuse_nested
from dq_dagster.sources.contracts.taking import Taking, column_sql, flag
from dq_dagster.sources.migration import Untranslatable
from dq_dagster.sources.reading import Declaration, plain

_PUBLIC = {"public", "none", "open", "unrestricted", "internal"}
_SECRET = {"confidential", "restricted", "sensitive", "secret", "private", "pii", "personal", "phi"}


@dataclass(frozen=True, slots=True)
class Columns:
    """The properties of an object, to be taken one by one."""

    contract: Contract
    home: ContractObject
    asset_of: Callable[[ContractObject], str]

    def takings(self) -> Iterator[Taking]:
        yield from self._primary_key()
        for top in self.home.properties:
            for one in top.walk():
                yield from self._of(one)
        relations = self.home.declared.fields.get("relationships") or []
        for relation in relations:
            fill = partial(self._relation, relation=relation, one=None)
            yield self._attempt(None, "relationship", fill)

    def sensitive(self) -> list[str]:
        """The columns whose values are not to be shown."""
        return [
            one.column
            for one in self.home.properties
            if str(one.given("classification") or "").lower() in _SECRET
        ]

    def _attempt(
        self, one: ContractProperty | None, kind: str, fill: Callable[[Taking], None], key: str = ""
    ) -> Taking:
        """What the element becomes, or why nothing does."""
        home = self.home.declared if one is None else one.declared
        names = [self.home.name, *(() if one is None else one.path), kind]
        place = home.place_of(key or kind)
        found = Taking(".".join(names), kind, self.home.name, place)
        try:
            fill(found)
        except Untranslatable as reason:
            found.refuse(reason)
        return found

    def _of(self, one: ContractProperty) -> Iterator[Taking]:
        for key, fill in _KEYS.items():
            if one.given(key) not in (None, False):
                yield self._attempt(one, key, partial(fill, one=one))
        if one.is_nested and one.given("primaryKey"):
            yield self._attempt(one, "primaryKey", partial(_unique, one=one))
        if one.given("logicalTypeOptions") is not None:
            yield from option_rules(one, self.home.name, ".".join((self.home.name, *one.path)))
        for key in ("items", "map"):
            if _demands(plain(one.given(key))):
                yield self._attempt(one, key, _within)
        for relation in one.given("relationships") or []:
            fill = partial(self._relation, relation=relation, one=one)
            yield self._attempt(one, "relationship", fill, "relationships")

    def _primary_key(self) -> Iterator[Taking]:
        keys = [one for one in self.home.properties if one.given("primaryKey") not in (None, False)]
        if not keys:
            return
        yield self._attempt(None, "primaryKey", partial(_unique_key, keys=keys))
        for one in keys:
            if not one.given("required"):
                yield self._attempt(one, "primaryKey", partial(_key_part, one=one))

    def _relation(self, found: Taking, relation: Any, one: ContractProperty | None) -> None:
        if not isinstance(relation, Declaration):
            raise Untranslatable("a relationship is fields such as 'to: customers.id'.")
        fields = plain(relation)
        found.place = relation.place
        kind = fields.get("type", "foreignKey")
        if kind != "foreignKey":
            raise Untranslatable(f"only foreign keys can be looked up, not '{kind}'.")
        if one is not None:
            refuse_nested(one)
            columns = [one.column]
        else:
            columns = [self._own_column(name) for name in _names(fields.get("from"), "from")]
        other, there = self._target(_names(fields.get("to"), "to"))
        if len(columns) != len(there):
            raise Untranslatable("'from' and 'to' must name as many columns.")
        found.fields |= {
            "type": "column_values_in_reference",
            "columns": columns,
            "reference": {"asset": self.asset_of(other)},
            "reference_columns": there,
        }

    def _own_column(self, name: str) -> str:
        last = name.removeprefix(f"{self.home.name}.").removeprefix(f"{self.home.physical}.")
        known = self.home.property_called(last)
        if known is None:
            names = [one.name for one in self.home.properties]
            raise Untranslatable(f"there is no property '{name}'.{did_you_mean(last, names)}")
        return known.column

    def _target(self, names: list[str]) -> tuple[ContractObject, list[str]]:
        others = set()
        columns = []
        for name in names:
            table, _, last = name.rpartition(".")
            other = self.contract.object_called(table)
            known = None if other is None else other.property_called(last)
            if other is None or known is None:
                raise Untranslatable(
                    f"'{name}' is not in this contract: declare a column_values_in_reference rule "
                    "that names its asset, table or files."
                )
            others.add(other.name)
            columns.append(known.column)
        if len(others) != 1:
            raise Untranslatable("'to' must name the columns of one object.")
        return next(one for one in self.contract.objects if one.name in others), columns


def _names(value: Any, key: str) -> list[str]:
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not found or not all(isinstance(one, str) for one in found):
        raise Untranslatable(f"'{key}' must name properties, such as 'customers.id'.")
    return found


def _required(found: Taking, one: ContractProperty) -> None:
    flag(one.declared.fields, "required")
    if one.is_nested:
        above = column_sql(*one.path[:-1])
        found.fields |= {
            "type": "row_dq",
            "name": f"{'_'.join(one.path)}_required",
            "expectation": f"{above} IS NULL OR {column_sql(*one.path)} IS NOT NULL",
            "quality_dimension": "completeness",
        }
        return
    found.fields |= {"type": "column_not_empty", "columns": [one.column]}


def _unique(found: Taking, one: ContractProperty) -> None:
    flag(one.declared.fields, "unique")
    refuse_nested(one)
    found.fields |= {"type": "column_unique", "columns": [one.column]}


def _key_part(found: Taking, one: ContractProperty) -> None:
    found.fields |= {"type": "column_not_empty", "columns": [one.column]}
    found.note("A part of a primary key is never empty.")


_DEMANDS = {"required", "unique", "enum", "logicalTypeOptions", "quality", "relationships"}


def _demands(value: Any) -> bool:
    """Whether more than a type is said of what a column holds, at any depth."""
    if isinstance(value, Mapping):
        return any(
            (key in _DEMANDS and one not in (None, False, [], {})) or _demands(one)
            for key, one in value.items()
        )
    return isinstance(value, list) and any(map(_demands, value))


def _within(found: Taking) -> None:
    raise Untranslatable(
        "what is demanded of the items of a column has no rule: write a condition in SQL, such as "
        "forall(items, item -> item > 0)."
    )


def _unique_key(found: Taking, keys: list[ContractProperty]) -> None:
    for one in keys:
        flag(one.declared.fields, "primaryKey")
    found.place = keys[0].declared.place_of("primaryKey")

    def position(one: ContractProperty) -> int:
        given = one.given("primaryKeyPosition")
        return given if isinstance(given, int) and given > 0 else len(keys) + 1

    columns = [one.column for one in sorted(keys, key=position)]
    found.fields |= {"type": "unique_key", "columns": columns}


def _enum(found: Taking, one: ContractProperty) -> None:
    refuse_nested(one)
    entries = plain(one.given("enum"))
    if not isinstance(entries, list) or not entries:
        raise Untranslatable("'enum' must be a list of values.")
    values = [entry.get("value") if isinstance(entry, Mapping) else entry for entry in entries]
    if None in values:
        raise Untranslatable("each entry of 'enum' needs a 'value'.")
    found.fields |= {"type": "column_values_in_set", "columns": [one.column], "values": values}


def _classification(found: Taking, one: ContractProperty) -> None:
    word = str(one.given("classification")).lower()
    found.documentation = True
    if word in _SECRET and not one.is_nested:
        found.note("Its values are masked wherever values are shown (sensitive).")
    elif word not in _PUBLIC | _SECRET:
        found.note(f"'{word}' is not known here: add the column to 'sensitive' to mask its values.")


_KEYS: Mapping[str, Callable[..., None]] = {
    "required": _required,
    "unique": _unique,
    "enum": _enum,
    "classification": _classification,
}
