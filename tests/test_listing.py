"""Catalogues are found by their declarations and listed without importing entries."""

import subprocess
import sys
from pathlib import Path

import pytest

from niwaki.core.errors import UsageError
from niwaki.listing import SOURCE, catalogs, recipes, rows_of


def test_every_folder_of_entries_is_a_catalogue():
    assert {"methods", "tasks", "objectives", "families", "engines", "edits", "mixers", "heads"} <= set(catalogs())
    for plural, catalog in catalogs().items():
        assert catalog.folder.is_dir() and catalog.folder.is_relative_to(SOURCE), plural
        assert catalog.names(), plural


def test_names_are_those_of_the_files():
    names = {row["name"] for row in rows_of("tasks")}
    files = {path.stem for path in Path(SOURCE / "tasks").rglob("*.py") if not path.stem.startswith("_")}
    assert names == files and "classification" in names


def test_rows_have_families_and_descriptions():
    rows = {row["name"]: row for row in rows_of("methods")}
    assert rows["logits"]["family"] == "distill" and rows["int8"]["family"] == "quantize"
    assert all(row["description"] and "\n" not in row["description"] for row in rows.values())


def test_listing_imports_no_entry():
    code = "import sys; from niwaki.listing import rows_of; rows_of('methods'); rows_of('engines'); rows_of('models'); "
    code += "print([name for name in sys.modules if name.startswith('niwaki.methods.') or name in ('torch', 'onnx')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_recipes_are_described_by_their_first_comment():
    found = {row["name"]: row for row in recipes()}
    assert found == {row["name"]: row for row in rows_of("recipes")} and list(found) == sorted(found)
    first = (SOURCE / "recipes" / "rotten_tomatoes.toml").read_text(encoding="utf-8").splitlines()[0]
    assert found["rotten_tomatoes"]["description"] == first.lstrip("# ")


def test_embedded_models_are_listed():
    assert {"name", "family", "description"} == set(rows_of("models")[0])
    assert "minilm" in {row["name"] for row in rows_of("models")}


def test_unknown_kinds_are_named():
    with pytest.raises(UsageError, match=r"^'method' cannot be listed, did you mean 'methods'"):
        rows_of("method")
