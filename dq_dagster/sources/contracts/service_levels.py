"""Service levels of a contract: those that its data can be asked about become rules."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from dq_dagster.sources.contracts.document import Contract, ContractObject
from dq_dagster.sources.contracts.taking import Taking, exactly, literal
from dq_dagster.sources.migration import Untranslatable
from dq_dagster.sources.reading import Declaration, plain

_SYNONYMS = {
    "ly": "latency", "freshness": "latency", "fy": "frequency", "re": "retention",
    "av": "availability", "th": "throughput", "er": "errorrate", "ga": "generalavailability",
    "es": "endofsupport", "el": "endoflife", "td": "timetodetect", "tn": "timetonotify",
    "tr": "timetorepair",
}  # fmt: skip
_DATES = {"generalavailability", "endofsupport", "endoflife"}
_WHY_NOT = {
    "retention": "it says when rows are deleted, which their table does not show.",
    "timeofavailability": "it says at what time data is there: schedule the asset, or a freshness "
    "check, for it.",
}
_OF_THE_SERVICE = "it is about the service, and not about what the data holds."
_DAY = 86_400
_SECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3_600),
    **dict.fromkeys(("d", "day", "days"), _DAY),
    **dict.fromkeys(("w", "wk", "week", "weeks"), 7 * _DAY),
    **dict.fromkeys(("y", "yr", "year", "years"), 365 * _DAY),
}
_YEARS = {"y", "yr", "year", "years"}


def service_levels(contract: Contract) -> Iterator[tuple[ContractObject | None, Taking]]:
    """What becomes of each, with the object that it is about; None if it is about none."""
    entries = contract.declared.fields.get("slaProperties")
    place = contract.declared.place_of("slaProperties")
    if entries is not None and not isinstance(entries, list):
        found = Taking("slaProperties", "sla", "contract", place)
        yield None, found.refuse("it must be a list of service levels.")
        return
    for number, entry in enumerate(entries or [], 1):
        declared = entry if isinstance(entry, Declaration) else Declaration({}, place)
        named = str(declared.fields.get("property") or "")
        found = Taking(f"sla.{named or number}", named or "sla", "contract", declared.place)
        home: ContractObject | None = None
        try:
            for home, column in _elements(contract, declared, named):
                of = found.of if home is None else home.name
                one = Taking(found.rule, found.kind, of, found.place)
                _fill(one, declared, column)
                yield home, one
        except Untranslatable as reason:
            yield None, found.refuse(reason)


def _elements(
    contract: Contract, declared: Declaration, named: str
) -> Iterator[tuple[ContractObject | None, str]]:
    """The columns that a service level is about; one that has none is about no object."""
    kind = _kind(named)
    if kind not in {"latency", "frequency"}:
        yield None, ""
        return
    text = declared.fields.get("element") or contract.declared.fields.get("slaDefaultElement")
    if not isinstance(text, str):
        raise Untranslatable("it names no column to look at: 'element: table.column'.")
    for name in (part.strip() for part in text.split(",")):
        table, _, last = name.rpartition(".")
        home = contract.object_called(table) if table else _only(contract)
        known = None if home is None else home.property_called(last)
        if home is None or known is None:
            raise Untranslatable(f"'{name}' is no property of an object of this contract.")
        yield home, known.column


def _only(contract: Contract) -> ContractObject | None:
    return contract.objects[0] if len(contract.objects) == 1 else None


def _kind(named: str) -> str:
    return _SYNONYMS.get(named.lower(), named.lower())


def _fill(found: Taking, declared: Declaration, column: str) -> None:
    kind = _kind(found.kind)
    if kind in _DATES:
        found.documentation = True
        found.note("It is a date of the service.")
        return
    if kind not in {"latency", "frequency"}:
        raise Untranslatable(_WHY_NOT.get(kind, _OF_THE_SERVICE))
    fields = plain(declared)
    length = _length(fields, found)
    if fields.get("description"):
        found.fields["description"] = str(fields["description"])
    if kind == "latency":
        found.fields |= {"type": "freshness", "columns": [column], "max": length}
        found.differ(f"It is the age of the newest '{column}' when the check runs.")
    else:
        found.fields |= {
            "type": "row_inserted_count_in_range",
            "columns": [column],
            "window": length,
            "min": 1,
        }
        found.differ(f"It is that there is a row whose '{column}' lies in the last such time.")


def _length(fields: dict[str, Any], found: Taking) -> Any:
    unit = str(fields.get("unit") or "").strip()
    if unit.lower() not in _SECONDS or unit == "M":
        raise Untranslatable(f"'{unit}' is no unit of a fixed length: write d, h, min or s.")
    if unit.lower() in _YEARS:
        found.differ("A year is taken as 365 days.")
    seconds = exactly(fields.get("value")) * _SECONDS[unit.lower()]
    if seconds <= 0:
        raise Untranslatable(f"a length of time is needed, not {literal(fields['value'])}.")
    return int(seconds) if seconds == seconds.to_integral_value() else Decimal(seconds)


def written_length(seconds: Any) -> tuple[Any, str]:
    """A number of seconds in the largest unit that it is whole in."""
    for unit, length in (("d", _DAY), ("h", 3_600), ("min", 60)):
        if seconds % length == 0:
            return int(seconds // length), unit
    return seconds, "s"
