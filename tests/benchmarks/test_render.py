"""The rendered pages are those that `make results` writes from the stored records."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def test_the_results_page_is_rendered_from_the_records(load):
    assert load("render").results() == read("docs/results.md")


def test_the_table_of_the_readme_is_rendered_from_the_records(load):
    assert load("render").with_table(read("README.md")) == read("README.md")


def test_the_table_of_guarantees_is_rendered_from_the_records(load):
    assert load("render_reliability").with_table(read("docs/reliability.md")) == read("docs/reliability.md")


@pytest.mark.parametrize("name", ["slim+lowbit-4", "aware-8", "width-50", "gptq-4"])
def test_retired_method_names_are_translated(load, name):
    expected = {"slim+lowbit-4": "slim+rtn-4", "aware-8": "qat-8", "width-50": "hidden_size-50", "gptq-4": "gptq-4"}
    assert load("method_names").current(name) == expected[name]
