"""Benchmarks and examples import only names that niwaki has."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted([*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "examples").glob("*.py")])


def imported_names(script: Path) -> list[tuple[str, str]]:
    """(module, name) of every `from niwaki… import name`."""
    nodes = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("niwaki")]
    return [(str(node.module), alias.name) for node in froms for alias in node.names]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_imported_names_exist(script):
    for module, name in imported_names(script):
        if not hasattr(importlib.import_module(module), name):
            importlib.import_module(f"{module}.{name}")  # a submodule


def test_imports_are_found():
    assert ("niwaki.core.files", "read_json") in imported_names(ROOT / "benchmarks" / "jobs.py")
