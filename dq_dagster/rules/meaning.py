"""Meanings as people declare them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from dq_dagster.judging.wording import listing
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.meanings.meaning import Anything, Match, OneOf, Shaped
from dq_dagster.metrics.meanings.meaning import Meaning as Validity
from dq_dagster.rules.declared import Declared
from dq_dagster.rules.fields import SetValue, SetValues
from dq_dagster.rules.regex import require_java_syntax


class Meaning(Declared):
    """What a valid value is: one of ``values``, a key of ``mapping``, or a match of ``pattern``.

    A meaning that has none of them is there to be read: no value is invalid for it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    description: str = ""
    """What the values mean, in words."""
    values: SetValues | None = None
    """The valid values, in the column's own type."""
    mapping: Annotated[Mapping[SetValue, str], Field(min_length=1)] | None = None
    """The valid values, each with its label. Keys written as text are read in the column's type."""
    match: Match = "exact"
    """How texts are compared with ``values`` or the keys of ``mapping``: as they are, with upper
    and lower case the same, or with accents left out as well. Without accents means: in Unicode's
    decomposed form (NFD) and without the marks, so é is e, while ø and ß stay what they are."""
    pattern: Annotated[str, Field(min_length=1), AfterValidator(require_java_syntax)] | None = None
    """A regular expression in Java's syntax that the whole value matches."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        ways = {"values": self.values, "mapping": self.mapping, "pattern": self.pattern}
        given = [name for name, way in ways.items() if way is not None]
        if len(given) > 1:
            raise ValueError(f"a meaning has {' or '.join(given)}, not both")
        if not given and not self.description:
            raise ValueError("a meaning needs values, a mapping, a pattern or a description")
        if self.match != "exact" and given not in (["values"], ["mapping"]):
            raise ValueError("match is about values or a mapping, and there are none")
        return self

    def validity(self) -> Validity:
        if self.pattern is not None:
            return Shaped(self.pattern)
        if not self._members:
            return Anything()
        constants = tuple(dict.fromkeys(Constant.of(value) for value in self._members))
        return OneOf(constants, self.match, as_text=self.mapping is not None)

    def words(self) -> str:
        """What a valid value is, as the end of a sentence such as "Every value is ..."."""
        if self.pattern is not None:
            return f"a match of '{self.pattern}'"
        if not self._members:
            return "valid"
        lenient = "" if self.match == "exact" else f" ({self.match.replace('_', ' ')})"
        return f"one of {listing(self._members, most=8)}{lenient}"

    @property
    def _members(self) -> tuple[Any, ...]:
        return tuple(self.values or self.mapping or ())


def _is_a_name(value: Any) -> Any:
    if not isinstance(value, str) or not value:
        # A ValueError, which pydantic tells with the field's name.
        raise ValueError("the name of a meaning, or one such as {values: [a, b]}, is needed")
    return value


def _form(value: Any) -> str:
    return "Meaning" if isinstance(value, Meaning | Mapping) else "str"


NameOrMeaning: TypeAlias = Annotated[
    Annotated[str, BeforeValidator(_is_a_name), Tag("str")] | Annotated[Meaning, Tag("Meaning")],
    Discriminator(_form),
]
