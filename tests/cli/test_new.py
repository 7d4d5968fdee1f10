"""`niwaki new`: in a copy of the source, every kind is listed, clean and passes its own test; what cannot be is refused."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from niwaki import scaffold
from niwaki.core.errors import InputError

ROOT = Path(__file__).parents[2]
MADE = [
    ("method", "soft_penalty", "methods/prune", ["--family", "prune"]),
    ("method", "tensor", "methods/adapt", ["--family", "adapt"]),  # the template itself needs the word Tensor
    ("task", "good_or_bad", "tasks", []),
    ("family", "camembert", "models/families", []),
    ("engine", "fast", "engines/runtimes", []),
    ("edit", "lose_bias", "models/edits", []),
    ("recipe", "tiny-4", "recipes", []),
]
NAMES = [name for _, name, _, _ in MADE]
LISTED = {
    "method": "methods",
    "task": "tasks",
    "family": "families",
    "engine": "engines",
    "edit": "edits",
    "recipe": "recipes",
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source with one new plug-in of each kind, made by the program."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / "tests").mkdir()
    for kind, name, _, more in MADE:
        done = python(root, "-c", "from niwaki.cli import main; main()", "new", kind, name, *more, "--json")
        assert done.returncode == 0, done.stderr
        assert all(Path(path).is_file() for path in json.loads(done.stdout))
        scaffold.new(kind, name, *more[1:], into=root / "own" / "deep")
    return root


def python(root: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src"), "MYPY_CACHE_DIR": str(root / ".mypy_cache")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("kind", "name", "folder", "more"), MADE)
def test_files_lie_where_they_belong_and_are_listed(checkout, kind, name, folder, more):
    suffix = ".toml" if kind == "recipe" else ".py"
    assert (checkout / "src/niwaki" / folder / f"{name}{suffix}").is_file()
    tests = "run/recipes" if kind == "recipe" else folder
    assert (checkout / "tests" / tests / f"test_{name.replace('-', '_')}.py").is_file()
    script = f"from niwaki.listing import rows_of; print([row['name'] for row in rows_of('{LISTED[kind]}')])"
    assert f"'{name}'" in python(checkout, "-c", script).stdout


def test_the_generated_tests_pass(checkout):
    """Those of the checkout, and those written into a folder of one's own."""
    done = python(checkout, "-m", "pytest", "-p", "no:cacheprovider", "tests", "own")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[0].startswith("." * 2 * 14)


def test_what_is_generated_is_clean(checkout):
    new = [
        str(path)
        for path in [*checkout.glob("src/**/*.py"), *checkout.glob("tests/**/*.py")]
        if path.stem.removeprefix("test_").replace("_4", "-4") in NAMES
    ]
    assert len(new) == 13
    assert python(checkout, "-m", "ruff", "check", *new).returncode == 0
    done = python(checkout, "-m", "ruff", "format", "--check", *new)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_what_is_generated_is_typed(checkout):
    done = python(checkout, "-m", "mypy")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["methd", "x"], 2, "did you mean 'method'"),
        (["method", "x"], 2, "give --family (adapt, distill, factorize, prune, quantize, share)"),
        (["task", "x", "--family", "prune"], 2, "only a method has a --family"),
        (["method", "x", "--family", "prun"], 3, "did you mean 'prune'"),
        (["method", "x", "--family", "../.."], 3, "is not known"),
        (["method", "int8", "--family", "prune"], 3, "there is one already"),
        (["method", "Name", "--family", "prune"], 3, "small letters"),
        (["method", "a-b", "--family", "prune"], 3, "small letters"),
        (["method", "_hidden", "--family", "prune"], 3, "small letters"),
        (["method", "../x", "--family", "prune"], 3, "small letters"),
        (["method", "naïve", "--family", "prune"], 3, "small letters"),
        (["task", "class", "--json"], 3, "a word of Python's own"),
        (["task", "x" * 41], 3, "at most 40"),
        (["task", ""], 3, "small letters"),
        (["engine", "onnx"], 3, "there is one already"),
        (["recipe", "rotten_tomatoes"], 3, "there is one already"),
        (["recipe", "../x"], 3, "small letters"),
    ],
)
def test_what_cannot_be_is_one_line(refused, arguments, code, words):
    assert words in refused("new", *arguments, code=code)


def test_an_existing_file_is_never_written_over(refused, tmp_path):
    (tmp_path / "test_x.py").write_text("mine")
    assert "is there already" in refused("new", "task", "x", "--into", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test_x.py"]


def test_without_a_checkout_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(scaffold, "PACKAGE", tmp_path / "site-packages" / "niwaki")
    with pytest.raises(InputError, match="clone it, or give --into"):
        scaffold.new("task", "x")


def test_both_files_or_none(monkeypatch, tmp_path):
    real = scaffold.write_text

    def fail_on_the_test(path: Path, text: str) -> None:
        if path.name.startswith("test_"):
            raise OSError(28, "No space left on device", str(path))
        real(path, text)

    monkeypatch.setattr(scaffold, "write_text", fail_on_the_test)
    with pytest.raises(OSError, match="No space"):
        scaffold.new("task", "x", into=tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
