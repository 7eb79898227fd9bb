"""Meanings as people declare them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from dq_dagster.errors import Problem, did_you_mean
from dq_dagster.judging.wording import listing
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.meanings.meaning import (
    DEFINITIONS,
    Anything,
    Match,
    OneOf,
    Shaped,
    Validity,
)
from dq_dagster.rules.fields.constraints import SetValue, SetValues
from dq_dagster.rules.fields.declared import Declared
from dq_dagster.rules.fields.problems import problems_of
from dq_dagster.rules.fields.regex import require_java_syntax


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
        # A ValueError, which pydantic reports with the field's name.
        raise ValueError("the name of a meaning, or one such as {values: [a, b]}, is needed")
    return value


def _form(value: Any) -> str:
    return "Meaning" if isinstance(value, Meaning | Mapping) else "str"


NameOrMeaning: TypeAlias = Annotated[
    Annotated[str, BeforeValidator(_is_a_name), Tag("str")] | Annotated[Meaning, Tag("Meaning")],
    Discriminator(_form),
]


FROM_SCHEMA = "from_schema"
# Stands for a meaning that could not be read: its problem is reported, rules need not repeat it.
_UNREADABLE = Meaning(description="?")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The meanings a rule set declares, and by column the names of those its schema gives."""

    declared: Mapping[str, Meaning] = field(default_factory=dict)
    by_column: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        meanings: Mapping[str, Any],
        column_meanings: Mapping[str, str],
        problems: list[Problem],
    ) -> Vocabulary:
        """The vocabulary as it was declared; what is wrong with it is added to ``problems``."""
        declared = {name: _meaning(name, entry, problems) for name, entry in meanings.items()}
        problems += _unknown_names(cls(declared), column_meanings)
        return cls(declared, column_meanings)

    def beside(self, by_column: Mapping[str, str]) -> Vocabulary:
        """The same, with the meanings of further columns; its own come first."""
        return replace(self, by_column={**by_column, **self.by_column})

    def knows(self, name: str) -> bool:
        return name in DEFINITIONS or name in self.declared

    def unknown(self, name: str) -> str:
        """What to say about a name that stands for no meaning."""
        # A name of one's own that only differs in case from a built-in one is refused itself.
        own = [one for one in self.declared if one.lower() not in DEFINITIONS]
        known = [*own, *DEFINITIONS]
        every = f" Known meanings: {', '.join(known)}."
        hint = did_you_mean(name, [*known, FROM_SCHEMA])
        return f"unknown meaning '{name}'.{hint or every}"

    def of_column(self, column: str) -> str | None:
        """The name of a column's meaning, found as Spark finds columns: without regard to case."""
        alike = {name.lower(): meaning for name, meaning in self.by_column.items()}
        return self.by_column.get(column) or alike.get(column.lower())


def _meaning(name: str, entry: Any, problems: list[Problem]) -> Meaning:
    taken = name.lower()
    if taken in DEFINITIONS or taken == FROM_SCHEMA:
        message = f"'{taken}' is a built-in meaning; call yours something else."
        problems.append(Problem(f"field 'meanings': {message}", field="meanings"))
    try:
        return Meaning.model_validate(entry)
    except ValidationError as error:
        problems += [
            Problem(f"meaning '{name}': {problem.message}", field="meanings")
            for problem in problems_of(error, Meaning, {})
        ]
        return _UNREADABLE


def _unknown_names(vocabulary: Vocabulary, by_column: Mapping[str, str]) -> list[Problem]:
    return [
        Problem(f"column '{column}': {vocabulary.unknown(name)}", field="column_meanings")
        for column, name in by_column.items()
        if not vocabulary.knows(name)
    ]
