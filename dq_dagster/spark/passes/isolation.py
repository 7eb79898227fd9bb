"""Running something for many rules at once, so that a broken one takes no other down.

This is the one place of the passes that catches everything Spark, or code of users, may raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from dq_dagster.errors import RuleFailure, TimedOut, TooManyParts
from dq_dagster.spark.frames.failures import failure_of
from dq_dagster.spark.session.deadline import DEADLINE

_Key = TypeVar("_Key")
_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
_Instead = TypeVar("_Instead")


@dataclass(frozen=True, slots=True)
class Suspicion(Generic[_Key, _Item, _Found]):
    """What an error says about the items that raised it together.

    ``broken`` are those that it comes from for sure. Each of the ``groups`` is run again. ``known``
    are answers that were found on the way.
    """

    broken: Mapping[_Key, _Item] = field(default_factory=dict)
    groups: Sequence[Mapping[_Key, _Item]] = ()
    known: Mapping[_Key, _Found] = field(default_factory=dict)


def isolated(
    items: Mapping[_Key, _Item],
    run: Callable[[Mapping[_Key, _Item]], Mapping[_Key, _Found]],
    *,
    fail: Callable[[Mapping[_Key, _Item], Exception], Mapping[_Key, _Found]],
    narrow: Callable[[Mapping[_Key, _Item], Exception], Suspicion[_Key, _Item, _Found]],
) -> dict[_Key, _Found]:
    """All items together; if that raises, in ever smaller groups, until the broken ones are found.

    ``narrow`` says what an error points to, ``fail`` what becomes of the items that are broken.
    """
    if not items:
        return {}
    try:
        require_time()
        return dict(run(items))
    except TooManyParts:
        raise
    except Exception as error:  # noqa: BLE001 (the isolation boundary)
        late = out_of_time()
        if late is not None:
            return dict(fail(items, late))
        suspicion = narrow(items, error)
        found = dict(suspicion.known)
        if suspicion.broken:
            found |= fail(suspicion.broken, error)
    for group in suspicion.groups:
        found |= isolated(group, run, fail=fail, narrow=narrow)
    return found


def in_halves(items: Mapping[_Key, _Item], error: Exception) -> Suspicion[_Key, _Item, Any]:
    """An error that points to nothing: only an item that was run alone is broken for sure."""
    if len(items) == 1:
        return Suspicion(broken=items)
    ordered = list(items.items())
    middle = len(ordered) // 2
    return Suspicion(groups=(dict(ordered[:middle]), dict(ordered[middle:])))


def with_failures(items: Mapping[_Key, object], error: Exception) -> dict[_Key, RuleFailure]:
    """The error as the answer of each item."""
    return dict.fromkeys(items, failure_of(error))


def attempted(
    call: Callable[[], _Found], otherwise: Callable[[Exception], _Instead]
) -> _Found | _Instead:
    """What a single call returns, or what is to be said of the error that it raised."""
    try:
        require_time()
        return call()
    except TooManyParts:
        raise
    except Exception as error:  # noqa: BLE001 (the isolation boundary)
        return otherwise(out_of_time() or error)


def out_of_time() -> TimedOut | None:
    """Why nothing more is started; None as long as there is time left, or no limit at all.

    What is cancelled at the deadline raises errors of many kinds, none of which says more.
    """
    deadline = DEADLINE.get()
    return None if deadline is None else deadline.failure()


def require_time() -> None:
    """Raises TimedOut if there is none left."""
    late = out_of_time()
    if late is not None:
        raise late
