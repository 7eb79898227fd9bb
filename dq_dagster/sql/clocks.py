"""SQL that reads the clock: its answer about the same rows changes with time."""

from __future__ import annotations

import re

# Also within quotes, where Spark knows words such as DATE 'today': rather too many than too few.
_CLOCK = re.compile(
    r"(?<!\w)(?:now|today|yesterday|tomorrow|curdate|localtime|localtimestamp|unix_timestamp"
    r"|current_\w+)(?!\w)",
    re.IGNORECASE,
)


def reads_the_clock(sql: str | None) -> bool:
    """Whether the text may mean something else tomorrow."""
    return sql is not None and _CLOCK.search(sql) is not None
