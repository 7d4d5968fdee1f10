"""The folder is the list, and looking imports nothing."""

import subprocess
import sys

import pytest

from niwaki.core.catalog import Catalog, first_doc_line
from niwaki.core.errors import InputError

METHODS = Catalog("niwaki.methods", "method")


def test_looking_does_not_import():
    code = (
        "import sys; from niwaki.core.catalog import Catalog; rows = Catalog('niwaki.methods', 'method').entries();"
        "assert rows and all(row.description for row in rows);"
        "sys.exit(any(name.split('.')[0] in ('torch', 'transformers', 'pydantic') or name.startswith('niwaki.methods') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_entries_are_files_in_order_of_family_and_name():
    rows = METHODS.entries()
    assert [(row.family, row.name) for row in rows] == sorted((row.family, row.name) for row in rows)
    assert [row.name for row in rows] == METHODS.names()
    assert all(set(row.row()) == {"name", "family", "description"} for row in rows)
    assert "_method" not in METHODS.names()


def test_a_new_file_is_there_the_moment_it_exists(tmp_path, monkeypatch):
    (tmp_path / "prune").mkdir()
    monkeypatch.setattr(Catalog, "folder", tmp_path)
    assert METHODS.names() == []
    (tmp_path / "prune" / "magnitude.py").write_text('"""Small weights go.\n\nPaper: x\n"""\n')
    (tmp_path / "prune" / "_hidden.py").write_text("")
    assert [entry.row() for entry in METHODS.entries()] == [
        {"name": "magnitude", "family": "prune", "description": "Small weights go"}
    ]


def test_an_unknown_name_is_rejected_with_the_nearest_one():
    with pytest.raises(InputError, match=r"method 'head' is not known, did you mean 'heads'\?"):
        METHODS.entry("head")
    for name in ("_method", "prune/heads", "../core/files", "os", ""):
        with pytest.raises(InputError, match="is not known"):
            METHODS.module(name)


def test_a_file_without_the_class_and_a_broken_file_are_loud(tmp_path):
    with pytest.raises(TypeError, match="defines no OSError"):
        METHODS.load("heads", OSError)
    (tmp_path / "x.py").write_text("x = 1\n")
    assert first_doc_line(tmp_path / "x.py") == ""
