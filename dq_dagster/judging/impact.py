"""How much a failing group matters: by its share of failures, and by how many rows it has."""

from __future__ import annotations

_VOLUMES = ((10, 0.25), (100, 0.5), (1_000, 0.75), (10_000, 1.0), (100_000, 1.25))
_LARGEST = 1.5


def impact(failed: int, rows: int) -> float:
    """Between 0 (nothing fails) and 1 (everything fails in a large group)."""
    if rows <= 0:
        return 0.0
    volume = next((weight for limit, weight in _VOLUMES if rows < limit), _LARGEST)
    score = (failed / rows) ** 2 * volume * min(1.0, rows / 100) / _LARGEST
    return round(min(1.0, max(0.0, score)), 4)
