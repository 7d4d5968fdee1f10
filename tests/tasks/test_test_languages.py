"""Tables with columns or rows in several languages, and the test sets that are made of them."""

import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.tasks._test_languages import TestLanguages, by_language, of_value


def test_columns_of_each_language_become_its_rows():
    table = pa.table({"a_en": ["x"], "b_en": ["y"], "a_de": ["z"], "b_de": ["w"], "a_fr": ["only one"], "label": [1]})
    found = by_language(table, {"first": "a_", "second": "b_"}, ["label"])
    assert {language: rows.to_pylist() for language, rows in found.items()} == {
        "en": [{"first": "x", "second": "y", "label": 1}],
        "de": [{"first": "z", "second": "w", "label": 1}],
    }


def test_rows_are_grouped_by_value_and_lose_the_column():
    found = of_value(pa.table({"lang": ["en", "de", None, "en"], "n": [0, 1, 2, 3]}), "lang")
    assert {language: rows.to_pydict() for language, rows in found.items()} == {"en": {"n": [0, 3]}, "de": {"n": [1]}}


def test_the_setting_chooses_languages_in_its_order():
    tables = {language: pa.table({"text": [language]}) for language in ("de", "en", "fr", "zh")}
    assert list(TestLanguages().test_sets(tables, "x")) == ["test", "de", "fr", "zh"]
    chosen = TestLanguages(languages=["zh", "en", "de"]).test_sets(tables, "x")
    assert list(chosen) == ["test", "zh", "de"] and chosen["test"] is tables["en"]


def test_an_unknown_language_is_rejected_with_those_that_there_are():
    tables = {language: pa.table({"text": [language]}) for language in ("de", "en")}
    with pytest.raises(
        InputError, match=r"data.languages: x has no test rows in 'dee', did you mean 'de'\?; there is: de, en"
    ):
        TestLanguages(languages=["dee"]).test_sets(tables, "x")
