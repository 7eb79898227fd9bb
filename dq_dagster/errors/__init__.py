"""Every error this library raises on purpose.

DqError
├── DeclarationError     rules, rule sets or files that say something that cannot work
├── RuleFailure          one rule cannot be answered; it becomes an Error outcome of that rule
│   ├── Unmeasurable     a metric has no trustworthy value
│   ├── Misfit           a rule does not fit the table, the column or its type
│   ├── TooManyParts     the data falls into more parts than can be reported on
│   ├── TimedOut         there was no time left to answer a rule
│   └── SparkFailure     Spark raised while measuring
├── UnreadableData       what was handed over cannot be turned into a Spark DataFrame
│   ├── NothingStored    there is no data where it should be stored
│   └── MissingPartitions  some partitions cannot be read; the others can
├── UnreadableLog        the event log cannot be read as a whole
├── NotOnRecord          what is wanted was never recorded
├── NotReplayable        rows in quarantine cannot be judged again
├── NotLaunched          checks cannot be run as they were asked for
├── Unassignable         rows cannot be assigned to the partitions of their asset
├── JavaNotFound         Spark has no Java to run on
└── SparkNotStarted      Spark has a Java, but does not start
"""

from __future__ import annotations

from dq_dagster.errors.base import (
    DeclarationError,
    DqError,
    JavaNotFound,
    Problem,
    SparkNotStarted,
    did_you_mean,
    in_one_line,
)
from dq_dagster.errors.data import (
    MissingPartitions,
    NothingStored,
    NotOnRecord,
    UnreadableData,
    UnreadableLog,
)
from dq_dagster.errors.in_flight import NotReplayable
from dq_dagster.errors.partitions import Unassignable
from dq_dagster.errors.rule_failures import (
    Misfit,
    RuleFailure,
    SparkFailure,
    TimedOut,
    TooManyParts,
    Unmeasurable,
)
from dq_dagster.errors.runs import NotLaunched

__all__ = [
    "DeclarationError",
    "DqError",
    "JavaNotFound",
    "Misfit",
    "MissingPartitions",
    "NotLaunched",
    "NotOnRecord",
    "NotReplayable",
    "NothingStored",
    "Problem",
    "RuleFailure",
    "SparkFailure",
    "SparkNotStarted",
    "TimedOut",
    "TooManyParts",
    "Unassignable",
    "Unmeasurable",
    "UnreadableData",
    "UnreadableLog",
    "did_you_mean",
    "in_one_line",
]
