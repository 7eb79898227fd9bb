"""The text around what is generated, and where in it each family of rule types stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from dq_dagster.rules.catalogue import by_family

TEMPLATE = Path(__file__).parent / "template.md"
_PLACE = "<!-- rules -->"
_HEADING = re.compile(r"^## (.+)$")


class Misplaced(Exception):
    """The families of rule types and the places for them do not go together."""

    def __init__(self, *, missing: set[str], unknown: set[str], twice: set[str]) -> None:
        problems = []
        if missing:
            wanted = ", ".join(f"'## {family}'" for family in sorted(missing))
            problems.append(f"put '{_PLACE}' below a heading {wanted}")
        if unknown:
            problems.append(f"these are no families: {', '.join(sorted(unknown))}")
        if twice:
            problems.append(f"these have two places: {', '.join(sorted(twice))}")
        super().__init__(f"{TEMPLATE.name}: {'; '.join(problems)}.")


def require_places(text: str | None = None, families: Iterable[str] | None = None) -> None:
    """Raises Misplaced unless each family has exactly one place on the page."""
    wanted = set(by_family() if families is None else families)
    places = Counter(family for family, line in _lines(text) if line == _PLACE)
    missing, unknown = wanted - set(places), set(places) - wanted
    twice = {family for family, count in places.items() if count > 1}
    if missing or unknown or twice:
        raise Misplaced(missing=missing, unknown=unknown, twice=twice)


def filled(parts: Mapping[str, str], section: Callable[[str], str]) -> str:
    """The page: the named parts and the sections of all rule types at their places."""
    families = by_family()
    lines = [
        "\n\n".join(map(section, families[family])) if line == _PLACE else line
        for family, line in _lines(None)
    ]
    text = "".join(f"{line}\n" for line in lines)
    for name, part in parts.items():
        text = text.replace(f"<!-- {name} -->", part)
    return text


def _lines(text: str | None) -> Iterable[tuple[str, str]]:
    """The lines of the template, each with the heading that it stands below."""
    family = ""
    for line in (TEMPLATE.read_text(encoding="utf-8") if text is None else text).splitlines():
        if heading := _HEADING.match(line):
            family = heading[1]
        yield family, line
