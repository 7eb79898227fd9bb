"""The one place where names and texts become SQL."""

from __future__ import annotations


def identifier(name: str) -> str:
    """A column name as SQL, whatever it consists of."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """A string literal that means the same under every parser setting.

    Backslashes and quotes read differently with ``escapedStringLiterals`` and between versions,
    and ``${...}`` is replaced with settings even between quotes, so anything beyond plain
    characters goes as the hexadecimal form of its UTF-8 bytes.
    """
    if value.isascii() and value.isprintable() and not set(value) & {"'", '"', "\\", "$"}:
        return f"'{value}'"
    return f"CAST(X'{value.encode().hex()}' AS STRING)"
