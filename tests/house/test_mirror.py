"""Tests mirror the source: a reader who knows where the code is knows where its test is."""

import ast
from pathlib import Path

import pytest

import niwaki

SOURCE = Path(niwaki.__file__).parent
TESTS = Path(__file__).parents[1]
WHOLE = {"benchmarks", "contracts", "house", "docs", "hostile", "reliability"}  # tests of the whole
END_TO_END = {"cli", "run"}  # there a test may act as a user does, through the program
FILES = sorted(TESTS.rglob("test_*.py"))


def modules_of(part: str) -> set[str]:
    folder = SOURCE / part
    paths = folder.rglob("*") if folder.is_dir() else [folder.with_suffix(".py")]
    return {path.stem.lstrip("_") for path in paths if path.suffix == ".py" or path.is_dir()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_a_test_file_mirrors_a_source(path):
    part = path.relative_to(TESTS).parts[0]
    if part in WHOLE:
        return
    assert (SOURCE / part).is_dir() or (SOURCE / part.removeprefix("test_")).is_file(), f"there is no niwaki.{part}"
    about = path.stem.removeprefix("test_")
    text = path.read_text(encoding="utf-8")
    froms = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    named = {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
    uses = any(f"{name}.".startswith(f"niwaki.{part}.") for name in named)
    if part in END_TO_END and "niwaki" in text:
        return
    assert about in modules_of(part) or uses, f"{path.name} tests nothing of niwaki.{part}"


@pytest.mark.parametrize("part", sorted(p.name for p in SOURCE.iterdir() if (p / "__init__.py").is_file()))
def test_every_package_has_tests(part):
    assert list((TESTS / part).glob("test_*.py")), f"niwaki.{part} has no tests"
