"""Names of folders for partition keys and asset keys of any kind."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

# Below the folder of an asset: its partitions, or all of its data where it has none.
PARTITION_COLUMN = "dq_partition"
WHOLE_FOLDER = "dq_dataset"

# Spark hides names that start with a dot or an underscore, and file systems end names at 255 bytes.
_PLAIN = re.compile(r"[A-Za-z0-9-](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_KEPT = re.compile(r"[A-Za-z0-9_-]")
_LONGEST = 150


def folder_name(key: str) -> str:
    """A name that no other key has, and that no file system, shell or URI reads differently.

    Keys such as ``2024-01-31`` are their own names. Any other character becomes ``!`` and the
    hexadecimal form of its bytes; of very long keys the name keeps the beginning and a digest.
    """
    if _PLAIN.fullmatch(key) and len(key) <= _LONGEST:
        return key
    # The mark in front: no plain key is the name of an odd one, however it is spelled.
    name = "!" + "".join(char if _KEPT.fullmatch(char) else _escaped(char) for char in key)
    if len(name) <= _LONGEST:
        return name
    return f"{name[:80]}!!{hashlib.sha256(key.encode()).hexdigest()}"


def asset_folder(parts: Iterable[str]) -> str:
    """The folder of an asset, which lies in no other asset's data, whatever its key is.

    It may lie in the folder of another asset, beside that one's data: no part of a key has the
    name of a folder with data. Plain names stay as they are.
    """
    return "/".join(_part_name(part) for part in parts)


def _part_name(part: str) -> str:
    name = folder_name(part)
    # Some file systems do not tell upper from lower case.
    return f"!{name}" if name.lower() == WHOLE_FOLDER else name


def _escaped(char: str) -> str:
    return "".join(f"!{byte:02x}" for byte in char.encode())
