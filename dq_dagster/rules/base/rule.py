"""What all rules share."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from abc import abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dq_dagster.errors import DeclarationError
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.typical import Lookback
from dq_dagster.metrics.conditions import Condition, Fault, Severity
from dq_dagster.metrics.metric import Metric, named_key
from dq_dagster.rules.fields.constraints import (
    DatasetAction,
    FilterSql,
    Name,
    OnEmpty,
    Phase,
    QualityDimension,
    RowAction,
    RunMode,
    Scope,
    Weight,
    Words,
)
from dq_dagster.rules.fields.meaning import Vocabulary
from dq_dagster.rules.fields.problems import problems_of

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


class RuleFamily(StrEnum):
    """What rule types are about; pages and lists have them in this order."""

    EMPTINESS = "Emptiness"
    VALUES = "Values"
    FREQUENCIES = "Unique and frequent values"
    MEANINGS = "Meanings"
    REFERENCES = "Other tables"
    STATISTICS = "Statistics"
    TABLES = "Tables"
    SCHEMAS = "Schemas"
    TIME = "Time"
    SQL = "Conditions in SQL"
    METRICS = "Metrics"
    CHANGE_DETECTION = "Change detection"
    PYTHON = "Functions of Python"
    OTHERS = "Other rules"


class Rule(BaseModel):
    """What must hold for a dataset. A rule names metrics and judges values; it sees no data."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    type: str
    """Which rule this is."""
    name: Name = Field(default="", validate_default=False)
    """Stable id: the check's name and the key of its history. Derived from type and columns
    where omitted; unique per asset."""
    description: str = ""
    """What the rule is for, in words. Derived where omitted."""
    enabled: bool = True
    """A disabled rule is ignored by computation and by statuses."""
    run: RunMode = "with_build"
    """When the rule runs: in the run that builds the asset (``with_build``), in one of its own that
    the build starts and never waits for (``after_build``), or only when asked (``on_demand``)."""
    blocking: bool = True
    """Whether an Error fails the build and stops what is downstream, if the rule runs with it."""
    scope: Scope = "partitions"
    """What is judged on a partitioned asset: each partition, the whole dataset, or both."""
    action_if_failed: DatasetAction = "ignore"
    """What an Error means in flight: ``ignore`` only reports it, ``fail`` publishes nothing and
    fails the run. Rules that count rows also have ``drop``, which leaves those rows out."""
    on: Phase = "both"
    """Which rows a rule about all of them is judged on in flight: the ``source`` as it came, the
    ``validated`` rows that are kept, or ``both``."""
    where: FilterSql | None = None
    """A row filter in SQL, applied before anything else."""
    dimensions: Words = ()
    """Columns to break the result down by, each on its own."""
    top_dimensions: Annotated[int, Field(ge=1, le=50)] = 5
    """How many groups of each dimension are listed; the rest is put together as "Others"."""
    on_empty: OnEmpty | None = None
    """What a rule with nothing to judge counts as; taken from the rule set where omitted."""
    quality_dimension: QualityDimension = "validity"
    """Which quality the rule speaks of."""
    tags: Words = ()
    """Free words to select and group by."""
    owners: Words = ()
    """Whom to ask."""
    weight: Weight = 1.0
    """How much the rule counts in quality scores, beside others with 1."""

    # Where the type stands on pages and in lists.
    family: ClassVar[RuleFamily] = RuleFamily.OTHERS
    # The fields that go into a derived name, after the type.
    named_after: ClassVar[tuple[str, ...]] = ()
    # Whether single rows can be blamed, so that they can be counted, dropped and shown.
    counts_rows: ClassVar[bool] = False
    # Whether the rule is about rows, so that a filter and a breakdown by group mean something.
    judges_rows: ClassVar[bool] = True
    # Whether it runs what its author wrote as it is, so that it may only come from places that are
    # trusted: from Python, or from files that a deployment loads, never from a table of rules.
    trusted: ClassVar[bool] = False
    # What that is, for those who are not trusted with it.
    code: ClassVar[str] = "code of its author"
    # Whether what it observes is the value of the first of its metrics (of each column's, where
    # columns are judged); else it is made of several, and has a key of its own on record.
    observes_first_metric: ClassVar[bool] = False

    # Hidden from type checkers, so that they see the fields as arguments.
    if not TYPE_CHECKING:

        def __init__(self, *unnamed: Any, **data: Any) -> None:
            if unnamed:
                raise DeclarationError.of(_unnamed(type(self)))
            try:
                super().__init__(**data)
            except ValidationError as error:
                raise DeclarationError(problems_of(error, type(self), data)) from None

    @model_validator(mode="after")
    def _filters_and_groups_mean_something(self) -> Self:
        for field in ("where", "dimensions"):
            if not self.judges_rows and getattr(self, field):
                raise ValueError(f"'{field}' means nothing here: the rule is not about rows")
        return self

    @model_validator(mode="after")
    def _blocks_only_what_it_is_part_of(self) -> Self:
        declared = self.blocking and "blocking" in self.model_fields_set
        if declared and self.run != "with_build":
            raise ValueError(
                f"'blocking: true' means nothing with 'run: {self.run}', which is not part of the "
                "build. Write 'blocking: false', or 'run: with_build'"
            )
        return self

    def model_post_init(self, context: Any, /) -> None:
        if not self.name:
            words = [word for field in self.named_after for word in _words(getattr(self, field))]
            self.__dict__["name"] = derived_name(self.type, *words)

    @classmethod
    def code_in(cls, fields: Mapping[str, Any]) -> str | None:  # noqa: ARG003 (for subclasses)
        """What of the declared fields would be run as its author wrote it, such as "a query".

        None for most rules. It is looked for before anything is made of the fields.
        """
        return cls.code if cls.trusted else None

    def with_defaults(self, **defaults: Any) -> Self:
        """The same rule, with what its author left open filled in."""
        left_open = {
            name: value
            for name, value in defaults.items()
            if name in type(self).model_fields and getattr(self, name) is None
        }
        return self.model_copy(update=left_open) if left_open else self

    def in_terms_of(self, vocabulary: Vocabulary) -> Self:
        """The same rule, with the names that its rule set gives meanings.

        Raises DeclarationError if it uses a name that is not there.
        """
        return self

    def with_metrics(self, metrics: Mapping[str, Any]) -> Self:
        """The same rule, with what it calls by the name of a declared metric filled in."""
        return self

    def with_templates(self, templates: Mapping[str, Any]) -> Self:
        """The same rule, with what it calls by the name of a declared template filled in."""
        return self

    @cached_property
    def check_name(self) -> str:
        """The name of the Dagster check this rule becomes."""
        return check_name(self.name)

    @property
    def judges_whole(self) -> bool:
        """Whether the rows of all partitions are judged together, if there are partitions."""
        return self.scope != "partitions"

    @property
    def lookback(self) -> Lookback | None:
        """Which past the rule is judged by; None if it looks at the present only."""
        return None

    @property
    def other_assets(self) -> tuple[str, ...]:
        """The keys of the assets, beside its own, whose data the rule looks at."""
        return ()

    @property
    def named_assets(self) -> tuple[str, ...]:
        """The keys of all assets that the rule names, also those of which it sees no data."""
        return self.other_assets

    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """What has to be measured to judge this rule."""

    def faults(self) -> tuple[Fault, ...]:
        """What makes single rows bad; nothing where no single row can be blamed.

        Raises a RuleFailure if nobody can say.
        """
        return ()

    def observed_metrics(self, evidence: Evidence) -> tuple[Metric, ...] | None:
        """The metrics whose numbers say something about the slice; None for all of them."""
        return None

    @abstractmethod
    def judge(self, evidence: Evidence) -> Judgement:
        """The verdict on what was measured."""

    def observed_values(self, judgement: Judgement) -> Mapping[str, Any]:
        """What a judgement observed by key, so that the record says what was judged."""
        if isinstance(judgement.observed, Mapping):
            return {self.observed_key(str(k)): one for k, one in judgement.observed.items()}
        return {self.observed_key(): judgement.observed}

    def observed_key(self, label: str = "") -> str:
        """The key of the metric that is observed; a name of its own for what is made of several.

        ``label`` is the column, or the name under which a judgement holds the value.
        """
        if self.observes_first_metric:
            for metric in self.metrics_of(label)[:1]:
                return metric.key
        return named_key(f"observed:{label}" if label else "observed", self.where)

    def metrics_of(self, label: str) -> tuple[Metric, ...]:
        """Those that a value of that label is judged by."""
        return self.metrics()

    def records_text(self, metric: Metric) -> bool:
        """Whether a text goes on record as the value of a metric: not if it is one of a row."""
        return False

    def statuses(self, judgement: Judgement) -> Mapping[str, Status]:
        """The verdicts on single metrics by key, where a judgement is made of several."""
        return {}

    @abstractmethod
    def demand(self) -> str:
        """What must hold, as a sentence."""

    def summary(self) -> str:
        """The author's description, if there is one, and what the rule demands."""
        demand = self.demand()
        if self.where is not None:
            demand = f"Where {self.where}: {_lower_first(demand)}"
        if not self.description:
            return demand
        # Dagster shows both in one line.
        end = "" if self.description.rstrip().endswith((".", "!", "?", ":", ";", "…")) else "."
        return f"{self.description.rstrip()}{end}\n{demand}"


class RowRule(Rule):
    """A rule that counts rows: each row by itself keeps it or breaks it."""

    action_if_failed: RowAction = "ignore"
    """What an Error means in flight: ``ignore`` only reports it, ``fail`` publishes nothing and
    fails the run. Rules that count rows also have ``drop``, which leaves those rows out."""

    counts_rows = True

    @model_validator(mode="after")
    def _is_judged_before_rows_are_divided(self) -> Self:
        if "on" in self.model_fields_set:
            raise ValueError("'on' means nothing here: rows are judged one by one, as they come")
        return self

    def blame(self, condition: Condition, severity: Severity = "error") -> Fault:
        """The fault of a row for which the condition is true."""
        action = self.action_if_failed if severity == "error" else "ignore"
        return Fault(condition, self.where, severity, action)


def _words(value: Any) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value),)


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _unnamed(rule: type[Rule]) -> str:
    first = "columns" if "columns" in rule.model_fields else "name"
    return f"the fields of {rule.__name__} are given by name, such as {first}=..."
