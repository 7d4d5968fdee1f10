"""The rendered pages are those that `make results` writes from the stored records."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def test_rendered_files_match_the_records(load):
    for name, text in load("render").files().items():
        assert text == (ROOT / name).read_text(encoding="utf-8"), f"{name} differs from its records: make results"


def test_every_results_page_has_a_render_module(load):
    rendered = {f"{page.slug}.md" for page in load("render").pages()}
    assert {path.name for path in (ROOT / "docs" / "results").iterdir()} == rendered


def test_every_file_of_records_is_on_a_page(load):
    """replays.jsonl contains raw trials that docs/measuring.md discusses, readme.jsonl belongs to README.md."""
    shown = {section.records for page in load("render").pages() for section in page.sections}
    shown |= {row[2] for row in load("render_reliability").ROWS} | {"readme", "replays"}
    assert {path.stem for path in (ROOT / "benchmarks" / "results").glob("*.jsonl")} <= shown


def test_a_page_without_records_has_no_sections(load, monkeypatch, tmp_path):
    monkeypatch.setattr(load("records"), "FOLDER", tmp_path)
    page = load("results_page")
    section = page.Section("none", "A section", lambda rows: "body")
    assert page.Page("topic", "A topic", "Tasks", lambda: "", (section,)).render().startswith("# A topic\n")
    assert "A section" not in page.Page("topic", "A topic", "Tasks", lambda: "", (section,)).render()


@pytest.mark.parametrize("name", ["slim+lowbit-4", "aware-8", "width-50", "gptq-4"])
def test_retired_method_names_are_translated(load, name):
    expected = {"slim+lowbit-4": "slim+rtn-4", "aware-8": "qat-8", "width-50": "hidden_size-50", "gptq-4": "gptq-4"}
    assert load("method_names").current(name) == expected[name]
