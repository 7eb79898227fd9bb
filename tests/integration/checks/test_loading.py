"""Checks in the code location they are loaded into: unknown assets, several sets, two builds."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest

import dq_dagster as dq
from tests.integration.shelf import status_of


@dg.asset
def clean_sales() -> pd.DataFrame:
    return pd.DataFrame({"a": [1, 2]})


@dg.asset
def raw_orders() -> pd.DataFrame:
    return pd.DataFrame({"a": [1]})


def rules_of(asset: Any, *rules: dq.Rule, **settings: Any) -> dq.RuleSet:
    return dq.RuleSet(asset=asset, rules=rules or [dq.RecordCountInRange(min=1)], **settings)


def problems(caught: pytest.ExceptionInfo[dq.DeclarationError]) -> list[str]:
    return [str(problem) for problem in caught.value.problems]


# --- assets that do not exist -------------------------------------------------------------------

NEAR = "asset 'clean_salse': there is no such asset. Did you mean 'clean_sales'?"
EITHER_WAY = (
    " Its rules would never run. What others build is named by dg.AssetSpec('clean_salse')."
)


def test_with_assets_an_unknown_one_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("asset: clean_salse\nrules: [{type: record_count_in_range, min: 1}]\n")
    with pytest.raises(dq.DeclarationError) as caught:
        dq.build_asset_checks(dq.load_rules(file), assets=[clean_sales, raw_orders])
    assert problems(caught) == [f"rules.yaml:1, {NEAR}{EITHER_WAY}"]
    with pytest.raises(dq.DeclarationError) as caught:
        dq.build_asset_checks(rules_of("zzz"), assets=[clean_sales, raw_orders])
    assert "there is no such asset. There is: clean_sales, raw_orders." in problems(caught)[0]


def source(name: str) -> dg.SourceAsset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return dg.SourceAsset(name)


@pytest.mark.parametrize(
    "known",
    [
        dg.AssetSpec("sales"), dg.AssetKey("sales"), "sales", source("sales"),
        dg.AssetsDefinition(specs=[dg.AssetSpec("sales"), dg.AssetSpec("more")]),
    ],
    ids=["spec", "key", "text", "source", "definition"],
)  # fmt: skip
def test_what_counts_as_known(known: Any) -> None:
    for named in ("sales", dg.AssetKey("sales"), ["sales"]):
        assert dq.build_asset_checks(rules_of(named), assets=[known])
    with pytest.raises(dq.DeclarationError, match="Did you mean 'sales'"):
        dq.build_asset_checks(rules_of("sale"), assets=[known])


def test_a_definition_is_known_by_itself() -> None:
    assert dq.build_asset_checks(rules_of(dg.AssetSpec("elsewhere")), assets=[clean_sales])


def test_a_single_asset_needs_no_list() -> None:
    assert dq.build_asset_checks(rules_of("clean_sales"), assets=clean_sales)
    with pytest.raises(dq.DeclarationError, match="Did you mean 'clean_sales'"):
        dq.build_asset_checks(rules_of("clean_salse"), assets=clean_sales)


def test_assets_given_along_are_known_where_a_run_takes_only_some() -> None:
    checks = dq.build_asset_checks(rules_of("clean_sales"), assets=[clean_sales])
    # Without a warning, which the tests take for an error.
    dg.Definitions(asset_checks=checks).resolve_all_job_defs()


def test_what_is_no_list_of_assets_is_told() -> None:
    for assets in ("clean_sales", 7, [7]):
        given: Any = assets
        with pytest.raises(dq.DeclarationError, match=r"takes a list of assets|is not an asset"):
            dq.build_asset_checks(rules_of("clean_sales"), assets=given)


def test_an_unknown_asset_is_warned_of_when_the_code_location_loads() -> None:
    defs = dg.Definitions(
        assets=[clean_sales], asset_checks=dq.build_asset_checks(rules_of("clean_salse"))
    )
    with pytest.warns(dq.UnknownAssetWarning) as caught:
        dg.Definitions.validate_loadable(defs)
    assert {str(one.message) for one in caught} == {f"{NEAR}{EITHER_WAY}"}
    with pytest.raises(dq.DeclarationError) as refused:
        dq.validate(defs)
    assert problems(refused) == [f"{NEAR}{EITHER_WAY}"]


def test_what_a_rule_looks_at_must_exist_as_well() -> None:
    lookup = dq.ColumnValuesInReference(
        name="known", columns="a", reference=dq.Reference(asset="raw_order")
    )
    checks = dq.build_asset_checks(rules_of("clean_sales", lookup))
    defs = dg.Definitions(assets=[clean_sales, raw_orders], asset_checks=checks)
    told = (
        "rule 'known', asset 'clean_sales': it refers to asset 'raw_order', which does not exist. "
        "Did you mean 'raw_orders'?"
    )
    with pytest.raises(dq.DeclarationError) as refused:
        dq.validate(defs)
    assert problems(refused) == [told]
    with pytest.warns(dq.UnknownAssetWarning) as caught:
        result = dg.materialize_to_memory([clean_sales, raw_orders, *checks], raise_on_error=False)
    assert {str(one.message) for one in caught} == {told}
    [evaluation] = result.get_asset_check_evaluations()
    assert evaluation.description == ("There is no asset 'raw_order'. Did you mean 'raw_orders'?")


def test_assets_that_are_only_named_must_exist_as_well() -> None:
    """Their metadata, or what is on record of them, would be missing for ever: an Empty."""
    rules = [
        dq.MetricInRange(
            name="metadata", metric=dq.MetricSource(metadata="rows", asset="raw_order"), min=1
        ),
        dq.CompareMetrics(
            name="recorded", metric="record_count", operator="=", other="record_count",
            other_asset="raw_order", auto_compute=False,
        ),
        dq.CompareMetrics(
            name="own", metric="record_count", operator="=", other="record_count",
            other_asset="clean_sales",
        ),
    ]  # fmt: skip
    checks = dq.build_asset_checks(rules_of("clean_sales", *rules))
    with pytest.raises(dq.DeclarationError) as refused:
        dq.validate(dg.Definitions(assets=[clean_sales, raw_orders], asset_checks=checks))
    assert [problem.rule for problem in refused.value.problems] == ["metadata", "recorded"]


def test_what_exists_is_not_warned_of() -> None:
    """In a code location, and in jobs of checks alone, with and without their assets."""
    external = dg.AssetSpec("invoices")
    checks = dq.build_asset_checks(
        [rules_of("clean_sales"), rules_of("invoices"), rules_of(dg.AssetSpec("not_in_there"))]
    )
    only_checks = dg.define_asset_job(
        "only_checks", selection=dg.AssetSelection.checks_for_assets(clean_sales)
    )
    defs = dg.Definitions(
        assets=[clean_sales, raw_orders, external], asset_checks=checks, jobs=[only_checks]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", dq.UnknownAssetWarning)
        dg.Definitions.validate_loadable(defs)
        assert dq.validate(defs) is defs
        defs.resolve_job_def("only_checks")
        assert dg.materialize_to_memory([clean_sales, checks[0]]).success


def test_a_job_without_an_asset_that_is_only_named_does_not_deny_it() -> None:
    source = dq.MetricSource(metadata="rows", asset="raw_orders")
    checks = dq.build_asset_checks(rules_of(clean_sales, dq.MetricInRange(metric=source, min=1)))
    some = dg.define_asset_job("some", selection=[clean_sales])
    defs = dg.Definitions(assets=[clean_sales, raw_orders], asset_checks=checks, jobs=[some])
    with warnings.catch_warnings():
        warnings.simplefilter("error", dq.UnknownAssetWarning)
        dg.Definitions.validate_loadable(defs)
        assert dq.validate(defs) is defs


def test_checks_of_others_are_looked_at_too() -> None:
    @dg.asset_check(asset="clean_salse")
    def mine() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(passed=True)

    with pytest.raises(dq.DeclarationError, match="Did you mean 'clean_sales'"):
        dq.validate(dg.Definitions(assets=[clean_sales], asset_checks=[mine]))


def test_checks_without_the_partitions_of_their_asset_are_told() -> None:
    days = dg.DailyPartitionsDefinition("2024-01-01")
    daily = dg.AssetSpec("daily", partitions_def=days)
    with pytest.raises(dq.DeclarationError, match="asset 'daily': its checks were built without"):
        dq.validate(
            dg.Definitions(assets=[daily], asset_checks=dq.build_asset_checks(rules_of("daily")))
        )
    fine = [
        dq.build_asset_checks(rules_of("daily"), assets=[daily]),
        dq.build_asset_checks(
            rules_of("daily", dq.RecordCountInRange(min=1, scope="whole_dataset"))
        ),
    ]
    for checks in fine:
        dq.validate(dg.Definitions(assets=[daily], asset_checks=checks))


# --- several rule sets, two builds --------------------------------------------------------------


def test_rule_sets_of_python_and_files_become_one_step(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(
        "asset: clean_sales\non_empty: warn\n"
        "rules: [{type: column_not_empty, columns: a, where: a > 9}]\n"
    )
    (tmp_path / "two.yaml").write_text(
        "asset: clean_sales\nrules: [{type: column_unique, columns: a, where: a > 9}]\n"
    )
    checks = dq.build_asset_checks([*dq.load_rules(tmp_path), rules_of(clean_sales)])
    assert len(checks) == 1
    result = dg.materialize_to_memory([clean_sales, *checks], raise_on_error=False)
    found = {e.check_name: (e.passed, status_of(e)) for e in result.get_asset_check_evaluations()}
    assert found == {
        "column_not_empty_a": (False, "Warning"),
        "column_unique_a": (True, "Empty"),
        "record_count_in_range": (True, "Ok"),
    }


def test_rules_of_one_name_clash_and_both_places_are_told(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(
        "asset: clean_sales\nrules:\n- {type: record_count_in_range, min: 1}\n"
    )
    with pytest.raises(dq.DeclarationError) as caught:
        dq.build_asset_checks([*dq.load_rules(tmp_path), rules_of(clean_sales)])
    assert problems(caught) == [
        (
            "rule 'record_count_in_range', asset 'clean_sales': 2 rules become the same check "
            "'record_count_in_range' (record_count_in_range at one.yaml:3, record_count_in_range "
            "in Python). Give each a 'name' of its own."
        )
    ]


def test_two_builds_for_one_asset_are_explained() -> None:
    checks = [
        *dq.build_asset_checks(rules_of(clean_sales)),
        *dq.build_asset_checks(rules_of(clean_sales, dq.ColumnUnique(columns="a"))),
    ]
    told = (
        "asset 'clean_sales': its checks were built twice. Give all of its rule sets to one call: "
        "dq.build_asset_checks([*dq.load_rules(...), rule_set])."
    )
    defs = dg.Definitions(assets=[clean_sales], asset_checks=checks)
    for load in (
        lambda: dg.Definitions.validate_loadable(defs),
        lambda: dq.validate(defs),
        lambda: dg.materialize_to_memory([clean_sales, *checks]),
    ):
        with pytest.raises(dq.DeclarationError) as caught:
            load()
        assert problems(caught) == [told]


@pytest.mark.parametrize("name", "abcdefgh")
def test_two_calls_for_one_asset_that_look_at_different_assets(name: str) -> None:
    # The order in which Dagster meets the two depends on the hashes of their names.
    @dg.asset
    def customers() -> None: ...

    looking = dq.ColumnValuesInReference(
        name=name, columns="a", reference=dq.Reference(asset="customers"), reference_columns="a"
    )
    checks = [
        *dq.build_asset_checks(rules_of(clean_sales, looking)),
        *dq.build_asset_checks(rules_of(clean_sales, dq.ColumnUnique(columns="a"))),
    ]
    defs = dg.Definitions(assets=[clean_sales, customers], asset_checks=checks)
    with pytest.raises(dq.DeclarationError, match="its checks were built twice"):
        dg.Definitions.validate_loadable(defs)


# --- what is given by mistake -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("rules", ("rule sets are needed, not 'rules': read those of a file or folder by "
                  "dq.build_asset_checks(dq.load_rules('rules')).")),
        ([dq.RecordCountInRange(min=1)], ("a list of rule sets is needed, not of rules: say which "
                                         "asset they are of, as in dq.RuleSet(asset=..., "
                                         "rules=[...]).")),
        (dq.RecordCountInRange(min=1), "rule sets are needed, not rules: say which asset"),
        ({"asset": "a", "rules": []}, "rule sets are needed, not dicts: write dq.RuleSet("),
        ([{"asset": "a"}], "a list of rule sets is needed, not of dicts: write dq.RuleSet("),
        ([{"type": "row_dq"}], "a list of rule sets is needed, not of rules: say which asset"),
        (None, "rule sets are needed, not builtins.NoneType."),
        (["rules.yaml"], "a list of rule sets is needed, not of builtins.str."),
    ],
)  # fmt: skip
def test_no_rule_sets_at_all(given: Any, told: str) -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.build_asset_checks(given)
    assert told in problems(caught)[0]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": 1}, "not a dict with a value of type builtins.int."),
        ({"a": {"b": [1]}}, "not a dict with a value of type builtins.list."),
        ({"a": pd.DataFrame({"a": [1]}), "b": None},
         "not a dict with a value of type builtins.NoneType."),
    ],
)  # fmt: skip
def test_a_dict_of_something_else_is_told(value: Any, told: str) -> None:
    @dg.asset
    def odd() -> Any:
        return value

    result = dg.materialize_to_memory(
        [odd, *dq.build_asset_checks(rules_of(odd))], raise_on_error=False
    )
    [evaluation] = result.get_asset_check_evaluations()
    assert not evaluation.passed
    assert evaluation.description == (
        f"A Spark or pandas DataFrame is needed, {told} Let the asset return one, or give the "
        "rule set a reader."
    )


def test_a_name_that_is_no_check_name_is_shown_as_it_was_written() -> None:
    [checks] = dq.build_asset_checks(
        rules_of(
            clean_sales,
            dq.RecordCountInRange(name="enough rows!", min=1),
            dq.ColumnUnique(name="plain", columns="a"),
        )
    )
    specs = {spec.name: spec for spec in checks.check_specs}
    assert set(specs) == {"enough_rows_", "plain"}
    renamed = specs["enough_rows_"]
    assert renamed.description == "Rule 'enough rows!': The number of rows is at least 1."
    assert renamed.metadata["dq/rule"] == "enough rows!"
    assert "dq/rule" not in specs["plain"].metadata
