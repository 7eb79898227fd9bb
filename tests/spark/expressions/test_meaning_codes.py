"""The codes of countries, currencies and languages against those that Java knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dq_dagster.metrics.meanings import codes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def java(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm.java.util  # type: ignore[union-attr]  # noqa: SLF001


def test_countries(java: Any) -> None:
    known = set(java.Locale.getISOCountries())
    assert known == codes.COUNTRY_ALPHA_2
    places = {code: java.Locale("", code) for code in known}
    assert {place.getISO3Country() for place in places.values()} == codes.COUNTRY_ALPHA_3
    english = {code: place.getDisplayCountry(java.Locale.ENGLISH) for code, place in places.items()}
    listed = {
        name.replace(" and ", " & ").replace("Saint ", "St. ") for name in codes.COUNTRY_NAMES
    }
    # Java writes some names its own way.
    unlisted = {code for code, name in english.items() if name not in codes.COUNTRY_NAMES | listed}
    assert len(unlisted) <= 15, sorted(english[code] for code in unlisted)


def test_currencies(java: Any) -> None:
    withdrawn = {"ANG", "BGN", "CUC", "HRK", "SLL", "ZWL"}
    assert withdrawn <= codes.CURRENCY_CODES
    assert all(len(code) == 3 and code.isupper() for code in codes.CURRENCY_CODES)
    known = {currency.getCurrencyCode() for currency in java.Currency.getAvailableCurrencies()}
    newer = {"SLE", "UYW", "VED", "XAD", "XCG", "ZWG"}
    assert codes.CURRENCY_CODES - newer <= known
    for code in codes.COUNTRY_ALPHA_2:
        currency = java.Currency.getInstance(java.Locale("", code))
        assert currency is None or currency.getCurrencyCode() in codes.CURRENCY_CODES


def test_languages(java: Any) -> None:
    known = set(java.Locale.getISOLanguages())
    # Java also keeps the codes that the standard has replaced.
    assert codes.LANGUAGE_ALPHA_2 - {"bh"} <= known
    assert known - codes.LANGUAGE_ALPHA_2 <= {"in", "iw", "ji", "sh", "mo", "jw"}
    three = {java.Locale(code).getISO3Language() for code in codes.LANGUAGE_ALPHA_2 - {"bh"}}
    assert three <= codes.LANGUAGE_ALPHA_3


def test_the_rest_has_its_shape() -> None:
    assert len(codes.US_STATE_CODES) == len(codes.US_STATE_NAMES) == 51
    assert set(codes.IBAN_LENGTHS) - {"XK"} <= codes.COUNTRY_ALPHA_2
    assert all(15 <= length <= 34 for length in codes.IBAN_LENGTHS.values())
