r"""Well-known text of OGC Simple Features as one regular expression.

Looking ahead, it first makes sure that every point has as many numbers as the geometry's tag (Z, M,
ZM or none) asks for. What is left to check then is how points and brackets follow each other.
"""

from __future__ import annotations

_BLANK = r"[ \t\r\n]*+"
_GAP = r"[ \t\r\n]++"
_NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_NO_NUMBER = "[^0-9.+-]*+"
# The first look has been at the numbers of a point: anything up to its end will do.
_POINT = r"[-+.0-9][^(),]*+"
_NAMES = "(?:(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)"
_DEEPEST = 2


def _points_of(numbers: int, tag: str) -> str:
    """True at the start of a geometry with that tag in which all points have that many numbers."""
    point = rf"{_NUMBER}(?:{_GAP}{_NUMBER}){{{numbers - 1}}}(?={_BLANK}[,)])"
    return rf"(?={_NAMES}{_BLANK}{tag}(?:{_NO_NUMBER}{point})*+{_NO_NUMBER}\z)"


def _brackets(inside: str) -> str:
    return rf"\({_BLANK}{inside}{_BLANK}\)"


def _list(item: str, at_least: int = 1) -> str:
    """Items with commas between, each followed by a comma or the end of the list."""
    repeat = f"{{{at_least},}}+" if at_least > 1 else "++"
    return rf"\({_BLANK}(?:{item}{_BLANK}(?:,{_BLANK}(?!\))|(?=\)))){repeat}\)"


def _or_empty(text: str) -> str:
    return f"(?:{text}|EMPTY)"


def _geometry(depth: int) -> str:
    line, polygon = _list(_POINT, at_least=2), _list(_or_empty(_list(_POINT, at_least=4)))
    shapes = {
        "POINT": _brackets(_POINT),
        "LINESTRING": line,
        "POLYGON": polygon,
        # Points of a multipoint are written with or without brackets of their own.
        "MULTIPOINT": _list(f"(?:{_brackets(_POINT)}|{_POINT}|EMPTY)"),
        "MULTILINESTRING": _list(_or_empty(line)),
        "MULTIPOLYGON": _list(_or_empty(polygon)),
    }
    if depth:
        shapes["GEOMETRYCOLLECTION"] = _list(_geometry(depth - 1))
    shapes[_NAMES] = r"(?<=[ \t\r\n])EMPTY"
    ways = (rf"{name}{_BLANK}\1{_BLANK}{shape}" for name, shape in shapes.items())
    return f"(?:{'|'.join(ways)})"


# The geometries of a collection have its tag, hence the reference to it.
GEOMETRY = (
    f"(?i)(?={_NAMES}{_BLANK}(ZM|Z|M|))"
    f"(?:{_points_of(2, '(?![ZM])')}|{_points_of(3, '(?:Z(?!M)|M)')}|{_points_of(4, 'ZM')})"
    f"{_geometry(_DEEPEST)}"
)
