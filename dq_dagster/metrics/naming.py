"""Names within metric keys, told apart from what stands beside them."""

from __future__ import annotations

# What follows a column's name in a key begins like this.
_AFTER_A_NAME = (" (", " where ")


def in_key(column: str, *, alone: bool = True) -> str:
    """The column's name, between backquotes where a key would be ambiguous without them.

    ``alone``: only options follow the name, which begin in a few known ways.
    """
    doubtful = any(start in column for start in _AFTER_A_NAME) if alone else " " in column
    return quoted(column) if doubtful or "`" in column else column


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
