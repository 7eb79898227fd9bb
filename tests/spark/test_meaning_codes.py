"""The codes of countries, currencies and languages against those that Java knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dq_dagster.metrics.meanings import countries, currencies, iban_lengths, languages, us_states

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def java(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm.java.util  # type: ignore[union-attr]  # noqa: SLF001


def test_countries(java: Any) -> None:
    known = set(java.Locale.getISOCountries())
    assert known == countries.ALPHA_2
    places = {code: java.Locale("", code) for code in known}
    assert {place.getISO3Country() for place in places.values()} == countries.ALPHA_3
    english = {code: place.getDisplayCountry(java.Locale.ENGLISH) for code, place in places.items()}
    listed = {name.replace(" and ", " & ").replace("Saint ", "St. ") for name in countries.NAMES}
    # Java writes some names its own way.
    unlisted = {code for code, name in english.items() if name not in countries.NAMES | listed}
    assert len(unlisted) <= 15, sorted(english[code] for code in unlisted)


def test_currencies(java: Any) -> None:
    withdrawn = {"ANG", "BGN", "CUC", "HRK", "SLL", "ZWL"}
    assert withdrawn <= currencies.CODES
    assert all(len(code) == 3 and code.isupper() for code in currencies.CODES)
    known = {currency.getCurrencyCode() for currency in java.Currency.getAvailableCurrencies()}
    newer = {"SLE", "UYW", "VED", "XAD", "XCG", "ZWG"}
    assert currencies.CODES - newer <= known
    for code in countries.ALPHA_2:
        currency = java.Currency.getInstance(java.Locale("", code))
        assert currency is None or currency.getCurrencyCode() in currencies.CODES


def test_languages(java: Any) -> None:
    known = set(java.Locale.getISOLanguages())
    # Java also keeps the codes that the standard has replaced.
    assert languages.ALPHA_2 - {"bh"} <= known
    assert known - languages.ALPHA_2 <= {"in", "iw", "ji", "sh", "mo", "jw"}
    three = {java.Locale(code).getISO3Language() for code in languages.ALPHA_2 - {"bh"}}
    assert three <= languages.ALPHA_3


def test_the_rest_has_its_shape() -> None:
    assert len(us_states.CODES) == len(us_states.NAMES) == 51
    assert set(iban_lengths.LENGTHS) - {"XK"} <= countries.ALPHA_2
    assert all(15 <= length <= 34 for length in iban_lengths.LENGTHS.values())
