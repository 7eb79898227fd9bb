"""Lengths of time and numbers of bytes, as people write them."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.rules.fields.ranges import byte_count, seconds


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (0, 0),
        (90, 90),
        (-5, -5),
        (0.1, Decimal("0.1")),
        (2.0, 2),
        (Decimal("1.5"), Decimal("1.5")),
        (timedelta(days=1, microseconds=1), Decimal("86400.000001")),
        (timedelta(hours=-1), -3600),
        ("2 hours", 7200),
        ("1 hour", 3600),
        ("1 day", 86_400),
        ("90 min", 5400),
        ("90m", 5400),
        ("1d 12h", 129_600),
        ("1d12h", 129_600),
        ("1 Day, 2 Hours and 3 minutes", 93_780),
        ("2 weeks", 1_209_600),
        (" 1.5 h ", 5400),
        (".5 min", 30),
        ("250 ms", Decimal("0.25")),
        ("- 1 hour", -3600),
        ("+30s", 30),
        ("0 s", 0),
        ("PT2H", 7200),
        ("P1D", 86_400),
        ("P1DT12H30M5S", 131_405),
        ("P2W", 1_209_600),
        ("pt0,5s", Decimal("0.5")),
        ("-PT15M", -900),
    ],
)
def test_a_length_of_time_is_read_exactly(written: Any, found: Any) -> None:
    assert seconds(written) == found
    assert type(seconds(written)) is type(found)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "is not a length of time"),
        ("soon", "is not a length of time: write '2 hours'"),
        ("3600", "is not a length of time"),
        ("12:30", "is not a length of time"),
        ("hours", "is not a length of time"),
        ("1 day 3", "is not a length of time"),
        ("1 fortnight", "has the unknown unit 'fortnight'"),
        ("1 hourz", "has the unknown unit 'hourz'. Did you mean 'hour'?"),
        ("1 month", "'1 month' has no fixed length: write days"),
        ("1M", "has no fixed length"),
        ("2 Years", "has no fixed length"),
        ("P1M", "has no fixed length"),
        ("P1Y2D", "has no fixed length"),
        ("P", "is not a length of time"),
        ("PT", "is not a length of time"),
        ("P1DT", "is not a length of time"),
        ("PT1", "is not a length of time"),
        ("P1.2.3D", "is not a length of time"),
        (True, "a time such as '2 hours' is needed, not True"),
        (None, "a time such as '2 hours' is needed, not None"),
        ([], "a time such as '2 hours' is needed"),
        (float("nan"), "is a mistake"),
        (float("inf"), "is a mistake"),
        ("99999999999999 days", "of more than 10,000 years is a mistake"),
    ],
)
def test_what_is_no_length_of_time_is_reported(written: Any, said: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the text is compared)
        seconds(written)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (0, 0),
        (1024, 1024),
        (1e3, 1000),
        (Decimal("1E+6"), 1_000_000),
        ("0 B", 0),
        ("5 bytes", 5),
        ("1kB", 1000),
        ("1 KB", 1000),
        ("10 MB", 10_000_000),
        ("1.5 gb", 1_500_000_000),
        ("2TB", 2 * 10**12),
        ("1 KiB", 1024),
        ("1.5 MiB", 1_572_864),
        ("1 GiB", 2**30),
        ("1 PiB", 2**50),
    ],
)
def test_a_number_of_bytes_is_read_exactly(written: Any, found: int) -> None:
    assert byte_count(written) == found


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "is not a number of bytes: write '10 MB'"),
        ("100", "is not a number of bytes"),
        ("10 megs", "is not a number of bytes"),
        ("MB", "is not a number of bytes"),
        ("-1 MB", "is not a number of bytes"),
        ("1 bit", "is not a number of bytes"),
        ("0.3 B", "'0.3 B' is not a whole number of bytes"),
        ("1.0001 kB", "is not a whole number of bytes"),
        (0.5, "0.5 is not a whole number of bytes"),
        (-1, "can neither be negative"),
        (float("inf"), "nor without end"),
        (True, "a size such as '10 MB' is needed, not True"),
        (None, "a size such as '10 MB' is needed"),
    ],
)
def test_what_is_no_number_of_bytes_is_reported(written: Any, said: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the text is compared)
        byte_count(written)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"type": "freshness", "max": "soon"}, "field 'max': 'soon' is not a length of time"),
        ({"type": "freshness"}, "at least one of min, soft_min, soft_max and max is needed."),
        ({"type": "freshness", "max": "1 h", "soft_max": "1 day"}, "bounds must be ordered"),
        (
            {"type": "row_inserted_count_in_range", "min": 1},
            "field 'window' is missing.",
        ),
        (
            {"type": "row_inserted_count_in_range", "min": 1, "window": "0 days"},
            "field 'window': a length of time of more than 0 is needed.",
        ),
        (
            {"type": "row_inserted_count_in_range", "min": 1, "window": "-1 h"},
            "field 'window': a length of time of more than 0 is needed.",
        ),
        (
            {"type": "row_inserted_count_in_range", "min": "1 day", "window": "1 h"},
            "field 'min': a number is needed, not '1 day'.",
        ),
        ({"type": "file_size_in_range", "max": "big"}, "field 'max': 'big' is not a number of"),
        ({"type": "file_size_in_range"}, "at least one of min"),
        ({"type": "file_size_in_range", "min": "1 GB", "max": "1 MB"}, "bounds must be ordered"),
        (
            {"type": "file_size_in_range", "min": 1, "where": "a > 0"},
            "'where' means nothing here: the rule is not about rows.",
        ),
    ],
)
def test_bad_rules_are_reported(rule: dict[str, Any], said: str) -> None:
    columns = {} if rule["type"] == "file_size_in_range" else {"columns": "a"}
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="o", rules=[{"name": "n", **columns, **rule}])
    [problem] = caught.value.problems
    assert said in problem.message


def test_whatever_way_it_is_written_it_is_the_same_rule() -> None:
    ways: list[Any] = ["1 day", "P1D", "24h", 86_400, 86_400.0, timedelta(days=1)]
    assert len({str(dq.Freshness(columns="a", max=way)) for way in ways}) == 1
    sizes: list[Any] = ["1 MB", "1000 kB", 1_000_000, 1e6]
    assert len({str(dq.FileSizeInRange(max=size)) for size in sizes}) == 1


def test_what_the_rules_demand() -> None:
    rules: list[dq.Rule] = [
        dq.Freshness(columns=["a", "b"], soft_max="90 min", max="1d 12h"),
        dq.Freshness(columns="a", min="-1 min"),
        dq.RowInsertedCountInRange(columns="a", window=90, min=1),
        dq.FileSizeInRange(min="1.5 kB", soft_max=12_345, max="1 GiB"),
    ]
    assert [rule.demand() for rule in rules] == [
        (
            "The age of the newest 'a' and 'b' is at most 1 day 12 hours, "
            "ideally at most 1 hour 30 minutes."
        ),
        "The age of the newest 'a' is at least -1 minute.",
        "The number of rows with 'a' in the last 1 minute 30 seconds is at least 1.",
        "The size of the files is at least 1.5 kB and at most 1 GiB, ideally at most 12,345 bytes.",
    ]
    assert [rule.quality_dimension for rule in rules[1:]] == [
        "timeliness",
        "timeliness",
        "completeness",
    ]
