r"""Regular expressions of rules, and those whose length tells how often they repeat: ``\+\d{2}``.

Java counts out a repetition like ``\d{8}`` step by step, while it runs through ``\d+`` in one loop,
twice as fast. If the length of the text is known, both mean the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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
        | \[ (?: [A-Z]-[A-Z] | [a-z]-[a-z] | [0-9]-[0-9] | [ ]-~ | [A-Za-z0-9_ .,:/@%=+] | \\d )+
          -? \]
    )
    (?: \{ (?P<least>0|[1-9][0-9]{0,2}) (?P<to>, (?P<most>[1-9][0-9]{0,2})? )? \} )?
    (?! [*+?{] )""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class PatternLength:
    """How many ASCII characters a text has, and a pattern for the texts that have so many.

    There is no limit where ``most`` is None.
    """

    least: int
    most: int | None
    pattern: str


@dataclass(frozen=True, slots=True)
class _Run:
    """One atom, and how often it may stand in a row."""

    atom: str
    least: int
    most: int | None

    @property
    def varies(self) -> bool:
        return self.least != self.most

    def counted(self) -> str:
        return self.atom if self.least == 1 else f"{self.atom}{{{self.least}}}"

    def written(self) -> str:
        most = "" if self.most is None else self.most
        return self.counted() if not self.varies else f"{self.atom}{{{self.least},{most}}}"

    def loop(self) -> str:
        return f"{self.atom}{'+' if self.least else '*'}"


def pattern_length(pattern: str) -> PatternLength | None:
    """The same as the pattern on a whole text; None if it is not that simple."""
    runs = _runs(pattern)
    if runs is None or all(run.most == 1 for run in runs):
        return None
    # Only one of them may vary in length, or the length of the text would not tell theirs.
    if sum(run.varies for run in runs) > 1:
        return None
    longest = max(range(len(runs)), key=lambda place: (runs[place].varies, runs[place].least))
    parts = [run.loop() if place == longest else run.counted() for place, run in enumerate(runs)]
    most = [run.most for run in runs if run.most is not None]
    return PatternLength(
        sum(run.least for run in runs),
        sum(most) if len(most) == len(runs) else None,
        rf"\A{''.join(parts)}\z",
    )


def of_length(pattern: str, least: int, most: int | None) -> str | None:
    """The pattern for those of its texts that are of such a length; None if it is not that simple.

    A text then matches it, if it matches the pattern and has as many characters.
    """
    runs = _runs(pattern)
    varying = [place for place, run in enumerate(runs or ()) if run.varies]
    if runs is None or len(varying) != 1:
        return None
    [place] = varying
    run = runs[place]
    others = sum(one.least for one in runs) - run.least
    fewest = max(run.least, least - others)
    limits = [
        limit for limit in (run.most, None if most is None else most - others) if limit is not None
    ]
    if not limits:
        found = _Run(run.atom, fewest, None)
    elif fewest <= min(limits):
        found = _Run(run.atom, fewest, min(limits))
    else:
        return None
    text = "".join(one.written() for one in [*runs[:place], found, *runs[place + 1 :]])
    # Only what can be read again.
    return text if _runs(text) is not None else None


def _runs(pattern: str) -> list[_Run] | None:
    """Each atom and how often it stands in a row; None if there is anything else."""
    runs: list[_Run] = []
    position = 0
    while position < len(pattern):
        found = _ATOM.match(pattern, position)
        if found is None:
            return None
        run = _run(found)
        if run.most is not None and run.most < max(run.least, 1):
            return None
        if runs and runs[-1].atom == run.atom:
            run = _joined(runs.pop(), run)
        runs.append(run)
        position = found.end()
    return runs or None


def _run(found: re.Match[str]) -> _Run:
    least = int(found["least"] or 1)
    if found["to"] is None:
        return _Run(found["atom"], least, least)
    return _Run(found["atom"], least, None if found["most"] is None else int(found["most"]))


def _joined(one: _Run, other: _Run) -> _Run:
    most = None if one.most is None or other.most is None else one.most + other.most
    return _Run(one.atom, one.least + other.least, most)
