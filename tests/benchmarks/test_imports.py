"""Benchmarks and examples import only names that exist in niwaki or in other benchmarks."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted([*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "examples").glob("*.py")])


# some scripts import packages of tests, which come first on their path
BENCHMARKS = {script.stem: script for script in SCRIPTS if not (ROOT / "tests" / script.stem).is_dir()}


def imported_names(script: Path) -> list[tuple[str, str]]:
    """(module, name) of every `from module import name`."""
    nodes = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    return [
        (str(node.module), alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    ]


def defined_names(script: Path) -> set[str]:
    """Names that a module binds at its top level, found without running it."""
    names: set[str] = set()
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        else:
            names |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_names_imported_from_niwaki_exist(script):
    for module, name in imported_names(script):
        if module.startswith("niwaki") and not hasattr(importlib.import_module(module), name):
            importlib.import_module(f"{module}.{name}")  # a submodule


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_names_imported_from_other_benchmarks_exist(script):
    for module, name in imported_names(script):
        assert module not in BENCHMARKS or name in defined_names(BENCHMARKS[module]), f"{module} has no {name}"


def test_imports_are_found():
    assert ("niwaki.core.files", "read_json") in imported_names(ROOT / "benchmarks" / "jobs.py")
