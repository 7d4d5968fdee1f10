"""The files that the house rules are checked on, each read and parsed once."""

import ast
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import niwaki

SOURCE = Path(niwaki.__file__).parent
TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
FILES = sorted(SOURCE.rglob("*.py"))
TEST_FILES = sorted(TESTS.rglob("*.py"))


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


@cache
def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def violations(paths: Iterable[Path], rule: Callable[[Path], Iterable[str]]) -> list[str]:
    """Every violation of a rule, with the name of its file."""
    return [f"{path.relative_to(ROOT)}: {problem}" for path in paths for problem in rule(path)]


def check(paths: Iterable[Path], rule: Callable[[Path], Iterable[str]]) -> None:
    """Fail with a line for each violation. One test over all files costs less than one test for each."""
    found = violations(paths, rule)
    assert not found, "\n".join(found)
