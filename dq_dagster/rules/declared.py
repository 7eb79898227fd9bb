"""Parts of declarations that people also make on their own, such as ``dq.AtMost(max=3)``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from dq_dagster.errors import DeclarationError
from dq_dagster.rules.problems import problems_of


class _Telling(type(BaseModel)):  # type: ignore[misc]
    """Tells mistakes in our words where a part is made on its own.

    Within a rule pydantic makes its parts without a call, and the rule tells of all mistakes.
    """

    def __call__(cls, *args: Any, **data: Any) -> Any:
        try:
            return super().__call__(*args, **data)
        except ValidationError as error:
            problems = problems_of(error, cls, {})
            raise DeclarationError([replace(p, rule=None) for p in problems]) from None


if TYPE_CHECKING:
    # Without the metaclass, so that type checkers see the fields as arguments.
    class Declared(BaseModel):
        """A part of a declaration."""
else:

    class Declared(BaseModel, metaclass=_Telling):
        """A part of a declaration."""
