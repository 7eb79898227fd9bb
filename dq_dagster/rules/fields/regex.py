r"""Regular expressions of rules, and those that only texts of one length match: ``\+\d{2}``.

Java counts out a repetition like ``\d{8}`` step by step, while it runs through ``\d+`` in one loop,
twice as fast. If the length of the text is known, both mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from dq_dagster.rules.fields.java_regex import find_mistake

_LONGEST = 80


def require_java_syntax(pattern: str) -> str:
    """Refuses what Java would refuse, and says where.

    Above all groups that are closed before they are opened, or never: a pattern is later wrapped
    as ``(?:pattern)`` to match whole values; ``a)|(b`` would be valid there and mean something
    else.
    """
    mistake = find_mistake(pattern)
    if mistake is None:
        return pattern
    shown = pattern if len(pattern) <= _LONGEST else f"{pattern[:_LONGEST]}…"
    raise ValueError(f"{mistake.message}, at position {mistake.position} of the pattern '{shown}'")


def whole(pattern: str) -> str:
    r"""The pattern as one that only whole values match.

    Not ``^...$``, which stops before a final line break. An open ``\Q`` is closed, and a comment
    of ``(?x)`` ended, before the bracket that is put behind them.
    """
    if _ends_in_quote(pattern):
        pattern += "\\E"
    end = "\n" if "#" in pattern and _allows_comments(pattern) else ""
    return rf"\A(?:{pattern}{end})\z"


def _allows_comments(pattern: str) -> bool:
    """Whether a flag group such as ``(?x)`` or ``(?ix:`` switches comments on."""
    for part in pattern.split("(?")[1:]:
        flags = part[: len(part) - len(part.lstrip("idmsuxU"))]
        if "x" in flags:
            return True
    return False


def _ends_in_quote(pattern: str) -> bool:
    r"""Whether a ``\Q`` is still open at the end."""
    position = 0
    while (position := pattern.find("\\", position)) >= 0:
        if pattern.startswith("\\Q", position):
            position = pattern.find("\\E", position + 2)
            if position < 0:
                return True
        position += 2
    return False


# What means the same to every reader: plain characters, escaped signs, classes of ASCII.
_ATOM = re.compile(
    r"""(?P<atom>
        [A-Za-z0-9 _@%=,:;/!~<>-] | \\[dw] | \\[.+*?(){}|^$/:-] | \\\[ | \\\]
        | \[ (?: [A-Z]-[A-Z] | [a-z]-[a-z] | [0-9]-[0-9] | [A-Za-z0-9_ .,:/@%=+] | \\d )+ -? \]
    )
    (?: \{ (?P<times>[1-9][0-9]{0,2}) \} )?""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class FixedWidth:
    """A length in ASCII characters, and a pattern for the texts that have it."""

    width: int
    pattern: str


def fixed_width(pattern: str) -> FixedWidth | None:
    """The same as the pattern on a whole text; None if it is not that simple."""
    runs = _runs(pattern)
    if runs is None or max(times for _, times in runs) == 1:
        return None
    # Only one of them may vary in length, or the length of the text would not tell theirs.
    longest = max(range(len(runs)), key=lambda place: runs[place][1])
    parts = [
        f"{atom}+" if place == longest else atom if times == 1 else f"{atom}{{{times}}}"
        for place, (atom, times) in enumerate(runs)
    ]
    return FixedWidth(sum(times for _, times in runs), rf"\A{''.join(parts)}\z")


def _runs(pattern: str) -> list[tuple[str, int]] | None:
    """Each atom and how often it stands in a row; None if there is anything else."""
    atoms = list(_atoms(pattern))
    if not atoms or atoms[-1][0] is None:
        return None
    return [
        (str(atom), sum(times for _, times in same))
        for atom, same in groupby(atoms, key=lambda item: item[0])
    ]


def _atoms(pattern: str) -> Iterator[tuple[str | None, int]]:
    position = 0
    while position < len(pattern):
        found = _ATOM.match(pattern, position)
        if found is None:
            yield None, 0
            return
        yield found["atom"], int(found["times"] or 1)
        position = found.end()
