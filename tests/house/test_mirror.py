"""Tests mirror the source: src/niwaki/a/b.py is tested in tests/a/test_b.py."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from house.sources import FILES, SOURCE, TEST_FILES, TESTS, check, text_of, tree_of

WHOLE = {"benchmarks", "contracts", "house", "docs", "hostile", "reliability"}  # tests of the whole
END_TO_END = {"cli", "run"}  # there a test may act as a user does, through the program
# catalogues whose entries are tested together, by contracts over all of them
CONTRACTS = {
    "models/families": "models/test_forward.py",
    "models/parts": "models/test_forward.py",
    "tasks/glue": "tasks/glue/test_glue_tasks.py",
    "evaluate/probes": "evaluate/probes/test_probes.py",
    "evaluate/cloze": "evaluate/cloze/test_cloze.py",
}


@cache
def modules_of(part: str) -> set[str]:
    folder = SOURCE / part
    paths = folder.rglob("*") if folder.is_dir() else [folder.with_suffix(".py")]
    return {path.stem.lstrip("_") for path in paths if path.suffix == ".py" or path.is_dir()}


def without_source(path: Path) -> Iterator[str]:
    part = path.relative_to(TESTS).parts[0].removeprefix("test_").removesuffix(".py")  # a module may be at the top
    if not (SOURCE / part).is_dir() and not (SOURCE / f"{part}.py").is_file():
        yield f"there is no niwaki.{part}"
    if part in END_TO_END and "niwaki" in text_of(path):
        return
    froms = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom)]
    named = {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
    uses = any(f"{name}.".startswith(f"niwaki.{part}.") for name in named)
    if path.stem.removeprefix("test_") not in modules_of(part) and not uses:
        yield f"tests nothing of niwaki.{part}"


def test_test_files_mirror_the_source():
    files = [path for path in TEST_FILES if path.stem.startswith("test_")]
    check([path for path in files if path.relative_to(TESTS).parts[0] not in WHOLE], without_source)


def test_a_test_file_without_source_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("house.test_mirror.TESTS", tmp_path)
    for part in ("answers", "gardens"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "test_bonsai.py").write_text("import niwaki\n")
    assert list(without_source(tmp_path / "answers" / "test_bonsai.py")) == ["tests nothing of niwaki.answers"]
    assert "there is no niwaki.gardens" in list(without_source(tmp_path / "gardens" / "test_bonsai.py"))


@pytest.mark.parametrize("part", sorted(p.name for p in SOURCE.iterdir() if (p / "__init__.py").is_file()))
def test_every_package_has_tests(part):
    assert list((TESTS / part).glob("test_*.py")), f"niwaki.{part} has no tests"


def has_functions(path: Path) -> bool:
    return any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree_of(path)))


def is_tested(module: str) -> bool:
    """Whether a module, such as `core/files.py`, has its test file, or contracts over the whole catalogue."""
    package, _, name = module.rpartition("/")
    if any(f"{package}/".startswith(f"{folder}/") for folder in CONTRACTS):
        return True
    return (TESTS / package / f"test_{name.removesuffix('.py').lstrip('_')}.py").is_file()


def test_every_module_with_functions_has_a_test_file():
    modules = {path: path.relative_to(SOURCE).as_posix() for path in FILES if not path.stem.startswith("__")}
    without = {module for path, module in modules.items() if has_functions(path) and not is_tested(module)}
    assert without == set(), "write a test file with the name of the module"


def test_contracts_exist():
    assert all((TESTS / path).is_file() and (SOURCE / folder).is_dir() for folder, path in CONTRACTS.items())


def test_module_without_a_test_file_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("house.test_mirror.TESTS", tmp_path)
    (tmp_path / "core" / "deep").mkdir(parents=True)
    (tmp_path / "core" / "deep" / "test_files.py").write_text("")
    (tmp_path / "test_describe.py").write_text("")
    assert is_tested("core/deep/files.py") and is_tested("core/deep/_files.py") and is_tested("models/families/bert.py")
    assert is_tested("describe.py") and not is_tested("core/files.py") and not is_tested("data/files.py")
