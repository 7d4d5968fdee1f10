"""`niwaki new`: in a copy of the source, every kind is listed, clean and passes its own test."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from niwaki.scaffold.entry import new

ROOT = Path(__file__).parents[2]
ENTRIES = [
    ("method", "soft_penalty", "methods/prune", ["--family", "prune"]),
    ("method", "tensor", "methods/adapt", ["--family", "adapt"]),  # the template itself needs the word Tensor
    ("task", "good_or_bad", "tasks", []),
    ("objective", "noisy", "objectives", []),
    ("family", "ernie", "models/families", []),
    ("engine", "fast", "engines/runtimes", []),
    ("edit", "lose_bias", "models/edits", []),
    ("mixer", "mean_mixer", "models/parts/mixers", []),
    ("feed_forward", "gated_unit", "models/parts/feed_forwards", []),
    ("reduction", "half_text", "models/parts/reductions", []),
    ("head", "wide_head", "models/parts/heads", []),
    ("recipe", "tiny-4", "recipes", []),
]
NAMES = [name for _, name, _, _ in ENTRIES]
LISTED = {
    "method": "methods",
    "task": "tasks",
    "objective": "objectives",
    "family": "families",
    "engine": "engines",
    "edit": "edits",
    "mixer": "mixers",
    "feed_forward": "feed_forwards",
    "reduction": "reductions",
    "head": "heads",
    "recipe": "recipes",
}


WRITE = """
import json, sys
from niwaki.cli._app import run
for words in json.loads(sys.argv[1]):
    assert run(words) == 0, words
    print(end="\\0", flush=True)
"""
LIST = """
import json, sys
from niwaki.listing import rows_of
print(json.dumps({kind: [row["name"] for row in rows_of(kind)] for kind in sys.argv[1:]}))
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source with one new entry of each kind, written by the program."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / "tests").mkdir()
    commands = [["new", kind, name, *more, "--json"] for kind, name, _, more in ENTRIES]
    done = python(root, "-c", WRITE, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    *printed, rest = done.stdout.split("\0")
    assert len(printed) == len(ENTRIES) and not rest
    assert all(Path(path).is_file() for paths in printed for path in json.loads(paths))
    for kind, name, _, _ in ENTRIES:
        new(kind, name, into=root / "own" / "deep")
    return root


@pytest.fixture(scope="module")
def listed(checkout: Path) -> dict[str, list[str]]:
    """The names of each kind in the copy."""
    return json.loads(python(checkout, "-c", LIST, *LISTED.values()).stdout)


def python(root: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src"), "MYPY_CACHE_DIR": str(root / ".mypy_cache")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("kind", "name", "folder", "more"), ENTRIES)
def test_files_are_in_their_folders_and_listed(checkout, listed, kind, name, folder, more):
    suffix = ".toml" if kind == "recipe" else ".py"
    assert (checkout / "src/niwaki" / folder / f"{name}{suffix}").is_file()
    tests = "run/recipes" if kind == "recipe" else folder
    assert (checkout / "tests" / tests / f"test_{name.replace('-', '_')}.py").is_file()
    assert name in listed[LISTED[kind]]


def test_the_generated_tests_pass(checkout):
    """Those of the checkout, and those written with --into."""
    done = python(checkout, "-m", "pytest", "-p", "no:cacheprovider", "tests", "own")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[0].startswith("." * 2 * 21)


def test_generated_files_pass_ruff(checkout):
    new = [
        str(path)
        for path in [*checkout.glob("src/**/*.py"), *checkout.glob("tests/**/*.py")]
        if path.stem.removeprefix("test_").replace("_4", "-4") in NAMES
    ]
    assert len(new) == 2 * len(ENTRIES) - 1  # a recipe is no Python file
    assert python(checkout, "-m", "ruff", "check", *new).returncode == 0
    done = python(checkout, "-m", "ruff", "format", "--check", *new)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_generated_files_pass_mypy(checkout):
    done = python(checkout, "-m", "mypy")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["methd", "x"], 2, "did you mean 'method'"),
        (["method", "x"], 2, "give --family (adapt, combine, convert, distill, factorize, prune, quantize, share)"),
        (["engine", "x", "--family", "prune"], 2, "an engine has no --family"),
        (["method", "x", "--family", "../.."], 3, "is not known"),
        (["method", "../x", "--family", "prune"], 3, "lower-case letters"),
        (["method", "x", "--family", "prune", "--package", "garden"], 2, "leave it out with --package"),
        (["method", "x", "--package", "../x"], 3, "lower-case words"),
        (["engine", "onnx", "--json"], 3, "exists already"),
    ],
)
def test_invalid_arguments_give_one_line(rejected, arguments, code, words):
    assert words in rejected("new", *arguments, code=code)
