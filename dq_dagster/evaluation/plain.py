"""Values as strict JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any


def plain(value: Any) -> Any:
    """Numbers, texts, lists and mappings as they are or nearly so; of anything else, its class."""
    match value:
        case Enum():
            return str(value.value)
        case None | bool() | int():
            return value
        case str():
            return str(value)
        case float():
            # NumPy's floats are Python floats too, but not to Dagster.
            return float(value) if math.isfinite(value) else str(float(value))
        case Decimal():
            return plain(float(value))
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _ if hasattr(value, "item"):
            return plain(value.item())
        case _:
            return type(value).__name__
