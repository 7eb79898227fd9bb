"""`dq.load_rules`: rules from wherever they are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import DeclarationError
from dq_dagster.rules.templates.template import Template
from dq_dagster.ruleset import RuleSet
from dq_dagster.sources.rules_table.rows import is_table
from dq_dagster.sources.rules_table.rules import load_table
from dq_dagster.sources.yaml import files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def load_rules(
    source: Any,
    *,
    asset: str | None = None,
    trusted: bool | None = None,
    ignore: Collection[str] = (),
    templates: Mapping[str, Template] | None = None,
    spark: SparkSession | None = None,
) -> list[RuleSet]:
    """The rule sets of a YAML or JSON file, of all YAML files in a folder and below, or of a table.

    A table is a Spark or pandas DataFrame, or a ``dq.Table("dq.rules")``, read by ``spark`` or else
    the current session. One row is one rule: ``asset``, ``type``, and a column for each field that
    some rule needs; NULL and blank are not given. ``fields`` may hold further ones, as JSON or as a
    map. ``asset`` is meant where a row names none, and ``ignore`` names columns that are not about
    rules.

    What several files, or several places of one, say of an asset becomes one rule set. Raises
    DeclarationError with every problem, each with file and line, or with table and row.

    Files are ``trusted``: a table is not unless you say so, since whoever writes into it would run
    code here. Rules with queries, functions of Python or conditions across rows are refused then.
    ``templates`` are those that rules may call by name beside the built-in ones, as
    ``dq.load_templates`` reads them.
    """
    if is_table(source):
        trust = bool(trusted)
        return load_table(
            source, asset=asset, trusted=trust, ignore=ignore, templates=templates, session=spark
        )
    if not isinstance(source, str | Path):
        kind = type(source).__name__
        raise DeclarationError.of(
            f"rules come from a path, a DataFrame or a dq.Table(...), not from a {kind}."
        )
    return files.load_rules(source, trusted=trusted is not False, templates=templates)
