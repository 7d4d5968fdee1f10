"""Benchmarks and examples import only names that exist in niwaki or in other benchmarks."""

import ast
import importlib
import importlib.util
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted([*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "examples").glob("*.py")])


# an example may have a benchmark's name; some scripts import packages of tests, which come first on their path
BENCHMARKS = {
    script.stem: script
    for script in SCRIPTS
    if script.parent.name == "benchmarks" and not (ROOT / "tests" / script.stem).is_dir()
}


def imported_names(script: Path) -> list[tuple[str, str]]:
    """(module, name) of every `from module import name`."""
    nodes = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    return [
        (str(node.module), alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    ]


@cache
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


def exists(module: str, name: str) -> bool:
    found = importlib.import_module(module)
    if hasattr(found, name):
        return True
    return hasattr(found, "__path__") and importlib.util.find_spec(f"{module}.{name}") is not None  # a submodule


def test_names_imported_from_niwaki_exist():
    used = {names: script.name for script in SCRIPTS for names in imported_names(script)}
    unknown = [
        f"{script}: {module} has no {name}"
        for (module, name), script in used.items()
        if module.startswith("niwaki") and not exists(module, name)
    ]
    assert not unknown, "\n".join(unknown)
    assert exists("niwaki.core", "files") and not exists("niwaki.core.files", "read_nothing")


def test_names_imported_from_other_benchmarks_exist():
    unknown = [
        f"{script.name}: {module} has no {name}"
        for script in SCRIPTS
        for module, name in imported_names(script)
        if module in BENCHMARKS and name not in defined_names(BENCHMARKS[module])
    ]
    assert not unknown, "\n".join(unknown)


def test_imports_are_found():
    assert ("niwaki.core.files", "read_json") in imported_names(ROOT / "benchmarks" / "jobs.py")
