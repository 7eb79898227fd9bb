"""The text around what is generated, and which family each rule type stands in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from dq_dagster.rules.catalogue import RULE_TYPES

TEMPLATE = Path(__file__).parent / "template.md"
_PLACE = re.compile(r"^<!-- rule: (\w+) -->$", re.MULTILINE)
_HEADING = re.compile(r"^## (.+)$")


class Misplaced(Exception):
    """Rule types and the places for them do not go together."""

    def __init__(self, *, homeless: set[str], unknown: set[str], twice: set[str]) -> None:
        told = []
        if homeless:
            lines = ", ".join(f"'<!-- rule: {kind} -->'" for kind in sorted(homeless))
            told.append(f"put into the right family: {lines}")
        if unknown:
            told.append(f"these are no rule types: {', '.join(sorted(unknown))}")
        if twice:
            told.append(f"these stand here twice: {', '.join(sorted(twice))}")
        super().__init__(f"{TEMPLATE.name}: {'; '.join(told)}.")


def families(text: str | None = None, types: Collection[str] = RULE_TYPES) -> dict[str, list[str]]:
    """The rule types by family, in the order of the page; each has exactly one place."""
    found: dict[str, list[str]] = {}
    family = ""
    for line in (template() if text is None else text).splitlines():
        if heading := _HEADING.match(line):
            family = heading[1]
        elif place := _PLACE.match(line):
            found.setdefault(family, []).append(place[1])
    places = Counter(kind for kinds in found.values() for kind in kinds)
    homeless, unknown = set(types) - set(places), set(places) - set(types)
    twice = {kind for kind, count in places.items() if count > 1}
    if homeless or unknown or twice:
        raise Misplaced(homeless=homeless, unknown=unknown, twice=twice)
    return found


def template() -> str:
    return TEMPLATE.read_text(encoding="utf-8")


def filled(parts: Mapping[str, str], section: Callable[[str], str]) -> str:
    """The page: the named parts and the sections of all rule types at their places."""
    text = template()
    for name, part in parts.items():
        text = text.replace(f"<!-- {name} -->", part)
    return _PLACE.sub(lambda place: section(place[1]), text)
