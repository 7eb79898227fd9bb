"""Stable names: what a rule is called when its author gave it none, and as a Dagster check."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_LONGEST = 120


def derived_name(*words: str) -> str:
    """A readable name from a rule's type and columns, the same every time.

    Where a word loses characters on the way (``a.b``, ``Ä``) a few letters of its hash keep the
    name apart from that of ``a_b`` or ``A``.
    """
    plain = "_".join(_ascii(word) for word in words if word)
    if all(_is_plain(word) for word in words) and len(plain) <= _LONGEST:
        return plain
    return f"{plain[:_LONGEST].rstrip('_')}_{_fingerprint(*words)}"


def check_name(name: str) -> str:
    """The name as Dagster takes it: letters, digits and underscores."""
    slug = _ascii(name)
    return slug if slug.strip("_") else f"rule_{_fingerprint(name)}"


def _ascii(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_]+", "_", decomposed)


def _is_plain(word: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_]*", word) is not None


def _fingerprint(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:6]
