"""Every partition key has a folder name of its own that is safe everywhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dq_dagster.storage.files import OUTSIDE
from dq_dagster.storage.folders import asset_folder, folder_name

ODD = [
    "",
    ".",
    "..",
    "a/b",
    "a|b",
    "x=y",
    "_x",
    ".x",
    "x.",
    " ",
    "!",
    "!2f",
    "/",
    "%2f",
    "ü",
    "\x00",
]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("2024-01-31", "2024-01-31"),
        ("eu_west-1.b", "eu_west-1.b"),
        ("2024-01-31-00:00", "!2024-01-31-00!3a00"),
        ("red|2024-01-31", "!red!7c2024-01-31"),
        ("..", "!!2e!2e"),
        ("ü", "!!c3!bc"),
        ("", "!"),
    ],
)
def test_names(key: str, name: str) -> None:
    assert folder_name(key) == name


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.one_of(st.text(alphabet="!2f/.-_a", max_size=8), st.text(), st.sampled_from(ODD)))
)
def test_names_are_safe_and_differ(keys: list[str]) -> None:
    distinct = {*keys, *ODD, "a" * 151, "a" * 152, "/" * 400, "/" * 401}
    names = {folder_name(key) for key in distinct}
    assert len(names) == len(distinct)
    assert OUTSIDE not in names
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9!-][A-Za-z0-9!_.-]*", name)
        assert len(name) <= 150
        assert not name.endswith(".")


@pytest.mark.parametrize(
    ("parts", "folder"),
    [
        (["orders"], "orders"),
        (["shop", "orders_2024", "eu.west-1"], "shop/orders_2024/eu.west-1"),
        (["orders", "dq_dataset"], "orders/!dq_dataset"),
        (["orders", "Dq_Dataset"], "orders/!Dq_Dataset"),
        (["orders", "dq_dataset_2"], "orders/dq_dataset_2"),
        (["orders", "dq_partition=a"], "orders/!dq_partition!3da"),
        (["..", ".", ""], "!!2e!2e/!!2e/!"),
        (["a/b", "_x", ".lock"], "!a!2fb/!_x/!!2elock"),
    ],
)
def test_folders_of_assets(parts: list[str], folder: str) -> None:
    assert asset_folder(parts) == folder
