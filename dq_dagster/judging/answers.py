"""What a user's function returned, as a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from dq_dagster.errors import Misfit
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.wording import show

_STATUSES = {
    status.value.lower(): status
    for status in (Status.OK, Status.WARNING, Status.ERROR, Status.EMPTY)
}
_PLAIN = (bool, int, float, Decimal, str, date)


def judgement_of(answer: Any) -> Judgement:
    """Takes a boolean, a tuple that starts with a status, or an object that has one."""
    truth = _plain(answer)
    if isinstance(truth, bool):
        return _judgement(Status.OK if truth else Status.ERROR, None, None)
    if isinstance(answer, tuple) and len(answer) == 2:
        return _judgement(_status(answer[0]), None, answer[1])
    if isinstance(answer, tuple) and len(answer) == 3:
        return _judgement(_status(answer[0]), answer[1], answer[2])
    if hasattr(answer, "status"):
        judgement = _judgement(
            _status(answer.status),
            getattr(answer, "observed", None),
            getattr(answer, "message", None),
        )
        return replace(
            judgement,
            rows=_count(getattr(answer, "rows", None)),
            failed_rows=_count(getattr(answer, "failed_rows", None)),
        )
    raise Misfit.wrong_answer(_described(answer))


def _judgement(status: Status, observed: Any, message: Any) -> Judgement:
    if message is not None and not isinstance(message, str):
        raise Misfit.wrong_answer(f"a message that is {_described(message)}")
    value = _observed(observed)
    words = " ".join((message or "").split()) or _default_message(status, value)
    sentence = words if words.endswith((".", "!", "?", "…")) else f"{words}."
    return Judgement(status, sentence, observed=value)


def _default_message(status: Status, observed: Any) -> str:
    if observed is None:
        return f"The function answered {status.value}"
    shown = ", ".join(observed) if isinstance(observed, Mapping) else show(observed)
    return f"The function answered {status.value} for {shown}"


def _status(word: Any) -> Status:
    found = _STATUSES.get(word.lower()) if isinstance(word, str) else None
    if found is None:
        raise Misfit.wrong_answer(f"a status that is {_described(word)}")
    return found


def _observed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _observed(one) for name, one in value.items()}
    plain = _plain(value)
    if plain is not None and not isinstance(plain, _PLAIN):
        raise Misfit.wrong_answer(f"an observed value that is {_described(value)}")
    return plain


def _plain(value: Any) -> Any:
    """NumPy's numbers and booleans as Python's own."""
    scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0
    return value.item() if scalar else value


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _described(value: Any) -> str:
    """What a value is, never what it holds: it may come from the data."""
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return "nothing" if value is None else f"of type {type(value).__name__}"
