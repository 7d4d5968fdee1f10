"""Prediction imports only the core dependencies, and every imported package is declared in pyproject.toml."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import tiny
from house.exported_models import export_models
from house.sources import FILES, ROOT, SOURCE, tree_of
from niwaki.core.extras import EXTRAS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
IMPORT_NAMES = {
    "scikit-learn": "sklearn",
    "pillow": "PIL",
    "nvidia-ml-py": "pynvml",
    "huggingface-hub": "huggingface_hub",
    "protobuf": "google",
    "prometheus-client": "prometheus_client",
}
OPTIONAL = {name for packages in EXTRAS.values() for name in packages}
# what must be importable without an extra; senses read a parquet file, so they need pyarrow
PREDICTION = [
    "niwaki",
    "niwaki.api",
    "niwaki.describe",
    "niwaki.doctor",
    "niwaki.listing",
    "niwaki.engines.cascade",
    "niwaki.engines.predictor",
    "niwaki.engines.stream",
    "niwaki.report",
    "niwaki.meter",
    *(f"niwaki.cli.{path.stem}" for path in (SOURCE / "cli").glob("*.py")),
    *(f"niwaki.engines.runtimes.{path.stem}" for path in (SOURCE / "engines/runtimes").glob("*.py")),
    *(f"niwaki.answers.{path.stem}" for path in (SOURCE / "answers").glob("[a-z]*.py") if path.stem != "senses"),
]


def packages(requirements: list[str]) -> set[str]:
    names = [re.match(r"[\w.-]+", text)[0] for text in requirements]
    return {IMPORT_NAMES.get(name, name) for name in names}


CORE = packages(PROJECT["dependencies"])


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in FILES:
        parts = ("niwaki", *path.relative_to(SOURCE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(tree: ast.Module, inside_functions: bool) -> set[str]:
    """The modules that a source imports, without those for type checkers; the ones imported in functions on request."""
    found: set[str] = set()
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules() else str(node.module) for name in names}
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif inside_functions or not isinstance(node, ast.FunctionDef):
            todo += ast.iter_child_nodes(node)
    return found


def is_external(name: str) -> bool:
    top = name.partition(".")[0]
    return top != "niwaki" and top not in sys.stdlib_module_names


def import_chains(root: str) -> dict[str, str]:
    """Every external package that importing `root` imports, with the modules that lead to it."""
    found: dict[str, str] = {}
    chains, todo = {root: root}, [root]
    while todo:
        module = todo.pop()
        for name in imports(tree_of(modules()[module]), inside_functions=False):
            chain = f"{chains[module]} → {name}"
            if is_external(name):
                found.setdefault(name.partition(".")[0], chain)
            words = name.split(".")
            for above in [".".join(words[:count]) for count in range(1, len(words) + 1)]:
                if above in modules() and above not in chains:
                    chains[above] = chain
                    todo.append(above)
    return found


def test_prediction_imports_core_dependencies_only():
    chains = [import_chains(module.removesuffix(".__init__")) for module in PREDICTION]
    optional = sorted({chain for found in chains for name, chain in found.items() if name not in CORE})
    assert not optional, "\n".join(optional)


def test_import_chains_find_optional_packages():
    assert "pyarrow" in import_chains("niwaki.answers.senses") and "torch" in import_chains("niwaki.models.model")
    assert imports(ast.parse("if TYPE_CHECKING:\n    import torch\ndef f():\n    import onnx"), False) == set()
    assert imports(ast.parse("class A:\n    import torch\ndef f():\n    import onnx"), True) == {"torch", "onnx"}


def test_every_imported_package_is_declared():
    names = {name for path in FILES for name in imports(tree_of(path), True)}
    used = {name.partition(".")[0] for name in names if is_external(name)}
    assert used - CORE - OPTIONAL == set()
    assert CORE - used == set(), "declared, but not imported"


def test_extras_table_names_the_packages_of_pyproject():
    declared = PROJECT["optional-dependencies"]
    for extra, names in EXTRAS.items():
        assert set(names) <= packages(declared[extra]), extra
    assert set(EXTRAS["train"]) == packages(declared["train"])


SCRIPT = """
import sys
for name in {absent}: sys.modules[name] = None
import niwaki
from niwaki.cli._app import run
model = niwaki.load({folder!r}, engine={engine!r})
print(model.predict(["a lovely film"])[0].label)
for source in {sources}:
    assert run(["predict", {folder!r}, "--engine", {engine!r}, "--in", source, "--out", source + ".out", "--quiet"]) == 0
loaded = [name for name in {absent} if sys.modules.get(name)]
assert not loaded, loaded
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return export_models(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize(("model", "engine"), [("float", "onnx"), ("int8", "native"), ("four_bit", "auto")])
def test_prediction_runs_without_optional_packages(folders, tmp_path, model, engine):
    (tmp_path / "rows.csv").write_text("id,text\n1,a lovely film\n2,a dull plot\n")
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "text": "a lovely film"}\n{"id": 2, "text": "a dull plot"}\n')
    sources = [str(tmp_path / name) for name in ("rows.csv", "rows.jsonl")]
    script = SCRIPT.format(absent=sorted(OPTIONAL), folder=str(folders[model]), engine=engine, sources=sources)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] in tiny.LABELS
    assert all(len(Path(f"{source}.out").read_text().splitlines()) == 2 for source in sources)
